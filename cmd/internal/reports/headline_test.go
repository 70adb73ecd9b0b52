package reports

import (
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/policy"
)

// A run that missed its target or lost what the user said does not look like success.
func TestHeadlines(t *testing.T) {
	reduced := policy.Report{
		Before: policy.Size{Tokens: 50_000}, After: policy.Size{Tokens: 4_000}, Decision: policy.Decision{Window: precis.Window{Tokens: 8_000}, Target: 4_000},
		Edits:     []policy.EditSummary{{Kind: precis.KindDedupe}, {Kind: precis.KindPruning}, {Kind: precis.KindCondensation, Rung: "digest"}},
		Retention: &policy.Retention{Anchors: 9, Kept: 9, Rules: 3},
	}
	const means = ", by a digest, previews of old results and pointers to copies"
	missed, lost := reduced, reduced
	missed.After.Tokens = 5_000
	lost.Retention = &policy.Retention{Anchors: 9, Kept: 2, Rules: 3, RulesLost: []policy.LostAnchor{{Text: "Never touch main.go.", Handle: precis.MessageHandle(4)}}}
	for _, tt := range []struct {
		name              string
		o                 outcome
		style, text, loss string
	}{
		{"done", outcome{report: reduced}, "title", "reduced from 50,000 to 4,000 tokens, 50 % of the window of 8,000" + means, ""},
		{"missed", outcome{report: missed}, "warn", "reduced from 50,000 to 5,000 tokens, 62 % of the window of 8,000" + means + "; warning: the target of 4,000 was missed", ""},
		{"a rule", outcome{report: lost}, "bad", "reduced from 50,000 to 4,000 tokens, 50 % of the window of 8,000" + means + "; warning: 1 of 3 rules of the user lost", "7 facts; 1 rule of the user, m4: Never touch main.go."},
		{"the last message", outcome{report: reduced, cut: precis.MessageHandle(7), isCut: true}, "bad", "reduced from 50,000 to 4,000 tokens, 50 % of the window of 8,000" + means + "; warning: the user's last message (m7) is cut", ""},
		{"nothing", outcome{report: policy.Report{Outcome: "nothing to do: 5 % of the window is used"}}, "title", "nothing to do: 5 % of the window is used", ""},
	} {
		if style, text := tt.o.headline(new(console.Words)); style != tt.style || text != tt.text || lossText(new(console.Words), tt.o.report.Retention) != tt.loss {
			t.Errorf("%s: %s: %s (lost: %s)", tt.name, style, text, lossText(new(console.Words), tt.o.report.Retention))
		}
	}
}
