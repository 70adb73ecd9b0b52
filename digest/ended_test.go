package digest_test

import (
	"strings"
	"testing"

	"precis"
	"precis/digest"
)

// TestRulesThatEnded: a rule that the user replaced or took back, or set for one turn, is not
// told as one that holds, and where its words are quoted they say so.
func TestRulesThatEnded(t *testing.T) {
	user := func(s string) precis.Message { return precis.NewText(precis.RoleUser, s) }
	model := func(s string) precis.Message { return precis.NewText(precis.RoleAssistant, s) }
	msgs := []precis.Message{
		user("Indent with tabs in this repository. Never touch the file gen.go. Just this once, don't run the linter."), model("All right."),
		user("Look at part 1."), model("Part 1 is fine."),
		user("Use four spaces for indentation instead of tabs. And you may touch gen.go now."), model("I will."),
		user("Every reply ends with the word OVER."), model("OVER."), user("And now?"),
	}
	text := digested(t, 2000, msgs...)
	lacks(t, "requests", section(text, "The user's requests"), "Indent with tabs in this repository. [replaced at m4] Never touch the file gen.go. [taken back at m4] Just this once, don't run the linter.")
	if rules := section(text, "Rules the user set"); strings.Contains(rules, "tabs in this repository") || strings.Contains(rules, "linter") {
		t.Errorf("told as rules that hold: %s", rules)
	}
	lacks(t, "older summary", summarize(t, digest.Writer{}, precis.SummaryRequest{Messages: msgs, MaxTokens: 2000, Previous: "The user said: Indent with tabs in this repository."}), `- m0: "Indent with tabs in this repository." was replaced at m4`)
	st := stateOf(msgs)
	got := []string{}
	for _, r := range st.Rules {
		line := r.Standing + " " + r.Text
		if r.Until != nil {
			line = r.Until.String() + " " + line
		}
		got = append(got, strings.TrimSpace(line))
	}
	want := "m4 replaced Indent with tabs in this repository.|m4 revoked Never touch the file gen.go.|Use four spaces for indentation instead of tabs.|Every reply ends with the word OVER."
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
}
