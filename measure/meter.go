// Package measure says how many tokens a conversation and its views have: it counts each message once,
// and scales to what the provider counted.
package measure

import (
	"slices"

	"github.com/precis-dev/precis"
)

// Meter counts views and memoizes: each message is counted once however often it is shown. It
// identifies a message and the tools by their slices, which are never changed, and keeps the units
// of the last view. Keep one for each conversation that is checked often. The zero value is not
// usable; a Meter is not safe for concurrent use.
type Meter struct {
	counter precis.Counter
	memo    map[*precis.Block]int
	frame   int // tokens of a message's own framing; less than 0: not known yet
	tools   []byte
	toolsIn int // tokens of tools
	last    rendered

	factor    func(model string) float64 // from counted tokens to a provider's; nil: 1
	fit       adjustment
	estimates map[*precis.Block]int // of messages: estimated tokens
}

// New returns a meter that counts with c, on demand.
func New(c precis.Counter) *Meter {
	return &Meter{counter: c, memo: map[*precis.Block]int{}, frame: -1, fit: adjustment{share: 1, factor: 1}}
}

// Scale gives the meter the calibration: how many tokens of a model's provider a counted one is.
// [Meter.For] compares the provider's count of a conversation with ours by it.
func (m *Meter) Scale(factor func(model string) float64) { m.factor = factor }

// Factor returns how many of the provider's tokens a counted one is, for the conversation that the meter
// is for. It is not known without a usable count of the provider for it.
func (m *Meter) Factor() (factor float64, known bool) { return m.fit.factor, m.fit.known }

// Name identifies the way of counting, see [precis.Counter].
func (m *Meter) Name() string { return m.counter.Name() }

// framing returns the tokens of a message's own framing.
func (m *Meter) framing() int {
	if m.frame < 0 {
		word := precis.Text{Text: "word"}
		one := m.counter.Count(precis.Message{Role: precis.RoleUser, Content: []precis.Block{word}})
		two := m.counter.Count(precis.Message{Role: precis.RoleUser, Content: []precis.Block{word, word}})
		m.frame = max(2*one-two, 0)
	}
	return m.frame
}

// forModel makes the meter count by the rules of a model.
func (m *Meter) forModel(model string) {
	c, ok := m.counter.(precis.ModelCounter)
	if !ok {
		return
	}
	if next := c.ForModel(model); next != m.counter {
		factor := m.factor
		*m = *New(next)
		m.factor = factor
	}
}

// Message returns the tokens of one message.
func (m *Meter) Message(msg precis.Message) int {
	if len(msg.Content) == 0 {
		return 0
	}
	key := &msg.Content[0]
	n, ok := m.memo[key]
	if !ok {
		n = m.counter.Count(msg)
		m.memo[key] = n
	}
	if m.fit.share < 1 {
		return m.fitted(n, m.estimated(msg))
	}
	return n
}

// View returns the tokens of a list of messages.
func (m *Meter) View(msgs []precis.Message) int {
	total := 0
	for _, msg := range msgs {
		total += m.Message(msg)
	}
	return total
}

// Media returns the tokens of those messages that hold more than text.
func (m *Meter) Media(msgs []precis.Message) int {
	total := 0
	for _, msg := range msgs {
		if holdsMedia(msg.Content) {
			total += m.Message(msg)
		}
	}
	return total
}

func holdsMedia(blocks []precis.Block) bool {
	for _, b := range blocks {
		switch b := b.(type) {
		case precis.Image, precis.Document, precis.Opaque:
			return true
		case precis.ToolResult:
			if holdsMedia(b.Content) {
				return true
			}
		}
	}
	return false
}

// Block returns the tokens that a single block adds to a message of the given
// role, the message's own framing left out.
func (m *Meter) Block(role precis.Role, b precis.Block) int {
	n := m.whole(role, b)
	if m.fit.share < 1 {
		return m.fitted(n, m.estimatedIn(role, b))
	}
	return n
}

// whole returns the counter's count of a block.
func (m *Meter) whole(role precis.Role, b precis.Block) int {
	return max(m.counter.Count(precis.Message{Role: role, Content: []precis.Block{b}})-m.framing(), 0)
}

// Overhead returns the tokens of the system prompt and the tool definitions, or, if they are not
// stored, the known part of them. The meter must be [Meter.For] the conversation.
func (m *Meter) Overhead(c *precis.Conversation) precis.Overhead {
	out := m.known(c)
	if m.fit.known {
		out.Unrecorded = m.fit.unrecorded
	}
	return out
}

func (m *Meter) known(c *precis.Conversation) precis.Overhead {
	if !c.HasSystem() && len(c.Tools) == 0 {
		return c.Unstored
	}
	out := precis.Overhead{System: m.Message(c.System), Unrecorded: c.Unstored.Unrecorded}
	if len(c.Tools) == 0 {
		return out
	}
	if len(m.tools) != len(c.Tools) || &m.tools[0] != &c.Tools[0] {
		m.tools, m.toolsIn = c.Tools, m.counter.Count(precis.NewText(precis.RoleSystem, string(c.Tools)))
	}
	out.Tools = m.toolsIn
	return out
}

// rendered is the last view of a [Meter]. While messages are only added, its units are reused, not
// rendered or counted again.
type rendered struct {
	msgs  []precis.Message // of the transcript when it was rendered
	edits []precis.Edit
	units []precis.Unit
}

// Units returns the view in pieces, see [precis.Units]. The slice is not to be changed.
func (m *Meter) Units(t *precis.Transcript, edits []precis.Edit) []precis.Unit {
	r := &m.last
	msgs := t.Messages()
	if !begins(msgs, r.msgs) || !sameEdits(r.edits, edits) || replacedEnd(edits) > len(r.msgs) {
		m.setView(t, edits, precis.Units(t, edits))
		return r.units[:len(r.units):len(r.units)]
	}
	r.units = slices.Grow(r.units, len(msgs)-len(r.msgs))
	for i := len(r.msgs); i < len(msgs); i++ {
		r.units = append(r.units, precis.Unit{From: i, To: i + 1, Messages: msgs[i : i+1 : i+1]})
	}
	r.msgs = msgs
	return r.units[:len(r.units):len(r.units)]
}

// setView replaces the view and drops the counts of shortened messages that only the previous view
// had: each rendering creates them anew.
func (m *Meter) setView(t *precis.Transcript, edits []precis.Edit, units []precis.Unit) {
	for _, u := range m.last.units {
		if u.Changed && len(u.Messages) > 0 {
			delete(m.memo, &u.Messages[0].Content[0])
			delete(m.estimates, &u.Messages[0].Content[0])
		}
	}
	m.last = rendered{msgs: t.Messages()[:end(units)], edits: edits, units: units}
}

// begins reports whether msgs begin with the very messages of first: the same
// values, not only the same content, since a view is sent with the bytes of its
// own transcript.
func begins(msgs, first []precis.Message) bool {
	if len(first) > len(msgs) {
		return false
	}
	if len(first) == 0 || &msgs[0] == &first[0] {
		return true
	}
	for i := range first {
		if a, b := msgs[i], first[i]; a.Role != b.Role || !sameSlice(a.Content, b.Content) ||
			!sameSlice(a.Raw, b.Raw) {
			return false
		}
	}
	return true
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func sameEdits(a, b []precis.Edit) bool {
	return slices.EqualFunc(a, b, func(a, b precis.Edit) bool { return a.ID == b.ID })
}

// replacedEnd returns the end of the last message that any of the edits replaces.
func replacedEnd(edits []precis.Edit) int {
	end := 0
	for _, e := range edits {
		for _, p := range e.Replace {
			end = max(end, p.To)
		}
	}
	return end
}

// AdoptView drops the counts of trial views and adopts the view of a run, if it is the conversation's
// current view.
func (m *Meter) AdoptView(conv *precis.Conversation, edits []precis.Edit, units []precis.Unit) {
	if !sameEdits(edits, conv.Edits) {
		units = precis.Units(conv.Transcript, conv.Edits)
	}
	was := m.memo
	m.memo, m.estimates = make(map[*precis.Block]int, len(units)), nil
	keep := func(msg precis.Message) {
		if len(msg.Content) == 0 {
			return
		}
		if n, ok := was[&msg.Content[0]]; ok {
			m.memo[&msg.Content[0]] = n
		}
	}
	keep(conv.System)
	for _, msg := range conv.Transcript.Messages() {
		keep(msg)
	}
	for _, u := range units {
		for _, msg := range u.Messages {
			keep(msg)
		}
	}
	m.last = rendered{msgs: conv.Transcript.Messages()[:end(units)], edits: conv.Edits, units: units}
}

// end returns the number of messages that units cover.
func end(units []precis.Unit) int {
	if len(units) == 0 {
		return 0
	}
	return units[len(units)-1].To
}
