package precis

import "math"

// Measured is a model provider's count for a request of a conversation. The zero value says that
// no count is known.
type Measured struct {
	Messages int // of the transcript, when the request was sent
	Tokens   int // of the whole request: system prompt, tools and messages, from a cache or not
}

// fit is how the counts of a [Meter] agree with [Conversation.Measured].
type fit struct {
	at         Measured
	of         *Transcript
	known      bool    // at holds for the conversation
	share      float64 // of what the meter can only estimate: pictures, documents, reasoning
	factor     float64 // from what the meter counts to what the provider does
	unrecorded int     // tokens that the provider counted and the conversation does not hold
}

// For makes the meter count a conversation: by the rules of its model where its counter can,
// see [ModelCounter], and so that the request of [Conversation.Measured] counts what the
// provider said. Missing tokens are in [Overhead.Unrecorded] where the tools are not known.
// An excess is taken from estimates first: providers leave out old reasoning, and the
// size of a document can only be guessed. Counts by other rules are forgotten.
func (m *Meter) For(c *Conversation) {
	m.forModel(c.Model)
	if m.fit.at == c.Measured && m.fit.of == c.Transcript {
		return
	}
	m.fit = fit{at: c.Measured, of: c.Transcript, share: 1, factor: 1}
	if m.factor != nil {
		m.fit.factor = m.factor(c.Model)
	}
	if c.Measured.Tokens <= 0 || c.Measured.Messages > c.Transcript.Len() {
		return
	}
	then := Rewound(c, c.Measured.Messages)
	view, _ := Repair(View(then.Transcript, then.Edits))
	before := m.known(c)
	counted, estimated := before.System+before.Tools, 0
	for _, msg := range view {
		counted += m.Message(msg)
		estimated += m.estimated(msg)
	}
	m.fit.fit(counted, estimated, len(c.Tools) == 0)
}

// mostMissed is the most by which a count of words and the provider's may differ. Where they
// differ by more, they are not about the same request.
const mostMissed = 3

// fit says how a count of which some is estimated agrees with the provider's.
func (f *fit) fit(counted, estimated int, open bool) {
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
func (m *Meter) estimated(msg Message) int {
	if len(msg.Content) == 0 {
		return 0
	}
	n, ok := m.estimates[&msg.Content[0]]
	if !ok {
		for _, b := range msg.Content {
			n += m.estimatedIn(msg.Role, b)
		}
		if m.estimates == nil {
			m.estimates = map[*Block]int{}
		}
		m.estimates[&msg.Content[0]] = n
	}
	return n
}

func (m *Meter) estimatedIn(role Role, b Block) (n int) {
	switch b := b.(type) {
	case Image, Document, Opaque, Thinking, RedactedThinking:
		return m.whole(role, b)
	case ToolResult:
		for _, part := range b.Content {
			n += m.estimatedIn(role, part)
		}
	}
	return n
}

// fitted returns counted tokens, of which some are estimated, as the provider counts these.
func (m *Meter) fitted(counted, estimated int) int {
	return counted - estimated + int(math.Ceil(float64(estimated)*m.fit.share))
}
