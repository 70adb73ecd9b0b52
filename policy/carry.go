package policy

import (
	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
)

// ItemSource returns the items of a conversation that are in force although the wire does not show it, and
// that every view must contain: plans, skills and jobs that are not done. It is called once for
// each climb of the ladder. Implementations are stateless and safe for concurrent use.
type ItemSource interface {
	// Items returns the items in force in the situation's conversation, most important first.
	Items(s *Situation) []inforce.Item
}

// Carry returns the edit with the items in force of each hidden span appended to the text that replaces
// the span, see [inforce.Carrier]. A Strategy need not call it: the ladder does so for every edit, after
// the gate; a strategy may call it to measure its edit. Calling it twice has no further effect.
func (s *Situation) Carry(e precis.Edit) precis.Edit {
	if s.Kept == nil {
		return e
	}
	c := inforce.Carrier{
		Content: &s.Kept.inForce, Head: s.Kept.head, Messages: s.Transcript.Messages(), Units: s.Units,
		Meter: s.Meter, Target: s.Target, Keeps: s.Kept.Message, Group: s.Kept.Group,
	}
	return c.Carry(e)
}

// HeldTokens returns the tokens that Carry would add if the messages [from,to) were hidden.
func (s *Situation) HeldTokens(from, to int) (n int) {
	for _, m := range s.HeldMessages(from, to) {
		n += s.Meter.View([]precis.Message{m})
	}
	return n
}

// HeldMessages returns the messages that Carry would add if the messages [from,to) were hidden, in order.
func (s *Situation) HeldMessages(from, to int) (out []precis.Message) {
	if s.Kept == nil {
		return nil
	}
	for _, i := range s.Kept.inForce.In(from, to) {
		out = append(out, s.Kept.inForce.Of(s.Transcript.Messages(), i))
	}
	return out
}

// Holds reports whether Carry keeps a message or block whole when its messages are hidden.
func (s *Situation) Holds(h precis.Handle) bool {
	if s.Kept == nil {
		return false
	}
	return s.Kept.inForce.Block(h.From, h.Block)
}
