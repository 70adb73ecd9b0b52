package launch_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/launch"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
)

func TestTally(t *testing.T) {
	var tally launch.Tally
	if got := tally.Summary(&console.Words{}); got != "" {
		t.Errorf("nothing passed: %q", got)
	}
	report := func(said, sent int) *policy.Report {
		return &policy.Report{Unreduced: said, After: policy.Size{Tokens: sent}, Decision: policy.Decision{Allowed: 100}}
	}
	ctx := t.Context()
	tally.Turn(ctx, gateway.Turn{Conversation: "a", Status: 200, Report: report(80, 80), CostUSD: 0.5})
	tally.Turn(ctx, gateway.Turn{Conversation: "a", Status: 200, Report: report(1200, 90)})
	tally.Turn(ctx, gateway.Turn{Conversation: "b", Status: 500})
	tally.Report(ctx, policy.Report{})
	tally.Report(ctx, policy.Report{Edits: []policy.EditSummary{{}, {}}})
	got := tally.Summary(&console.Words{})
	for _, want := range []string{"3 requests in 2 conversations, 1 failed", "sent 1,280 tokens, 170 were forwarded (87 % less)", "1 condensation, 1 overflow avoided", "cost $0.5000"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", got, want)
		}
	}
}
