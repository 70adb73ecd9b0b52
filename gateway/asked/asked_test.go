package asked_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/asked"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/tokens"
)

func count(t *testing.T, text string) int {
	t.Helper()
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return measure.New(counter).Block(precis.RoleUser, precis.Text{Text: text})
}

// What the tools cost stands in each request.
func TestDefinitionsAreShort(t *testing.T) {
	const none = `[{"name":"x"}]`
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		size := func(tools ...tool.Tool) int {
			return count(t, string(tool.Offer([]byte(none), dialect, tools))) - count(t, none)
		}
		one, both := size(asked.Tool()), size(asked.Tool(), recall.Tool())
		t.Logf("%s: %d tokens, with recall %d", dialect, one, both)
		if one > 150 || both > 380 {
			t.Errorf("%s: %d tokens, want at most 150; with recall %d, want at most 380", dialect, one, both)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	turns := 12
	o := conversation.Outlook{Percent: 45.67, Room: conversation.Room{TurnsLeft: &turns}}
	r := policy.Report{Before: policy.Size{Tokens: 14_000}, After: policy.Size{Tokens: 9_000}, Outcome: "reduced", Edits: make([]policy.EditSummary, 1),
		Retention: &policy.Retention{Anchors: 100, Kept: 40}}
	for i := range policy.MaxLost {
		r.Retention.Lost = append(r.Retention.Lost, policy.LostAnchor{Text: strings.Repeat("fact\n", 1000), Handle: precis.MessageHandle(i)})
	}
	r.Retention.RulesLost = []policy.LostAnchor{{Text: strings.Repeat("Never write. ", 100), Handle: precis.BlockHandle(7, 0)}}
	got := asked.Done(r, o, recall.Name)
	for _, want := range []string{"Condensed from 14000 to 9000 tokens: 46 % of the window is used, about 12 turns are left. Of 100 facts likely to be needed again 40 are still shown.",
		"- Never write. ", "[m7.b0]", "- fact [m3]", "and 46 more", "can be read by precis_recall."} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("%q is not in %s", want, got.Text)
		}
	}
	if got.Failed || count(t, got.Text) > 300 || strings.Contains(got.Text, "[m4]") {
		t.Errorf("%d tokens: %s", count(t, got.Text), got.Text)
	}

	r.Edits, r.Outcome = nil, "left alone: 14,000 tokens are within the target of 15,000"+strings.Repeat("!", 1000)
	got = asked.Done(r, conversation.Outlook{Percent: 70}, "")
	if got.Failed || len(got.Text) > 500 || !strings.HasPrefix(got.Text, "Nothing was done: 14,000 tokens are within") || !strings.Contains(got.Text, "70 % of the window is used. Go on") {
		t.Errorf("%+v", got)
	}

	got = asked.Failed(fmt.Errorf("wrapped: %w", &precis.Error{Code: precis.CodeConflict, Op: "condense conversation", Hint: "try again later", Err: errors.New(strings.Repeat("x", 5000))}))
	if !got.Failed || len(got.Text) > 600 || !strings.Contains(got.Text, "condense conversation: xxx") {
		t.Errorf("%+v", got)
	}
	if got := asked.Failed(errors.New("secret")); !got.Failed || strings.Contains(got.Text, "secret") {
		t.Errorf("%+v", got)
	}
}

// FuzzReadInput: whatever a model writes, it is read or a problem is named.
func FuzzReadInput(f *testing.F) {
	for _, s := range []string{`{"focus":"words"}`, `{}`, ``, `{"focus":null}`, `{"focus":7}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if in, problem := asked.ReadInput(raw); problem != "" && in.Focus != "" {
			t.Errorf("%+v %q", in, problem)
		}
	})
}
