package policy

import (
	"context"
	"fmt"

	"precis"
)

// oldThinking is the rung that drops the reasoning of all but the newest [Settings.KeepThinking]
// turns. It is climbed before all others if that setting is not 0. Kept messages keep their
// reasoning, and so do items of the Responses API, because calls in it need their reasoning.
type oldThinking struct{}

// Name returns "thinking".
func (oldThinking) Name() string { return "thinking" }

// Propose drops all old reasoning at once.
func (oldThinking) Propose(_ context.Context, s *Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindThinking}
	last := turnsBack(s.Transcript, s.Settings.KeepThinking)
	turns := 0
	s.Original(func(i int, m precis.Message, u precis.Unit) {
		if i >= last || m.Role != precis.RoleAssistant || s.Kept.Message(i) || s.Kept.Pinned(i) {
			return
		}
		if out := reasoningOf(s.Transcript, u); len(out) > 0 {
			e.Replace = append(e.Replace, out...)
			turns++
		}
	})
	e.Report.Reason = "no old reasoning"
	if turns > 0 {
		e.Report.Reason = fmt.Sprintf("the reasoning of %d old turns is left out", turns)
	}
	return e, nil
}

// reasoningOf returns the replacements that drop the reasoning of a unit of one message; nil if the
// message shows only reasoning, or must keep it.
func reasoningOf(t *precis.Transcript, u precis.Unit) (out []precis.Replacement) {
	said := t.At(u.From)
	if said.Format == precis.FormatResponses {
		return nil
	}
	shown, others := map[precis.Fingerprint]bool{}, 0
	for _, b := range u.Messages[0].Content {
		if precis.IsReasoning(b) {
			shown[precis.HashBlock(b)] = true
		} else {
			others++
		}
	}
	if others == 0 {
		return nil
	}
	for i, b := range said.Content {
		if precis.IsReasoning(b) && shown[precis.HashBlock(b)] {
			out = append(out, precis.ReplaceBlock(t, u.From, i, nil))
		}
	}
	return out
}
