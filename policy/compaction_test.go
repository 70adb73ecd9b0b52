package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// What an API has condensed itself is in every view: by single rungs and by all,
// in the middle of random conversations.
func TestCompactionsOfTheAPIStay(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 5
	}
	for _, kind := range []string{"compaction", "compaction_summary", "context_compaction"} {
		for _, only := range append([]string{""}, names(rungs())...) {
			s := policy.DefaultSettings()
			if only != "" {
				s.Rungs = []string{only}
			}
			m := manager(t, policy.Options{Settings: s, Gate: digest.Gate{}})
			for seed := range seeds {
				r := rand.New(rand.NewPCG(uint64(seed), 5))
				var msgs []precis.Message
				for len(msgs) < 40 {
					if len(msgs) > 8 && len(msgs) < 16 {
						raw := json.RawMessage(fmt.Sprintf(`{"type":%q,"encrypted_content":"sealed %d"}`, kind, len(msgs)))
						msgs = append(msgs, precis.Message{Role: precis.RoleAssistant, Content: []precis.Block{precis.Opaque{Type: kind, Raw: raw}, precis.Text{Text: strings.Repeat("Going on. ", 50)}}})
					}
					msgs = append(msgs, suffixed(randomConversation(r), len(msgs))...)
				}
				conv := &precis.Conversation{Transcript: precis.NewTranscript(msgs...)}
				res, err := m.Manage(context.Background(), policy.Request{Conversation: conv, Window: window(4000), MaxOutput: 100, TriggeredBy: precis.TriggeredManual})
				if err != nil && precis.CodeOf(err) != precis.CodeOverBudget {
					t.Fatal(err)
				}
				if said, shown := count(msgs, kind), count(res.View, kind); err == nil && shown != said {
					t.Fatalf("%s, %q, seed %d: %d of %d are shown: %+v", kind, only, seed, shown, said, res.Report.Steps)
				}
			}
		}
	}
}

func count(msgs []precis.Message, kind string) int {
	n := 0
	for _, m := range msgs {
		for _, b := range m.Content {
			if o, ok := b.(precis.Opaque); ok && o.Type == kind {
				n++
			}
		}
	}
	return n
}
