package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
)

// hiding is a rung that hides spans behind texts.
type hiding struct {
	kind  precis.EditKind
	role  precis.Role
	spans [][2]int
}

func (h hiding) Name() string { return "hiding" }

func (h hiding) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: h.kind}
	for i, span := range h.spans {
		e.Replace = append(e.Replace, precis.Replacement{From: span[0], To: span[1], With: []precis.Message{precis.NewText(h.role, fmt.Sprint("summary ", i))}})
	}
	return e, nil
}

// shapeOf writes a view in short: who speaks, and the first words.
func shapeOf(view []precis.Message) string {
	var out []string
	for _, m := range view {
		text := string(anthropic.AppendMessage(nil, m))
		for _, word := range []string{"summary 0", "summary 1", "RULE", "LATER", "tool_addition", "system-reminder", "effort"} {
			if strings.Contains(text, word) {
				out = append(out, string(m.Role)+":"+word)
			}
		}
		if n := len(out); n == 0 || !strings.HasPrefix(out[n-1], string(m.Role)+":") {
			out = append(out, string(m.Role))
		}
	}
	return strings.Join(out, " ")
}

func TestSystemMessagesAreCarriedToWhereTheAPITakesThem(t *testing.T) {
	long := `"` + strings.Repeat("much is said here ", 400) + `"`
	const (
		user      = `{"role":"user","content":"please"}`
		assistant = `{"role":"assistant","content":"done"}`
		rule      = `{"role":"system","content":"RULE one"}`
		later     = `{"role":"system","content":[{"type":"text","text":"LATER two"}]}`
		tool      = `{"role":"system","content":[{"type":"tool_addition","tool":{"name":"x"}}]}`
		effort    = `{"role":"system","content":[],"output_config":{"effort":"max"}}`
	)
	talk := `{"role":"user","content":` + long + `}`
	answer := `{"role":"assistant","content":` + long + `}`
	for _, tt := range []struct {
		name  string
		msgs  []string
		spans [][2]int
		role  precis.Role
		want  string
	}{
		{"an answer follows", []string{user, assistant, talk, rule, answer, user, assistant, user}, [][2]int{{2, 4}}, "user",
			"user assistant user:summary 0 system:RULE assistant user assistant user"},
		{"the user follows: the last answer stays", []string{user, assistant, talk, rule, assistant, user, assistant, user}, [][2]int{{2, 5}}, "user",
			"user assistant user:summary 0 system:RULE assistant user assistant user"},
		{"the user follows, and the last answer is long: words", []string{user, assistant, talk, rule, answer, user, assistant, user}, [][2]int{{2, 5}}, "user",
			"user assistant user:summary 0 user:RULE user:system-reminder assistant user"},
		{"the user follows, and a tool is defined: any answer stays", []string{user, assistant, talk, tool, answer, user, assistant, user}, [][2]int{{2, 5}}, "user",
			"user assistant user:summary 0 system:tool_addition assistant user assistant user"},
		{"several become one", []string{user, assistant, talk, rule, answer, user, later, answer, user, effort, assistant, user}, [][2]int{{2, 10}}, "user",
			"user assistant user:summary 0 system:RULE system:LATER system:effort assistant user"},
		{"one stands before the span", []string{user, rule, assistant, user, later, answer, talk, assistant, user}, [][2]int{{5, 7}}, "user",
			"user system:RULE assistant user user:summary 0 system:LATER assistant user"},
		{"the summary is the assistant's", []string{user, assistant, talk, rule, answer, user, assistant, user}, [][2]int{{1, 5}}, "assistant",
			"user system:RULE assistant:summary 0 user assistant user"},
		{"two spans", []string{user, assistant, talk, rule, answer, user, later, answer, user, assistant, user}, [][2]int{{2, 4}, {5, 7}}, "user",
			"user assistant user:summary 0 system:RULE assistant user:summary 1 system:LATER assistant user assistant user"},
	} {
		msgs, err := anthropic.DecodeMessages([]byte("[" + strings.Join(tt.msgs, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if b := precis.CheckPlacement(msgs); len(b) > 0 {
			t.Fatal(tt.name, b)
		}
		conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
		settings := policy.DefaultSettings()
		settings.KeepMessages, settings.KeepShare = 1, 0
		m := manager(t, policy.Options{Settings: settings, Strategies: []policy.Strategy{hiding{precis.KindCondensation, tt.role, tt.spans}}})
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(8000), TriggeredBy: precis.TriggeredManual, Target: 1000, Dialect: anthropic.Dialect{}})
		if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
			t.Fatal(tt.name, err)
		}
		if len(res.Edits) == 0 {
			t.Errorf("%s: %+v", tt.name, res.Report.Steps)
			continue
		}
		if got := shapeOf(res.View); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if b := (anthropic.Dialect{}).Check(res.View); len(b) > 0 {
			t.Errorf("%s: %v", tt.name, b)
		}
		twice := precis.View(conv.Transcript, conv.Edits)
		if err == nil && shapeOf(twice) != tt.want {
			t.Errorf("%s: recorded as %s", tt.name, shapeOf(twice))
		}
	}
}
