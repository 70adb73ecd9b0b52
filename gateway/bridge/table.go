package bridge

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis"
)

// Limits of a [Table].
const (
	MaxText    = 256 << 10 // bytes kept of an answer
	mostOf     = 16        // answers of one owner
	mostAll    = 1024      // answers of all
	mostBytes  = 32 << 20  // of all, roughly
	perLine    = 64        // bytes that a line takes in addition to its text, roughly
	keptFor    = time.Hour // time for the client to begin the next conversation
	leastText  = 120       // bytes of lines that identify a summary
	shortLine  = 12        // bytes; shorter lines occur in any text
	mostInside = 8         // lines of an answer that are searched for inside others
	mostLooked = 1 << 20   // bytes of messages, from the first on, that are searched for answers
)

// Answer is a summary that a client has requested.
type Answer struct {
	Owner        string
	Conversation string // ID of the conversation that was summarized
	Messages     int    // its number of messages at that time
	Text         string

	time  time.Time
	lines map[string]bool
	size  int      // of lines
	long  []string // the first lines that may occur inside others
}

// Table holds the newest summaries that clients have requested. It is safe for concurrent use.
type Table struct {
	now func() time.Time

	mu      sync.Mutex
	answers []*Answer // the oldest first
	bytes   int
}

// NewTable returns an empty table. A nil now is time.Now.
func NewTable(now func() time.Time) *Table {
	if now == nil {
		now = time.Now
	}
	return &Table{now: now}
}

// Keep remembers an answer for an hour, or until newer ones take its room. It drops an answer that
// is too short to be recognized.
func (t *Table) Keep(a Answer) {
	a.Text = strings.Clone(a.Text[:min(len(a.Text), MaxText)])
	a.lines = map[string]bool{}
	for line := range linesOf(a.Text) {
		if !a.lines[line] {
			a.lines[line] = true
			a.size += len(line)
			if len(line) >= leastText && len(a.long) < mostInside {
				a.long = append(a.long, line)
			}
		}
	}
	if a.size < leastText {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	a.time = t.now()
	t.answers = slices.DeleteFunc(t.answers, func(b *Answer) bool {
		same := b.Owner == a.Owner && b.Text == a.Text
		if same {
			t.bytes -= b.weight()
		}
		return same
	})
	t.answers = append(t.answers, &a)
	t.bytes += a.weight()
	t.shrink(a.Owner)
}

// weight returns roughly how many bytes of memory an answer takes.
func (a *Answer) weight() int { return len(a.Text) + perLine*len(a.lines) }

// shrink drops answers that are too old or exceed a limit, first the owner's, then the total. The
// table is locked.
func (t *Table) shrink(owner string) {
	own := 0
	for _, a := range t.answers {
		if a.Owner == owner {
			own++
		}
	}
	kept := t.answers[:0]
	left := len(t.answers)
	for _, a := range t.answers {
		drop := t.now().Sub(a.time) > keptFor || a.Owner == owner && own > mostOf || left > mostAll ||
			t.bytes > mostBytes
		if !drop {
			kept = append(kept, a)
			continue
		}
		left--
		t.bytes -= a.weight()
		if a.Owner == owner {
			own--
		}
	}
	clear(t.answers[len(kept):])
	t.answers = kept
}

// of returns the answers of an owner, the newest first.
func (t *Table) of(owner string) (out []*Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.answers) - 1; i >= 0; i-- {
		if a := t.answers[i]; a.Owner == owner && t.now().Sub(a.time) <= keptFor {
			out = append(out, a)
		}
	}
	return out
}

// Place is the position of a summary in a conversation.
type Place struct {
	*Answer
	Message, Block int // indexes of the text that contains it
}

// Find returns the owner's summary that the messages contain, preferring the one with the most
// matching bytes. Clients may wrap a summary in other text, and drop parts of it. Ok is false when
// there is no match.
func (t *Table) Find(owner string, msgs []precis.Message) (best Place, ok bool) {
	all := t.of(owner)
	if len(all) == 0 {
		return Place{}, false
	}
	most, left := 0, mostLooked
	for i, m := range msgs {
		for n, b := range m.Content {
			text, is := b.(precis.Text)
			if !is || len(text.Text) < leastText {
				continue
			}
			if left -= len(text.Text); left < 0 {
				return best, most > 0
			}
			lines := map[string]bool{}
			for line := range linesOf(text.Text) {
				lines[line] = true
			}
			for _, a := range all {
				if held := a.bytesIn(text.Text, lines); held > most {
					best, most = Place{a, i, n}, held
				}
			}
		}
	}
	return best, most > 0
}

// bytesIn returns how many bytes of a summary a text contains; 0 when that is too small a part to
// identify the summary.
func (a *Answer) bytesIn(text string, lines map[string]bool) int {
	held, all := 0, 0
	for line := range lines {
		all += len(line)
		if a.lines[line] {
			held += len(line)
		}
	}
	for _, line := range a.long {
		if !lines[line] && strings.Contains(text, line) {
			held += len(line)
		}
	}
	if held < leastText || held*5 < a.size*3 && (held*4 < a.size || held*5 < all*3) {
		return 0
	}
	return held
}

// linesOf yields the lines of a text that are long enough to identify it.
func linesOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortLine && !yield(line) {
				return
			}
		}
	}
}

// ContainedShare returns the share, 0 to 1, of a sample of a conversation's lines that a text contains. The
// sample is taken from the first lines of all texts, or of texts and tool results, whichever gives
// more, because results may be omitted. It is 0 when too few lines match. The message at skip is
// left out; -1: no message is.
func ContainedShare(text string, msgs []precis.Message, skip int) float64 {
	const most, mostSampled = 512 << 10, 2000 // limits on the bytes and messages examined
	var words, all []sample
	text = text[:min(len(text), most)]
	for i := 0; i < len(msgs); i += max(len(msgs)/mostSampled, 1) {
		m := msgs[i]
		if i == skip {
			continue
		}
		for _, b := range m.Content {
			switch b := b.(type) {
			case precis.Text:
				words = appendSample(words, i, b.Text)
				all = appendSample(all, i, b.Text)
			case precis.ToolResult:
				all = appendSample(all, i, b.Text())
			}
		}
	}
	return max(shareOfLines(words, text), shareOfLines(all, text))
}

// sample is a line of a message.
type sample struct {
	message int
	line    string
}

// shareOfLines returns the share of lines that a text contains. It is 0 when matches come from too few
// messages, or from few messages and less than half of the lines. A client that keeps the newest
// messages omits them from the text.
func shareOfLines(lines []sample, text string) float64 {
	const sampled, few, enough = 32, 3, 5
	found, looked, messages := 0, 0, map[int]bool{}
	for i := 0; i < len(lines); i += (len(lines) + sampled - 1) / sampled {
		looked++
		if strings.Contains(text, lines[i].line) {
			found++
			messages[lines[i].message] = true
		}
	}
	share := float64(found) / float64(max(looked, 1))
	if n := len(messages); n < few || n < enough && share < 0.5 || share < 0.2 {
		return 0
	}
	return share
}

// appendSample appends the first lines of a text that are long enough to identify it.
func appendSample(dst []sample, message int, text string) []sample {
	const least, most, each, within = 20, 400, 2, 2000
	n := 0
	for line := range linesOf(text[:min(len(text), within)]) {
		if len(line) < least || len(line) > most {
			continue
		}
		dst = append(dst, sample{message, line})
		if n++; n == each {
			break
		}
	}
	return dst
}
