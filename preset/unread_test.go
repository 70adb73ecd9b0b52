package preset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// TestTheUnreadResultFillsWhatFits sends one result that is larger than the window behind a system prompt
// that takes a fixed part of it: what no model has read yet is cut to what fits, not to the target.
func TestTheUnreadResultFillsWhatFits(t *testing.T) {
	const window = 60_000
	lines := func(seed, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d of file %d: setting_%d = %d and no more\n", i, seed, i*seed+7, i*i+seed)
		}
		return b.String()
	}
	for _, name := range []string{preset.Balanced, preset.Frugal, preset.Selective} {
		for _, history := range []int{0, 12, 60} { // what a digest of 60 leaves goes to the unread result, too
			for _, percent := range []int{10, 20, 30, 40, 50, 60} {
				system := strings.Repeat("You are an agent. ", window*percent/100*4/18)
				tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "Read the files."))
				read := func(n, size int) {
					id := fmt.Sprint("t", n)
					tr.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"f%d.txt"}`, n)}}},
						precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: lines(n, size)}}}}})
				}
				for n := range history {
					read(n, 100)
				}
				read(history, 6000)
				conv := &precis.Conversation{System: precis.NewText(precis.RoleSystem, system), Transcript: tr}
				res, err := held(t, name).Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}})
				if err != nil {
					t.Fatalf("%s, %d %%: %v", name, percent, err)
				}
				d := res.Report.Decision
				fit := min(d.Allowed, float64(window)*d.Threshold/100)
				if after := float64(res.Report.After.Tokens); after > d.Allowed || after < .98*fit {
					t.Errorf("%s, %d reads before, a fixed part of %d %%: the view has %.0f tokens, %.0f fit", name, history, percent, after, fit)
				}
				last := res.View[len(res.View)-1]
				shown := strings.Count(last.Content[0].(precis.ToolResult).Text(), "\n")
				t.Logf("%s, %d reads, %d %%: %d lines of 6000, %d of %.0f tokens", name, history, percent, shown, res.Report.After.Tokens, fit)
			}
		}
	}
}

// TestAnAnswerWithManyCallsIsDigested: calls that no window can hold are not kept because they are the second newest thing; they
// become a digest, and nothing is lost without a word.
func TestAnAnswerWithManyCallsIsDigested(t *testing.T) {
	const calls = 3000
	var uses, results []precis.Block
	for i := range calls {
		id := fmt.Sprint("t", i)
		uses = append(uses, precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"src/f%d.go"}`, i)})
		results = append(results, precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "ok"}}})
	}
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "Read all of them."),
		precis.Message{Role: precis.RoleAssistant, Content: uses}, precis.Message{Role: precis.RoleUser, Content: results},
		precis.NewText(precis.RoleAssistant, "Read."), precis.NewText(precis.RoleUser, "And now?"))}
	res, err := held(t, preset.Balanced).Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: 24_000}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Report.Loss != nil || len(res.Edits) == 0 || res.Edits[0].Kind != precis.KindCondensation {
		t.Errorf("%s; gone: %v", res.Report.Outcome, res.Report.Loss)
	}
}

// TestALargeResultLeavesTheDigestItsRoom: a result larger than the window is cut to what fits beside the digest. The digest is
// not made shorter for it: what the result shows more then, of many times as much, is worth less.
func TestALargeResultLeavesTheDigestItsRoom(t *testing.T) {
	const window = 32_000
	tr := precis.NewTranscript()
	read := func(n, lines int) {
		id, text := fmt.Sprint("t", n), new(strings.Builder)
		for i := range lines {
			fmt.Fprintf(text, "func Handler%d_%d(w http.ResponseWriter) error { return serve(w, %d) }\n", n, i, i*i+n)
		}
		tr.Append(precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"src/f%d.go"}`, n)}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: text.String()}}}}})
	}
	for n := range 60 {
		tr.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("Handler%d_4 must call audit%d before it returns; %s", n, n, strings.Repeat("the log of Monday shows why. ", 5))))
		read(n, 80)
		tr.Append(precis.NewText(precis.RoleAssistant, fmt.Sprintf("The cause is in src/f%d.go: Handler%d_4 returns before audit%d is called.", n, n, n)))
	}
	tr.Append(precis.NewText(precis.RoleUser, "Now read the list of all handlers."))
	conv := &precis.Conversation{Transcript: tr}
	digest := func(when string) string {
		res, err := held(t, preset.Frugal).Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: window}})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.View {
			if text := m.PlainText(); strings.HasPrefix(text, "[Digest of ") {
				return text
			}
		}
		t.Fatalf("%s: no digest among %d messages: %s", when, len(res.View), res.Report.Outcome)
		return ""
	}
	before := digest("before")
	read(60, 4000)
	after := digest("with the result")
	if len(after)*10 < len(before)*9 {
		t.Errorf("the digest has %d bytes beside a large result, %d before", len(after), len(before))
	}
}
