package bridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/bridge"
)

const summary = "## Goal\nThe port of the scheduler to the new queue is to be finished.\n## State\nThe worker pool in pool.go is done and its tests pass.\n## Next\nThe lease code in lease.go comes next, then the docs."

func user(text string) precis.Message { return precis.NewText(precis.RoleUser, text) }

func TestFind(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	table := bridge.NewTable(func() time.Time { return now })
	table.Keep(bridge.Answer{Owner: "ann", Conversation: "c1", Messages: 9, Text: "<analysis>\nThe user wants many things, and I have to think about all of them.\n</analysis>\n" + summary})
	table.Keep(bridge.Answer{Owner: "ann", Conversation: "c2", Messages: 4, Text: "Nothing of importance."})
	for name, c := range map[string]struct {
		owner string
		msgs  []precis.Message
		at    int // message; -1: not found
	}{
		"wrapped":          {"ann", []precis.Message{user("Go on.\n" + summary + "\nEnd.")}, 0},
		"indented":         {"ann", []precis.Message{user("Hello there."), user(strings.ReplaceAll(summary, "\n", "\n   "))}, 1},
		"of the assistant": {"ann", []precis.Message{user("What did we do?"), precis.NewText(precis.RoleAssistant, summary)}, 1},
		"of another owner": {"bob", []precis.Message{user(summary)}, -1},
		"a line of it":     {"ann", []precis.Message{user("The worker pool in pool.go is done and its tests pass.\n" + strings.Repeat("Something else altogether stands here.\n", 20))}, -1},
		"nothing of it":    {"ann", []precis.Message{user(strings.Repeat("Something else altogether stands here.\n", 20))}, -1},
		"no messages":      {"ann", nil, -1},
	} {
		at, ok := table.Find(c.owner, c.msgs)
		if ok != (c.at >= 0) || ok && (at.Message != c.at || at.Conversation != "c1" || at.Messages != 9) {
			t.Errorf("%s: %v %+v", name, ok, at.Message)
		}
	}
	now = now.Add(2 * time.Hour)
	if _, ok := table.Find("ann", []precis.Message{user(summary)}); ok {
		t.Error("a summary of two hours ago was found")
	}
}

// The newest answers of an owner stay, however many others there are.
func TestTableIsBounded(t *testing.T) {
	table := bridge.NewTable(nil)
	text := func(n int) string {
		return strings.Repeat(fmt.Sprintf("Line of the answer with the number %d.\n", n), 3) + fmt.Sprintf("What number %d was about is told here, at some length, so that it can be told from all others, which say it differently %d.", n, n)
	}
	big := text(7) + strings.Repeat("x", 2*bridge.MaxText)
	table.Keep(bridge.Answer{Owner: "ann", Conversation: "c0", Text: text(0)})
	for n := range 3000 {
		table.Keep(bridge.Answer{Owner: fmt.Sprint("other", n), Conversation: "c", Text: text(n)})
	}
	for n := range 40 {
		table.Keep(bridge.Answer{Owner: "ann", Conversation: fmt.Sprint("c", n), Text: text(n)})
	}
	for n, want := range map[int]bool{0: false, 20: false, 30: true, 39: true} {
		if at, ok := table.Find("ann", []precis.Message{user(text(n))}); ok != want || ok && at.Conversation != fmt.Sprint("c", n) {
			t.Errorf("answer %d: %v", n, ok)
		}
	}
	for range 300 {
		table.Keep(bridge.Answer{Owner: "eve", Conversation: "c", Text: big})
	}
	if _, ok := table.Find("eve", []precis.Message{user(big[:bridge.MaxText])}); !ok {
		t.Error("the newest is not there")
	}
}

func TestShare(t *testing.T) {
	var msgs []precis.Message
	var flat strings.Builder
	for n := range 10 {
		question := fmt.Sprintf("What is the value of setting number %d?", n)
		result := fmt.Sprintf("1: setting %d of the file is %d\n2: nothing else is in it", n, n*n)
		msgs = append(msgs, user(question), precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: "t", Content: []precis.Block{precis.Text{Text: result}}}}})
		if n < 7 {
			fmt.Fprintf(&flat, "[User]: %s\n[Tool result]: %s\n", question, result)
		}
	}
	if s := bridge.ContainedShare(flat.String(), msgs, -1); s < 0.6 {
		t.Errorf("the text holds %.2f of its own conversation", s)
	}
	other := []precis.Message{user("Write a letter to the landlord."), user("Make it shorter than before, please."), user("Now translate all of it into French.")}
	if s := bridge.ContainedShare(flat.String(), other, -1); s != 0 {
		t.Errorf("it holds %.2f of another", s)
	}
	if s := bridge.ContainedShare(msgs[0].PlainText(), msgs, -1); s != 0 {
		t.Errorf("one line of it is %.2f of it", s)
	}
}

// What is missing names its place in the conversation that it is from; what the new one
// holds anyway is not repeated; and there is never more than the room.
func TestMissing(t *testing.T) {
	old := []bridge.Part{
		{ID: "c11111111", Messages: []precis.Message{user("Port the scheduler. Never touch the file legacy.go."), precis.NewText(precis.RoleAssistant, "ok")}},
		{ID: "c22222222", Messages: []precis.Message{user("ERROR E17: the lease of shard 4 expired. Always run make lint before you commit."), precis.NewText(precis.RoleAssistant, "ok")}},
	}
	lack := bridge.Missing(old, []precis.Message{user(summary)}, bridge.Place{}, 1000)
	for _, want := range []string{"c11111:m0: Never touch the file legacy.go.", "c22222:m0", "Always run make lint"} {
		if !strings.Contains(lack.Text, want) {
			t.Errorf("%q is missing in\n%s", want, lack.Text)
		}
	}
	if again := bridge.Missing(old, []precis.Message{user(summary + lack.Text)}, bridge.Place{}, 1000); again.Text != "" {
		t.Errorf("given twice:\n%s", again.Text)
	}
	for _, room := range []int{0, 1, 60, 100, 200} {
		if lack := bridge.Missing(old, []precis.Message{user(summary)}, bridge.Place{}, room); len(lack.Text) > 4*room+4 {
			t.Errorf("%d tokens are allowed, the text has %d bytes", room, len(lack.Text))
		}
	}
	if lack := bridge.Missing(nil, []precis.Message{user(summary)}, bridge.Place{}, 1000); lack.Text != "" {
		t.Error(lack.Text)
	}
}

func FuzzTable(f *testing.F) {
	f.Add(summary, summary)
	f.Add("a\x00b\n\n", strings.Repeat("line\n", 100))
	f.Fuzz(func(t *testing.T, answer, text string) {
		table := bridge.NewTable(nil)
		table.Keep(bridge.Answer{Owner: "ann", Conversation: "c", Text: answer})
		at, ok := table.Find("ann", []precis.Message{user(text)})
		if ok && (at.Message != 0 || at.Block != 0) {
			t.Error(at)
		}
		if same, ok := table.Find("ann", []precis.Message{user(answer)}); ok && same.Conversation != "c" {
			t.Error(same)
		}
		_ = bridge.ContainedShare(text, []precis.Message{user(answer)}, -1)
	})
}
