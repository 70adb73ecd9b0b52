package precis

// Counter counts tokens. Implementations are safe for concurrent use and
// deterministic. The package precis/tokens has exact and estimating ones.
type Counter interface {
	// Name identifies the way of counting, e.g. "o200k"; counts of different
	// names are never mixed.
	Name() string
	// Count returns the tokens of one message, its framing included. A message
	// without content counts 0.
	Count(m Message) int
}

// Calibrator turns counted tokens into those a model's provider would report.
// Implementations are safe for concurrent use.
type Calibrator interface {
	// Factor returns reported tokens divided by counted ones for a model; 1 when
	// nothing is known.
	Factor(model string) float64
	// Observe takes in one request's counted and reported input tokens.
	Observe(model string, counted, reported int)
}

// Meter counts views, each message once however often it is shown. It knows a
// message by its content slice, and the tools by theirs, which are never
// changed; of the view it was asked for last it knows the pieces, too. Keep one
// for each conversation that is checked often. The zero value is not
// usable; a Meter is not safe for concurrent use.
type Meter struct {
	counter Counter
	memo    map[*Block]int
	frame   int // tokens of a message beside its blocks
	tools   []byte
	toolsIn int // tokens of tools
	last    rendered
}

// NewMeter returns a meter that counts with c.
func NewMeter(c Counter) *Meter {
	word := Text{Text: "word"}
	one := c.Count(Message{Role: RoleUser, Content: []Block{word}})
	two := c.Count(Message{Role: RoleUser, Content: []Block{word, word}})
	return &Meter{counter: c, memo: map[*Block]int{}, frame: max(2*one-two, 0)}
}

// Message returns the tokens of one message.
func (m *Meter) Message(msg Message) int {
	if len(msg.Content) == 0 {
		return 0
	}
	key := &msg.Content[0]
	n, ok := m.memo[key]
	if !ok {
		n = m.counter.Count(msg)
		m.memo[key] = n
	}
	return n
}

// View returns the tokens of a list of messages.
func (m *Meter) View(msgs []Message) int {
	total := 0
	for _, msg := range msgs {
		total += m.Message(msg)
	}
	return total
}

// Block returns the tokens that a single block adds to a message of the given
// role, the message's own framing left out.
func (m *Meter) Block(role Role, b Block) int {
	return max(m.counter.Count(Message{Role: role, Content: []Block{b}})-m.frame, 0)
}

// Overhead returns the tokens of the system prompt and the tool definitions.
func (m *Meter) Overhead(c *Conversation) int {
	total := m.Message(c.System)
	if len(c.Tools) == 0 {
		return total
	}
	if len(m.tools) != len(c.Tools) || &m.tools[0] != &c.Tools[0] {
		m.tools, m.toolsIn = c.Tools, m.counter.Count(NewText(RoleSystem, string(c.Tools)))
	}
	return total + m.toolsIn
}
