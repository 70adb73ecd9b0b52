package precis

import (
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/harness"
)

// Transcript holds the messages of one conversation in order. It only grows. The zero value is
// empty and ready to use. A Transcript is safe for concurrent use; pass pointers, do not copy it.
type Transcript struct {
	mu     sync.RWMutex
	msgs   []Message
	prints []Fingerprint          // computed on demand, never longer than msgs
	blocks map[[2]int]Fingerprint // by message and block: hashes of blocks, computed on demand
	speech *Speech                // of the messages at its last use; nil: never used
}

// NewTranscript returns a transcript of the given messages. It keeps the slice.
func NewTranscript(msgs ...Message) *Transcript {
	return &Transcript{msgs: msgs[:len(msgs):len(msgs)]}
}

// Append adds messages at the end.
func (t *Transcript) Append(msgs ...Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.msgs = append(t.msgs, msgs...)
}

// Len returns the number of messages; 0 for a nil transcript.
func (t *Transcript) Len() int {
	if t == nil {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.msgs)
}

// At returns message i, counted from 0. It panics when i is out of range, as
// indexing a slice does.
func (t *Transcript) At(i int) Message {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.msgs[i]
}

// Messages returns all messages. The caller must not change the slice; it does not see later
// appends.
func (t *Transcript) Messages() []Message {
	if t == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.msgs[:len(t.msgs):len(t.msgs)]
}

// Prefix returns a transcript of the first n messages, n clamped to 0..Len. It
// shares the messages, which never change.
func (t *Transcript) Prefix(n int) *Transcript {
	msgs := t.Messages()
	n = min(max(n, 0), len(msgs))
	p := NewTranscript(msgs[:n:n]...)
	t.mu.RLock()
	k := min(n, len(t.prints))
	p.prints = t.prints[:k:k]
	t.mu.RUnlock()
	return p
}

// Read returns the original messages that a handle names, shown in a view or not.
// The error is [CodeNotFound] when t has no such message or block.
func (t *Transcript) Read(h Handle) ([]Message, error) {
	if err := t.CheckHandle(h); err != nil {
		return nil, err
	}
	if h.Block < 0 {
		return t.Messages()[h.From:h.To:h.To], nil
	}
	m := t.At(h.From)
	m.Content, m.Raw = m.Content[h.Block:h.Block+1:h.Block+1], nil
	return []Message{m}, nil
}

func (t *Transcript) CheckHandle(h Handle) error {
	if h.From < 0 || h.To <= h.From || h.To > t.Len() {
		return Errorf(CodeNotFound, "find "+h.String(), "the conversation has %d messages", t.Len())
	}
	if n := len(t.At(h.From).Content); h.Block >= n {
		return Errorf(CodeNotFound, "find "+h.String(), "message %d has %d blocks", h.From, n)
	}
	return nil
}

// Fingerprint returns the fingerprint after the first n messages: the zero value for n = 0, the
// fingerprint of the whole transcript for n = Len. n is clamped. Each message is hashed once.
func (t *Transcript) Fingerprint(n int) Fingerprint {
	if t == nil {
		return Fingerprint{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n = min(max(n, 0), len(t.msgs))
	var prev Fingerprint
	if k := len(t.prints); k > 0 {
		prev = t.prints[k-1]
	}
	t.prints = slices.Grow(t.prints, max(n-len(t.prints), 0))
	for i := len(t.prints); i < n; i++ {
		prev = chain(prev, t.msgs[i])
		t.prints = append(t.prints, prev)
	}
	if n == 0 {
		return Fingerprint{}
	}
	return t.prints[n-1]
}

// HashBlock returns the hash of block b of message i, see [HashBlock]. Each block is hashed once.
// It panics when i or b is out of range.
func (t *Transcript) HashBlock(i, b int) Fingerprint {
	at := [2]int{i, b}
	t.mu.RLock()
	h, ok := t.blocks[at]
	block := t.msgs[i].Content[b]
	t.mu.RUnlock()
	if ok {
		return h
	}
	h = HashBlock(block)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.blocks == nil {
		t.blocks = map[[2]int]Fingerprint{}
	}
	t.blocks[at] = h
	return h
}

// Conversation is a transcript with everything that belongs to it. The caller may set its fields; a
// Manager changes only Edits, and only by appending.
type Conversation struct {
	ID    string // "" when unknown
	Title string
	Model string // the model of the conversation; "" when unknown

	System Message // the system prompt; without content: none
	Tools  []byte  // JSON of the tool definitions as sent; nil when unknown
	// Unstored are the tokens of a system prompt and tools that were sent and are not stored here;
	// the zero value: none, or unknown. It counts only while both are missing.
	Unstored Overhead
	// Measured is the provider's count for the newest request with a known one. Every size of the
	// conversation is then based on it, plus later additions and less later edits.
	Measured Measured

	Transcript *Transcript
	Edits      []Edit

	Branches []*Conversation // side conversations recorded in the same place (sub-agents)
}

// Overhead is the counted tokens that precede the messages of a request.
type Overhead struct {
	System int `json:"system"` // of the system prompt
	Tools  int `json:"tools"`  // of the tool definitions

	// Unrecorded are tokens that the provider counted and the conversation lacks: of a recording,
	// the system prompt and tools that it omits.
	Unrecorded int `json:"unrecorded,omitempty"`
}

// Sum returns all of them.
func (o Overhead) Sum() int { return o.System + o.Tools + o.Unrecorded }

// HasSystem reports whether there is a system prompt.
func (c *Conversation) HasSystem() bool { return len(c.System.Content) > 0 }

// IsUserTurn reports whether the user speaks in the message: it has the user role and contains
// words, a picture or a document that are neither a tool's result nor the agent program's own, see
// [Message.UserBlocks].
func (m Message) IsUserTurn() bool { return len(m.UserBlocks()) > 0 }

// LastUserTurn returns the index of the last message with which the user begins a turn, -1 without
// one. Text next to a tool result continues the turn of the tool use.
func LastUserTurn(msgs []Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].IsUserTurn() && !msgs[i].HasToolResult() {
			return i
		}
	}
	return -1
}

// UserBlocks returns the indexes of the blocks with a person's content in a message of the user's
// role, pictures and documents included, see [Speech]. For words in results see [Speech.Answers].
func (m Message) UserBlocks() []int {
	if m.Role != RoleUser {
		return nil
	}
	var out []int
	for i, author := range m.Authors() {
		if author == AuthorPerson {
			out = append(out, i)
		}
	}
	return out
}

// personsWords returns the words of a person in a message, see [Speech.Words].
func (m Message) personsWords() string {
	var words []string
	for _, i := range m.UserBlocks() {
		t, ok := m.Content[i].(Text)
		if !ok {
			continue
		}
		said := strings.TrimSpace(t.Text)
		if m.AttributionOf(i).Author != AuthorPerson {
			said = harness.UserWords(t.Text[harness.ProgramEnd(t.Text):])
		}
		if said != "" && !harness.IsLocalCommand(said) {
			words = append(words, said)
		}
	}
	return strings.Join(words, "\n")
}

// loadsTools reports whether a result in the message refers to tools that it loads.
func (m Message) loadsTools() bool {
	for _, b := range m.Content {
		r, ok := b.(ToolResult)
		if ok && slices.ContainsFunc(r.Content,
			func(b Block) bool { o, ok := b.(Opaque); return ok && o.Type == "tool_reference" }) {
			return true
		}
	}
	return false
}

// UserAnswer is the user's words in the result of a tool: the answer to a question, or a comment with a
// refusal or an approval.
type UserAnswer struct {
	Handle Handle // of the result
	Tool   string // the called tool
	Text   string // the user's words
	Turn   bool   // whether a turn begins with it: the agent had reported that it is done, or waited
	Asked  bool   // whether the tool asks the user a question
	Denied bool   // whether it refuses the call
	Beside bool   // whether it accompanies the tool's own output: a comment on a change, on a command
}

// HarnessOf returns the family of the program around the model, recognized by its marks in the first
// messages of the user's role, outside of results; "" if unknown.
func HarnessOf(msgs []Message) string {
	program, _ := around(msgs)
	return string(program)
}

// around returns the same as [HarnessOf], and the message that shows it.
func around(msgs []Message) (harness.Program, int) {
	const most = 20 // messages of the user's role
	seen := 0
	for i, m := range msgs {
		if m.Role != RoleUser {
			continue
		}
		for _, b := range m.Content {
			if t, ok := b.(Text); ok {
				if p := harness.ProgramOf(t.Text); p != harness.NoProgram {
					return p, i
				}
			}
		}
		if seen++; seen == most {
			break
		}
	}
	return harness.NoProgram, 0
}

// Measured is a model provider's token count for a request of a conversation. The zero value means
// unknown.
type Measured struct {
	Messages int // of the transcript, when the request was sent
	Tokens   int // of the whole request: system prompt, tools and messages, cached or not
}
