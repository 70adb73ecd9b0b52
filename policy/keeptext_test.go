package policy_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// TestResultsThatAreTextAreResults: the newest call stays beside its large result, which a rung can shorten, also where a program
// writes both as text; a long message of a person is none.
func TestResultsThatAreTextAreResults(t *testing.T) {
	long := strings.Repeat("the first line of the file\n", 1500) // 9,000 tokens and more
	call := precis.NewText(precis.RoleAssistant, "Now I write the rest.\n<replace_in_file>\n<path>a.py</path>\n<diff>\n"+long[:20000]+"</diff>\n</replace_in_file>")
	for name, tt := range map[string]struct {
		last precis.Message
		want int
	}{
		"a result":           {precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "[replace_in_file for 'a.py'] Result:"}, precis.Text{Text: "The tool execution failed with the following error:\n<error>\n" + long + "</error>"}}}, 1},
		"a program's words":  {precis.NewText(precis.RoleUser, "<system-reminder>\n"+long+"</system-reminder>"), 4},
		"a person's message": {precis.NewText(precis.RoleUser, "Look at this, please:\n"+long), 4},
	} {
		msgs := []precis.Message{
			precis.NewText(precis.RoleUser, "<task>\nWrite the demo.\n</task>"), precis.NewText(precis.RoleAssistant, "Where?"), precis.NewText(precis.RoleUser, "<user_message>\nin a.py\n</user_message>"),
			call, tt.last,
		}
		if kept := policy.Keep(precis.NewTranscript(msgs...), nil, measure.New(chars4(t)), 4, 1000); kept.Tail != tt.want {
			t.Errorf("%s: the tail begins with message %d, want %d", name, kept.Tail, tt.want)
		}
	}
}

// TestTheTailEndsAtASummary: a summary is not one of the newest messages, however few follow it; a rewound span counts for nothing.
func TestTheTailEndsAtASummary(t *testing.T) {
	var msgs []precis.Message
	for range 10 {
		msgs = append(msgs, precis.NewText(precis.RoleUser, "Next?"), precis.NewText(precis.RoleAssistant, "Done."))
	}
	for name, tt := range map[string]struct {
		edits []precis.Edit
		want  int
	}{
		"no summary":            {nil, 12},
		"two messages follow":   {[]precis.Edit{precistest.Span("a", 2, 18, "m2 to m17 are hidden.")}, 18},
		"the second summary":    {[]precis.Edit{precistest.Span("a", 2, 8, "m2 to m7 are hidden."), precistest.Span("b", 9, 17, "m9 to m16 are hidden.")}, 17},
		"nothing follows":       {[]precis.Edit{precistest.Span("a", 12, 20, "m12 to m19 are hidden.")}, 11},
		"rewound to an earlier": {[]precis.Edit{{ID: "r", Kind: precis.KindRewind, Replace: []precis.Replacement{{From: 10, To: 20}}}}, 2},
	} {
		if kept := policy.Keep(precis.NewTranscript(msgs...), tt.edits, measure.New(chars4(t)), 8, 1); kept.Tail != tt.want {
			t.Errorf("%s: the tail begins with message %d, want %d", name, kept.Tail, tt.want)
		}
	}
}
