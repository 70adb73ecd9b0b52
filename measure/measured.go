package measure

import (
	"math"

	"github.com/precis-dev/precis"
)

// adjustment adjusts the counts of a [Meter] to [precis.Conversation.Measured].
type adjustment struct {
	at         precis.Measured
	of         *precis.Transcript
	known      bool    // at holds for the conversation
	share      float64 // factor on estimated tokens: pictures, documents, reasoning
	factor     float64 // from the meter's to the provider's tokens
	unrecorded int     // tokens that the provider counted and the conversation lacks
}

// For makes the meter count a conversation: by the rules of its model if its counter supports that, see
// [precis.ModelCounter], and scaled so that the request of [precis.Conversation.Measured] has the
// provider's count. Missing tokens go to [precis.Overhead.Unrecorded] if the tools are unknown. An
// excess is taken from estimates first: providers drop old reasoning, and the size of a document can
// only be guessed. Counts by other rules are dropped.
func (m *Meter) For(c *precis.Conversation) {
	m.forModel(c.Model)
	if m.fit.at == c.Measured && m.fit.of == c.Transcript {
		return
	}
	m.fit = adjustment{at: c.Measured, of: c.Transcript, share: 1, factor: 1}
	if m.factor != nil {
		m.fit.factor = m.factor(c.Model)
	}
	if c.Measured.Tokens <= 0 || c.Measured.Messages > c.Transcript.Len() {
		return
	}
	then := precis.Rewound(c, c.Measured.Messages)
	view, _ := precis.Repair(precis.View(then.Transcript, then.Edits))
	before := m.known(c)
	counted, estimated := before.System+before.Tools, 0
	for _, msg := range view {
		counted += m.Message(msg)
		estimated += m.estimated(msg)
	}
	m.fit.fit(counted, estimated, len(c.Tools) == 0)
}

// mostMissed is the largest plausible ratio between our count of words and the provider's. Beyond
// it they belong to different requests.
const mostMissed = 3

// adjustment computes the adjustment of a partly estimated count to the provider's.
func (f *adjustment) fit(counted, estimated int, open bool) {
	said := int(float64(f.at.Tokens) / f.factor)
	words := counted - estimated
	switch {
	case counted == 0 || words > mostMissed*said || said > mostMissed*counted && !open:
		return
	case said > counted && open:
		f.unrecorded = said - counted
	case said >= words && estimated > 0 && said < counted:
		f.share = float64(said-words) / float64(estimated)
	case said < words:
		f.share, f.factor = 0, float64(f.at.Tokens)/float64(words)
	default:
		f.factor = float64(f.at.Tokens) / float64(counted)
	}
	f.known = true
}

// estimated returns the tokens of a message that are only estimated.
func (m *Meter) estimated(msg precis.Message) int {
	if len(msg.Content) == 0 {
		return 0
	}
	n, ok := m.estimates[&msg.Content[0]]
	if !ok {
		for _, b := range msg.Content {
			n += m.estimatedIn(msg.Role, b)
		}
		if m.estimates == nil {
			m.estimates = map[*precis.Block]int{}
		}
		m.estimates[&msg.Content[0]] = n
	}
	return n
}

func (m *Meter) estimatedIn(role precis.Role, b precis.Block) (n int) {
	switch b := b.(type) {
	case precis.Image, precis.Document, precis.Opaque, precis.Thinking, precis.RedactedThinking:
		return m.whole(role, b)
	case precis.ToolResult:
		for _, part := range b.Content {
			n += m.estimatedIn(role, part)
		}
	}
	return n
}

// fitted returns counted tokens with the estimated part scaled to the provider's count.
func (m *Meter) fitted(counted, estimated int) int {
	return counted - estimated + int(math.Ceil(float64(estimated)*m.fit.share))
}
