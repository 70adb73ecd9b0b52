package conversation

import (
	"context"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
)

// LossReport reports which facts expected to be needed again the view of a conversation keeps and lacks.
type LossReport struct {
	Conversation string           `json:"conversation"`
	Messages     int              `json:"messages"` // of the transcript
	Hidden       int              `json:"hidden"`   // of these, not in the view
	Shortened    int              `json:"shortened"`
	Retention    policy.Retention `json:"retention"`
	// facts likely to be needed again but not in the view; Retention lists the likeliest
	Facts int `json:"facts_lost"`
	// rules of the user that are not in the view word for word
	Rules int `json:"rules_lost"`

	lost []policy.LostAnchor // all facts
}

// Under returns the number of lost facts and lost rules in the messages of a handle. Summed over
// all handles they equal Facts and Rules.
func (l LossReport) Under(h precis.Handle) (facts, rules int) {
	return within(l.lost, h), within(l.Retention.RulesLost, h)
}

// within counts the anchors in the messages of a handle.
func within(list []policy.LostAnchor, h precis.Handle) int {
	n := 0
	for _, a := range list {
		if h.From <= a.Handle.From && a.Handle.From < h.To {
			n++
		}
	}
	return n
}

// Loss reports what the current view keeps and has lost, measured as in the gate.
func Loss(ctx context.Context, h Home, id string) (LossReport, error) {
	return look(ctx, h, id, func(s *Subject) (LossReport, error) { return s.measureLoss(), nil })
}

func (s *Subject) measureLoss() LossReport {
	t, edits := s.Conversation.Transcript, s.Conversation.Edits
	shown := precis.ShownBy(t, edits)
	out := LossReport{Conversation: s.Record.ID, Messages: t.Len()}
	for i := range t.Len() {
		switch StateOf(shown.Message(i)) {
		case Hidden:
			out.Hidden++
		case Shortened:
			out.Shortened++
		}
	}
	situation := policy.Situation{Conversation: s.Conversation, Transcript: t, Edits: edits,
		Units: shown.Units}
	all := digest.Gate{}.AuditAll(&situation)
	out.lost, out.Retention = all.Lost, all.Capped()
	out.Facts, out.Rules = all.FactsLost(), len(all.RulesLost)
	return out
}
