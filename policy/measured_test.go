package policy_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// scaled reports a factor over what is counted, as the published one of a family does.
type scaled float64

func (s scaled) Factor(string) float64    { return float64(s) }
func (s scaled) Observe(string, int, int) {}

// fours is a message of about so many tokens.
func fours(role precis.Role, n int) precis.Message {
	return precis.NewText(role, strings.Repeat("four", n))
}

// What the provider counted is the size, and what was added since or hidden is counted.
func TestTheSizeIsTheProviders(t *testing.T) {
	signed := precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Thinking{Signature: strings.Repeat("QUJD", 4000)}, precis.Text{Text: "Read."}}}
	asked := []precis.Message{fours(precis.RoleUser, 3000), fours(precis.RoleAssistant, 200), fours(precis.RoleUser, 800)}
	for name, c := range map[string]struct {
		msgs       []precis.Message
		tools      string
		said       int
		unrecorded bool // the rest is shown as not recorded
		ignored    bool
	}{
		"more than is recorded":                  {msgs: asked, said: 9000, unrecorded: true},
		"more than is recorded, with the tools":  {msgs: asked, tools: `[{"name":"read"}]`, said: 9000},
		"much more than all that was sent":       {msgs: asked, tools: `[{"name":"read"}]`, said: 90_000, ignored: true},
		"less than words":                        {msgs: asked, said: 3000},
		"less than a third of the words":         {msgs: asked, said: 900, ignored: true},
		"reasoning that was left out":            {msgs: []precis.Message{asked[0], signed, asked[2]}, said: 3900},
		"reasoning that counts less than it may": {msgs: []precis.Message{asked[0], signed, asked[2]}, said: 4600},
		"nothing":                                {msgs: asked, ignored: true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, factor := range []float64{1, 1.2} {
				m := manager(t, policy.Options{Calibrator: scaled(factor)})
				conv := &precis.Conversation{Transcript: precis.NewTranscript(append(c.msgs[:3:3], fours(precis.RoleAssistant, 50), fours(precis.RoleUser, 400))...), Tools: []byte(c.tools)}
				status := func() int {
					st, err := m.Status(policy.Request{Conversation: conv, Window: window(200_000)})
					if err != nil {
						t.Fatal(err)
					}
					return st.Tokens
				}
				plain := status()
				conv.Measured = precis.Measured{Messages: 3, Tokens: c.said}
				got := status()
				if c.ignored {
					if got != plain {
						t.Errorf("%d tokens, want %d as counted", got, plain)
					}
					continue
				}
				// 450 tokens of words were added, by whatever the provider counts a word as
				if added := got - c.said; added < 250 || added > 1100 {
					t.Errorf("factor %g: %d tokens, want %d and 450 words", factor, got, c.said)
				}
				meter := m.NewMeter()
				meter.For(conv)
				if n := meter.Overhead(conv).Unrecorded; (n > 0) != c.unrecorded {
					t.Errorf("factor %g: %d tokens are not recorded", factor, n)
				}
				if _, err := m.Exclude(context.Background(), conv, precis.MessageHandle(0)); err != nil {
					t.Fatal(err)
				}
				if hidden := got - status(); math.Abs(float64(hidden)/3000-float64(got-c.said)/450) > .3 {
					t.Errorf("factor %g: hiding 3000 words takes %d tokens, adding 450 added %d", factor, hidden, got-c.said)
				}
				conv.Transcript = conv.Transcript.Prefix(2)
				conv.Edits = nil
				if meter := m.NewMeter(); meter.Overhead(conv).Unrecorded != 0 || status() > plain {
					t.Errorf("factor %g: the request was later: %d tokens", factor, status())
				}
			}
		})
	}
}

// A target that leaves no room beside what is not recorded is one for the messages.
func TestATargetBelowTheUnrecordedIsForTheMessages(t *testing.T) {
	m := manager(t, policy.Options{})
	conv := &precis.Conversation{
		Transcript: precis.NewTranscript(fours(precis.RoleUser, 2000), fours(precis.RoleAssistant, 2000), fours(precis.RoleUser, 20)),
		Measured:   precis.Measured{Messages: 1, Tokens: 12_000},
	}
	for target, want := range map[policy.Tokens]int{3000: 13_000, 11_000: 11_000} {
		r := policy.Request{Conversation: conv, Window: window(100_000), TriggeredBy: precis.TriggeredManual, DryRun: true, Target: target}
		res, err := m.Manage(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Report.Decision.Target; got < want-50 || got > want+50 || res.Report.Before.Tokens < 14_000 {
			t.Errorf("target %d: %d of %d tokens, want %d", target, got, res.Report.Before.Tokens, want)
		}
	}
}
