package policy_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
)

// long returns a conversation of n requests with an answer each.
func long(n int) *precis.Conversation {
	tr := &precis.Transcript{}
	for i := range n {
		tr.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("request %d", i)), precis.NewText(precis.RoleAssistant, fmt.Sprintf("answer %d: ", i)+strings.Repeat("words ", 60)))
	}
	tr.Append(precis.NewText(precis.RoleUser, "the end"))
	return &precis.Conversation{Transcript: tr}
}

func do(t *testing.T) func(e precis.Edit, err error) precis.Edit {
	return func(e precis.Edit, err error) precis.Edit {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// TestOrdersAreBoundToTheirPlaces: what a person said of a message stays when the conversation
// goes back to behind that message, whenever it was said; what is about later messages goes, and is
// named.
func TestOrdersAreBoundToTheirPlaces(t *testing.T) {
	ctx := context.Background()
	m := manager(t, policy.Options{})
	conv := long(20)
	pin := do(t)(m.Pin(ctx, conv, precis.MessageHandle(5), precis.MessageHandle(30)))
	late := do(t)(m.Pin(ctx, conv, precis.MessageHandle(31)))
	out := do(t)(m.Exclude(ctx, conv, precis.MessageHandle(8)))
	taken := do(t)(m.Pin(ctx, conv, precis.MessageHandle(12)))
	do(t)(m.Undo(ctx, conv, taken.ID))

	branch, left := precis.BranchedAt(conv, 20)
	if got := precis.Pinned(branch.Edits); !reflect.DeepEqual(got, []precis.Handle{precis.MessageHandle(5)}) {
		t.Errorf("pinned in the branch: %v", got)
	}
	if !reflect.DeepEqual(left, []precis.Handle{precis.MessageHandle(30), precis.MessageHandle(31)}) {
		t.Errorf("left behind: %v", left)
	}
	if len(precis.View(branch.Transcript, branch.Edits)) != 19 {
		t.Errorf("what was excluded is back in the branch")
	}
	for _, e := range branch.Edits {
		if e.Seen != 20 || e.At != branch.Transcript.Fingerprint(20) {
			t.Errorf("%s is bound to message %d", e.Kind, e.Seen)
		}
	}

	e := do(t)(m.Rewind(ctx, conv, 20))
	if notes := strings.Join(e.Report.Notes, "\n"); !strings.Contains(notes, "m30, m31") || strings.Contains(notes, "m5") {
		t.Errorf("notes: %s", notes)
	}
	active := map[string]bool{}
	for _, e := range precis.Active(conv.Edits) {
		active[e.ID] = true
	}
	if !active[pin.ID] || !active[out.ID] || active[late.ID] || active[taken.ID] {
		t.Errorf("in force: %v", active)
	}
	// The pin holds in the next reduction.
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "on"), precis.NewText(precis.RoleAssistant, strings.Repeat("more ", 900)), precis.NewText(precis.RoleUser, "and now?"))
	res, err := m.Manage(ctx, policy.Request{Conversation: conv, Window: window(2600)})
	if err != nil || len(res.Edits) == 0 {
		t.Fatal(err, res.Report.Outcome)
	}
	if text := strings.Join(precistest.Texts(res.View), "\n"); !strings.Contains(text, "answer 2: ") || strings.Contains(text, "request 4") {
		t.Errorf("m5 is pinned and m8 excluded: %.2000s", text)
	}
}

func TestOrdersAboutADigestGoWithIt(t *testing.T) {
	ctx := context.Background()
	m := manager(t, policy.Options{})
	conv := long(30)
	res, err := m.Manage(ctx, policy.Request{Conversation: conv, Window: window(3000)})
	if err != nil || len(res.Edits) == 0 {
		t.Fatal(err)
	}
	hidden := -1
	for _, u := range res.Units {
		if !u.Original() && u.To-u.From > 2 {
			hidden = u.From + 1
		}
	}
	if hidden < 0 {
		t.Fatal("nothing is hidden")
	}
	do(t)(m.Exclude(ctx, conv, precis.MessageHandle(hidden))) // hides all that the digest stands for
	back, left := precis.BranchedAt(conv, conv.Transcript.Len()-2)
	if len(back.Edits) != 0 || len(left) == 0 {
		t.Errorf("an exclusion of a digest that is gone hides %d edits' messages, left %v", len(back.Edits), left)
	}
}

func TestARewindGoesToTheBoundaryOfAPair(t *testing.T) {
	tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "go"),
		precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: "a", Name: "read", Input: []byte("{}")}}},
		precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "a", Content: []precis.Block{precis.Text{Text: "x"}}}}},
		precis.NewText(precis.RoleAssistant, "done"), precis.NewText(precis.RoleUser, "on"))
	for n, want := range map[int]int{1: 1, 2: 1, 3: 3, 4: 4} {
		conv := &precis.Conversation{Transcript: tr}
		e := do(t)(manager(t, policy.Options{}).Rewind(context.Background(), conv, n))
		if got := e.Replace[0].From; got != want {
			t.Errorf("rewound to %d: %d, want %d", n, got, want)
		}
		if said := strings.Contains(e.Report.Reason, "go together"); said != (n != want) {
			t.Errorf("rewound to %d: %s", n, e.Report.Reason)
		}
		if b := precis.Check(precis.View(tr, conv.Edits)); len(b) > 0 {
			t.Errorf("rewound to %d: %v", n, b)
		}
	}
}
