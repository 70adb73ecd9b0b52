package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
)

// hooked condenses a long conversation with hooks around every rung.
func hooked(t *testing.T, h policy.Hooks, change func(*policy.Request)) (policy.Result, *precis.Conversation) {
	t.Helper()
	m, err := preset.New(preset.Options{Hooks: h})
	if err != nil {
		t.Fatal(err)
	}
	conv := &precis.Conversation{ID: "c1", Transcript: &precis.Transcript{}}
	conv.Transcript.Append(precis.NewText(precis.RoleUser, "Never touch main.go. Read the files."))
	for n := range 30 {
		conv.Transcript.Append(precis.NewText(precis.RoleAssistant, strings.Repeat(fmt.Sprintf("File %d says what it has to say about itself. ", n), 30)))
		conv.Transcript.Append(precis.NewText(precis.RoleUser, fmt.Sprintf("Go on with file %d, please.", n+1)))
	}
	r := policy.Request{Conversation: conv, Window: window(20_000), TriggeredBy: precis.TriggeredManual, Target: 4000}
	if change != nil {
		change(&r)
	}
	res, err := m.Manage(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res, conv
}

func TestHooksAreCalledAroundEveryRung(t *testing.T) {
	var before, after []string
	res, _ := hooked(t, policy.Hooks{
		Before: func(_ context.Context, e policy.RungEvent) error {
			before = append(before, e.Rung)
			if e.When != "before" || e.Conversation != "c1" || e.TriggeredBy != precis.TriggeredManual || e.Tokens <= e.Target || e.Window != 20_000 || e.Proposal != nil {
				t.Errorf("before: %+v", e)
			}
			return nil
		},
		After: func(_ context.Context, e policy.RungEvent) (string, error) {
			after = append(after, e.Rung)
			if e.When != "after" || e.Proposal == nil || len(e.Proposal.Handles) == 0 {
				t.Errorf("after: %+v", e)
			}
			return "", nil
		},
	}, nil)
	var tried, accepted []string
	for _, s := range res.Report.Steps {
		tried = append(tried, s.Rung)
		if s.Outcome == precis.OutcomeAccepted {
			accepted = append(accepted, s.Rung)
		}
	}
	if !slices.Equal(before, tried) || !slices.Equal(after, accepted) || len(accepted) == 0 {
		t.Errorf("before %v, tried %v; after %v, accepted %v", before, tried, after, accepted)
	}
	before, after = nil, nil
	hooked(t, policy.Hooks{
		Before: func(context.Context, policy.RungEvent) error { t.Error("a dry run calls a hook"); return nil },
	}, func(r *policy.Request) { r.DryRun = true })
}

func TestHooksSayNo(t *testing.T) {
	veto := func(_ context.Context, e policy.RungEvent) error {
		if e.Rung == "digest" {
			return fmt.Errorf("not today: %w", policy.ErrVeto)
		}
		return nil
	}
	for name, h := range map[string]policy.Hooks{
		"before": {Before: veto},
		"after":  {After: func(ctx context.Context, e policy.RungEvent) (string, error) { return "", veto(ctx, e) }},
	} {
		res, _ := hooked(t, h, nil)
		i := slices.IndexFunc(res.Report.Steps, func(s precis.RungResult) bool { return s.Rung == "digest" })
		want := map[string]precis.Outcome{"before": precis.OutcomeSkipped, "after": precis.OutcomeRefused}[name]
		if s := res.Report.Steps[i]; s.Outcome != want || s.Code != policy.ReasonVetoed || !strings.Contains(s.Reason, "not today") {
			t.Errorf("%s: %+v", name, s)
		}
		if len(res.Edits) == 0 || slices.ContainsFunc(res.Edits, func(e precis.Edit) bool { return e.Report.Rung == "digest" }) {
			t.Errorf("%s: the edits are %d, or one of them was vetoed", name, len(res.Edits))
		}
	}
}

func TestHooksEditWhatIsShown(t *testing.T) {
	res, _ := hooked(t, policy.Hooks{After: func(_ context.Context, e policy.RungEvent) (string, error) {
		if !strings.Contains(e.Proposal.Text, "Digest of messages") {
			t.Errorf("the proposal is %+v", e.Proposal)
		}
		return "Thirty files were read.", nil
	}}, nil)
	var text strings.Builder
	for _, m := range res.View {
		fmt.Fprint(&text, m.Content)
	}
	if !strings.Contains(text.String(), "Thirty files were read.") || !strings.Contains(text.String(), "Never touch main.go.") || strings.Contains(text.String(), "Digest of messages") {
		t.Errorf("the view is %.600s", text.String())
	}
}

func TestHooksThatFailAreWarnings(t *testing.T) {
	broken := errors.New("no such program")
	res, _ := hooked(t, policy.Hooks{
		Before: func(context.Context, policy.RungEvent) error { return broken },
		After:  func(context.Context, policy.RungEvent) (string, error) { return "\xff", nil },
	}, nil)
	all := strings.Join(res.Report.Warnings, "\n")
	if len(res.Edits) == 0 || !strings.Contains(all, "no such program") || !strings.Contains(all, "no UTF-8") {
		t.Errorf("%d edits, warnings %q", len(res.Edits), all)
	}
}
