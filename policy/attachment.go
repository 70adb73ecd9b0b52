package policy

import "github.com/precis-dev/precis"

// attachments are the messages with images, documents and unknown blocks that no model has answered
// yet. The size of such a block is an estimate, which may be wrong by a factor. So the size is no
// reason to hide the block until the provider has refused the view.
type attachments struct {
	turn            int // message of the user's newest turn; -1: none
	unansweredAfter int // messages after this one are not answered yet
}

// attach finds the attachments that must stay; none once the provider has refused the view.
func (p *pass) attach() {
	if p.forced() || p.r.Limits != (Limits{}) || p.s.attached != nil {
		return
	}
	msgs := p.s.Transcript.Messages()
	a := attachments{turn: p.s.Transcript.Speech().LastTurn(func(int) bool { return true }),
		unansweredAfter: len(msgs) - 1}
	for a.unansweredAfter >= 0 && msgs[a.unansweredAfter].Role != precis.RoleAssistant {
		a.unansweredAfter--
	}
	p.s.attached = &a
}

// IsAttachment reports whether a block is never hidden or shortened for its size: an image, a
// document without its text or a block of an unknown type, in the user's newest turn or after the
// newest answer.
func (s *Situation) IsAttachment(message int, b precis.Block) bool {
	a := s.attached
	return a != nil && (message == a.turn || message > a.unansweredAfter) && isEstimated(b)
}

// isEstimated reports whether the size of a block is an estimate: the block is not text.
func isEstimated(b precis.Block) bool {
	switch b := b.(type) {
	case precis.Image, precis.Opaque:
		return true
	case precis.Document:
		return b.Text == ""
	}
	return false
}

// measureAttachments measures the attachments of a view that does not fit. Let room be the target less the
// system prompt and the tools. The estimated tokens of attachments above room/2 are excluded from
// the count, so that an estimate that may be wrong displaces no other content.
func (p *pass) measureAttachments() {
	s := &p.s
	if s.Used <= p.counted(max(s.Budget.Allowed(), 0)) {
		return
	}
	p.attach()
	sum := 0
	for _, u := range s.Units {
		if !u.Original() {
			continue
		}
		for _, m := range u.Messages {
			for _, b := range m.Content {
				for _, b := range contentOf(b) {
					if s.IsAttachment(u.From, b) {
						sum += s.Meter.Block(m.Role, b)
					}
				}
			}
		}
	}
	room := p.counted(float64(targetOf(s.Budget, p.settings))) - s.Budget.Overhead
	s.Attached = min(sum, max(room, 0)/2)
	s.Guessed = sum - s.Attached
	s.Used -= s.Guessed
}

// contentOf returns the blocks in a tool result, or the block itself.
func contentOf(b precis.Block) []precis.Block {
	if r, ok := b.(precis.ToolResult); ok {
		return r.Content
	}
	return []precis.Block{b}
}
