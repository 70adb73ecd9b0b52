package precis

import (
	"context"
	"fmt"
)

// oldThinking is the rung that leaves out the reasoning of all but the newest turns. It is
// climbed before all others where [Settings.KeepThinking] says how many those are. What is
// kept anyway keeps its reasoning, and so do items of the Responses API, whose calls need
// theirs.
type oldThinking struct{}

// Name returns "thinking".
func (oldThinking) Name() string { return "thinking" }

// Propose leaves out all old reasoning at once.
func (oldThinking) Propose(_ context.Context, s *Situation) (Edit, error) {
	e := Edit{Kind: KindThinking}
	last := turnsBack(s.Transcript, s.Settings.KeepThinking)
	turns := 0
	s.Original(func(i int, m Message, u Unit) {
		if i >= last || m.Role != RoleAssistant || s.Kept.Message(i) || s.Kept.Pinned(i) {
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

// reasoningOf returns the replacements that leave out the reasoning that a unit of one
// message shows; nil where it shows nothing else, or must keep it.
func reasoningOf(t *Transcript, u Unit) (out []Replacement) {
	said := t.At(u.From)
	if said.Format == formatResponses {
		return nil
	}
	shown, others := map[Fingerprint]bool{}, 0
	for _, b := range u.Messages[0].Content {
		if IsReasoning(b) {
			shown[HashBlock(b)] = true
		} else {
			others++
		}
	}
	if others == 0 {
		return nil
	}
	for i, b := range said.Content {
		if IsReasoning(b) && shown[HashBlock(b)] {
			out = append(out, ReplaceBlock(t, u.From, i, nil))
		}
	}
	return out
}
