package conformance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/workstate"
)

// TestLaw grows recordings and streams in five rounds through windows of several sizes. After
// each round that hides something the view shows what holds: each plan, skill and job as it
// came, or its words. Where a last resort leaves one out, its report says so. A sample of the pairs of source, policy
// and window runs.
func TestLaw(t *testing.T) {
	sources := authorSources(t)
	runs, n := sample.OneIn(t, 1, 15), 0
	for p, name := range []string{preset.Balanced, preset.Roo} {
		windows := [][]int{{16_000, 32_000, 64_000, 128_000}, {16_000, 48_000}}[p]
		m := newManager(t, name)
		for _, key := range slices.Sorted(maps.Keys(sources)) {
			for _, window := range windows {
				if n++; !runs(n) && len(sources) > 10 {
					continue
				}
				t.Run(name+"/"+key, func(t *testing.T) {
					t.Parallel()
					l := law{t: t, window: window}
					l.rounds(m, sources[key])
					t.Logf("%d tokens: %d rounds, %d things that hold, %d named, %d missing", window, l.reduced, l.items, l.named, l.missing)
				})
			}
		}
	}
}

type law struct {
	t                              *testing.T
	window                         int
	reduced, items, named, missing int
}

const lawRounds = 5

func (l *law) rounds(m *policy.Manager, whole *precis.Conversation) {
	msgs := whole.Transcript.Messages()
	conv := &precis.Conversation{System: whole.System, Transcript: precis.NewTranscript()}
	for round := range lawRounds {
		to := len(msgs) * (round + 3) / (lawRounds + 2)
		for to < len(msgs) && (msgs[to-1].Role != precis.RoleUser || msgs[to].Role != precis.RoleAssistant) {
			to++
		}
		conv.Transcript.Append(msgs[conv.Transcript.Len():to]...)
		res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: precis.Window{Tokens: l.window}})
		if err != nil {
			if precis.CodeOf(err) == precis.CodeOverBudget {
				continue // one message is larger than the window
			}
			l.t.Fatal(err)
		}
		if len(res.Edits) > 0 {
			l.reduced++
			l.check(conv, res.View, round)
		}
	}
}

func (l *law) check(conv *precis.Conversation, view []precis.Message, round int) {
	shown := map[precis.Fingerprint]bool{}
	var words strings.Builder
	for _, msg := range view {
		for _, b := range msg.Content {
			shown[precis.HashBlock(b)] = true
			switch b := b.(type) {
			case precis.Text:
				words.WriteString(b.Text + "\n")
			case precis.ToolResult:
				words.WriteString(b.Text() + "\n")
			case precis.ToolUse:
				words.Write(b.Input)
			}
		}
	}
	said := strings.Join(strings.Fields(words.String()), " ")
	for _, h := range workstate.Of(conv).Held() {
		l.items++
		if !slices.ContainsFunc(h.At, func(at precis.Handle) bool {
			return !shown[precis.HashBlock(conv.Transcript.At(at.From).Content[at.Block])]
		}) {
			continue
		}
		for _, text := range h.Required {
			if !strings.Contains(said, strings.Join(strings.Fields(text), " ")) {
				if slices.ContainsFunc(conv.Edits, func(e precis.Edit) bool {
					return slices.Contains(e.Report.Notes, "what holds and is not said: "+h.Name)
				}) {
					l.named++ // a last resort that says so
					break
				}
				l.missing++
				l.t.Errorf("window %d, round %d: %s at %v: not said: %s", l.window, round, h.Key, h.At, text)
				break
			}
		}
	}
}
