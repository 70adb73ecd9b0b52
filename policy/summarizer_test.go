package policy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/policy"
)

// reading is a conversation of n calls with results of about 500 tokens each.
func reading(n int) *precis.Conversation {
	msgs := []precis.Message{precis.NewText(precis.RoleUser, "read everything")}
	for i := range n {
		id := fmt.Sprint("c", i)
		msgs = append(msgs,
			precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.ToolUse{ID: id, Name: "Read", Input: []byte(fmt.Sprintf(`{"path":"f%d"}`, i))}}},
			precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: strings.Repeat(fmt.Sprintf("secretline %d\n", i), 150)}}}}})
	}
	return &precis.Conversation{ID: "c", Transcript: precis.NewTranscript(msgs...)}
}

// TestForcedReductionsGetSmaller plays a provider that counts more than we do:
// each refusal must lead to a really smaller view, and the third is the last.
func TestForcedReductionsGetSmaller(t *testing.T) {
	m := manager(t, policy.Options{})
	conv := reading(20) // about 10,000 tokens of a window of 20,000: by our count it fits
	used := 0
	for retry := range policy.MaxForced {
		res, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(20_000), TriggeredBy: precis.TriggeredForced, Retry: retry})
		if err != nil {
			t.Fatal(err)
		}
		before, after := res.Report.Before.Tokens, res.Report.After.Tokens
		if after > before*75/100 || after > 15_000 {
			t.Errorf("refusal %d: %d tokens became %d", retry, before, after)
		}
		if used != 0 && after >= used {
			t.Errorf("refusal %d: %d tokens after %d", retry, after, used)
		}
		used = after
	}
	_, err := m.Manage(t.Context(), policy.Request{Conversation: conv, Window: window(20_000), TriggeredBy: precis.TriggeredForced, Retry: policy.MaxForced})
	if precis.CodeOf(err) != precis.CodeOverBudget {
		t.Errorf("a fourth refusal: %v", err)
	}
}

func TestForcedReductionRespectsTheWindow(t *testing.T) {
	conv := reading(60)
	res, err := manager(t, policy.Options{}).Manage(t.Context(), policy.Request{Conversation: conv, Window: window(20_000), TriggeredBy: precis.TriggeredForced})
	if err != nil || res.Report.After.Tokens > 15_000 {
		t.Errorf("%d tokens, %v", res.Report.After.Tokens, err)
	}
}

func TestBackgroundReductionIsBookedAsOne(t *testing.T) {
	conv := reading(30) // 75 % is not reached
	res, err := manager(t, policy.Options{}).Manage(t.Context(), policy.Request{Conversation: conv, Window: window(24_000), TriggeredBy: precis.TriggeredBackground})
	if err != nil || len(res.Edits) == 0 || res.Report.TriggeredBy != precis.TriggeredBackground || res.Edits[0].Report.Trigger != "background" {
		t.Fatalf("%+v, %v", res.Report, err)
	}
	if why, reached := (policy.Cap{Turns: 10, Max: 1}).Reached(conv.Transcript, conv.Edits, 0.2); !reached {
		t.Errorf("the cap does not count it: %q", why)
	}
}

// paid is a rung whose model call fails and costs.
type paid struct{ err error }

func (paid) Name() string          { return "condense" }
func (paid) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (p paid) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	return precis.Edit{}, p.err
}

func TestFailedCallsAreReportedBookedAndLogged(t *testing.T) {
	var log bytes.Buffer
	var reports []policy.Report
	failed := &policy.RungError{Reason: condense.ReasonRefused, Call: &precis.CallReport{Model: "m", Calls: 2, CostUSD: 0.25}, Err: errors.New("it would not")}
	m := manager(t, policy.Options{
		Strategies: append([]policy.Strategy{paid{failed}}, rungs()...), Logger: slog.New(slog.NewTextHandler(&log, nil)),
		OnReport: func(_ context.Context, r policy.Report) { reports = append(reports, r) },
	})
	res, err := m.Manage(t.Context(), policy.Request{Conversation: reading(60), Window: window(20_000)})
	if err != nil {
		t.Fatal(err)
	}
	s := res.Report.Steps[0]
	if s.Outcome != precis.OutcomeFailed || s.Code != condense.ReasonRefused || s.Call == nil || res.Report.CostUSD() != 0.25 || len(reports) != 1 {
		t.Errorf("%+v, %d reports", s, len(reports))
	}
	text := log.String()
	for _, want := range []string{`msg="rung failed"`, "code=refused", "cost_usd=0.25", `msg="view reduced"`, "kind=", "trigger=automatic", "took="} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if strings.Contains(text, "secretline") {
		t.Error("the log holds content")
	}
}

// The sum of two requests has all that either used.
func TestUsageAdds(t *testing.T) {
	var one, sum precis.Usage
	number := func(f reflect.Value) float64 {
		if f.CanInt() {
			return float64(f.Int())
		}
		return f.Float()
	}
	for f, v := range reflect.ValueOf(&one).Elem().Fields() {
		switch {
		case v.CanInt():
			v.SetInt(int64(len(f.Name)))
		case v.CanFloat():
			v.SetFloat(float64(len(f.Name)))
		}
	}
	sum.Add(one)
	sum.Add(one)
	for f, v := range reflect.ValueOf(sum).Fields() {
		if v.Kind() != reflect.String && number(v) != float64(2*len(f.Name)) {
			t.Errorf("%s is %v", f.Name, v)
		}
	}
}
