package policy_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/policy"
)

// TestPinsByRule reduces random conversations by single rungs and by all: blocks
// that match stay, as long as all of them fit.
func TestPinsByRule(t *testing.T) {
	pattern := regexp.MustCompile(`KEEP\d+`)
	seeds := 60
	if testing.Short() {
		seeds = 12
	}
	for _, only := range append([]string{""}, names(rungs())...) {
		s := policy.DefaultSettings()
		s.Pin = pattern.String()
		if only != "" {
			s.Rungs = []string{only}
		}
		m := manager(t, policy.Options{Settings: s, Gate: digest.Gate{}})
		reduced := 0
		for seed := range seeds {
			r := rand.New(rand.NewPCG(uint64(seed), 11))
			var msgs []precis.Message
			for len(msgs) < 40 {
				msgs = append(msgs, suffixed(randomConversation(r), len(msgs))...)
			}
			marked := map[precis.Fingerprint]bool{}
			for i := 3; i < len(msgs); i += 11 {
				marked[mark(msgs, i)] = true
			}
			conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
			res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(4000), MaxOutput: 100, TriggeredBy: precis.TriggeredManual})
			if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
				t.Fatal(err)
			}
			reduced += len(res.Edits)
			cut := slices.ContainsFunc(res.Edits, func(e precis.Edit) bool { return strings.Contains(strings.Join(e.Report.Notes, " "), "pinned") })
			for _, msg := range res.View {
				for _, b := range msg.Content {
					delete(marked, precis.HashBlock(b))
				}
			}
			if len(marked) > 0 && !cut {
				t.Fatalf("%q, seed %d: %d pinned blocks are gone: %+v", only, seed, len(marked), res.Report.Steps)
			}
		}
		if reduced == 0 && only != "media" && only != "squeeze" {
			t.Errorf("%q reduced nothing", only)
		}
	}
}

// Messages that are pinned after they were hidden come back with the next reduction,
// which still comes down to its target; what a rewind hides does not. Without a gate no
// reduction is tried from the originals.
func TestPinsOfHiddenMessagesComeBack(t *testing.T) {
	pinHidden(t, manager(t, policy.Options{Gate: digest.Gate{}}))
	pinHidden(t, manager(t, policy.Options{}))
}

func pinHidden(t *testing.T, m *policy.Manager) {
	t.Helper()
	var msgs []precis.Message
	for i := range 120 {
		msgs = append(msgs, precis.NewText([]precis.Role{"user", "assistant"}[i%2], fmt.Sprintf("note %d says: ", i)+strings.Repeat("abcd ", 40)))
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
	if _, err := m.Rewind(t.Context(), conv, 118); err != nil {
		t.Fatal(err)
	}
	req := policy.Request{Conversation: conv, Window: window(6000), MaxOutput: 100, TriggeredBy: precis.TriggeredManual}
	if _, err := m.Manage(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if precis.ShownBy(conv.Transcript, conv.Edits).Message(21).Unit.Original() {
		t.Fatal("too little is hidden")
	}
	if _, err := m.Pin(t.Context(), conv, precis.MessageHandle(8), precis.BlockHandle(21, 0), precis.MessageHandle(3), precis.MessageHandle(119)); err != nil {
		t.Fatal(err)
	}
	req.Window = window(4000)
	res, err := m.Manage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	shown := precis.ShownBy(conv.Transcript, conv.Edits)
	for i, want := range map[int]bool{3: true, 8: true, 21: true, 119: false} {
		if got := shown.Message(i).Unit.Original(); got != want {
			t.Errorf("message %d is shown: %v, want %v\n%+v", i, got, want, res.Report.Steps)
		}
	}
	if n := res.Report.After.Tokens; n > 2000 || n < 1000 {
		t.Errorf("%d tokens are left of a target of 2000\n%+v", n, res.Report.Steps)
	}
}

func names(rungs []policy.Strategy) []string {
	var out []string
	for _, r := range rungs {
		out = append(out, r.Name())
	}
	return out
}

// suffixed gives calls identifiers that no earlier part of the conversation has.
func suffixed(msgs []precis.Message, n int) []precis.Message {
	for _, m := range msgs {
		for i, b := range m.Content {
			switch b := b.(type) {
			case precis.ToolUse:
				b.ID += fmt.Sprint("-", n)
				m.Content[i] = b
			case precis.ToolResult:
				b.ToolUseID += fmt.Sprint("-", n)
				m.Content[i] = b
			}
		}
	}
	return msgs
}

// mark writes what is to be pinned into the last block of message i and returns
// the block's hash.
func mark(msgs []precis.Message, i int) precis.Fingerprint {
	at := len(msgs[i].Content) - 1
	word := fmt.Sprintf("KEEP%d", i)
	switch b := msgs[i].Content[at].(type) {
	case precis.Text:
		msgs[i].Content[at] = precis.Text{Text: b.Text + word}
	case precis.ToolUse:
		b.Input = []byte(strings.Replace(string(b.Input), "{", `{"note":"`+word+`",`, 1))
		msgs[i].Content[at] = b
	case precis.ToolResult:
		b.Content = []precis.Block{precis.Text{Text: b.Text() + word}}
		msgs[i].Content[at] = b
	}
	return precis.HashBlock(msgs[i].Content[at])
}

// TestAPinOfWhatIsHiddenIsDueAtOnce: the next pass, asked for or not, shows it again, however full the
// view is, and is not due again.
func TestAPinOfWhatIsHiddenIsDueAtOnce(t *testing.T) {
	for _, manual := range []bool{false, true} {
		m := manager(t, policy.Options{})
		conv := long(30)
		if _, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(3000)}); err != nil {
			t.Fatal(err)
		}
		request := policy.Request{Conversation: conv, Window: window(3000), TriggeredBy: map[bool]precis.TriggeredBy{true: precis.TriggeredManual}[manual]}
		if res, err := m.Manage(context.Background(), request); err != nil || len(res.Edits) > 0 {
			t.Fatalf("%v: %s, %v", manual, res.Report.Outcome, err)
		}
		if look := precis.ShownBy(conv.Transcript, conv.Edits).Message(9); !look.Hidden {
			t.Fatal("m9 is to be hidden")
		}
		if _, err := m.Pin(context.Background(), conv, precis.MessageHandle(9)); err != nil {
			t.Fatal(err)
		}
		res, err := m.Manage(context.Background(), request)
		if err != nil || !strings.Contains(strings.Join(precistest.Texts(res.View), "\n"), "answer 4: ") {
			t.Errorf("%v: the pinned message stays hidden: %s, %v", manual, res.Report.Outcome, err)
		}
		if res, err := m.Manage(context.Background(), request); err != nil || len(res.Edits) > 0 {
			t.Errorf("%v: due again: %s, %v", manual, res.Report.Outcome, err)
		}
	}
}
