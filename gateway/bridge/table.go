package bridge

import (
	"slices"
	"strings"
	"sync"
	"time"

	"precis"
)

// Limits of a [Table].
const (
	MostText   = 256 << 10 // bytes of an answer that are kept
	mostOf     = 16        // answers of one owner
	mostAll    = 1024      // answers of all
	mostBytes  = 32 << 20  // of all, about
	perLine    = 64        // bytes that a line takes beside its text, about
	keptFor    = time.Hour // until a client goes on
	leastText  = 120       // bytes of lines that tell one summary from another
	shortLine  = 12        // bytes; shorter lines stand in any text
	mostInside = 8         // lines of an answer that are looked for inside of others
	mostLooked = 1 << 20   // bytes of messages, from the first on, in which answers are looked for
)

// Answer is a summary that a client has asked for.
type Answer struct {
	Owner        string
	Conversation string // ID of the conversation that was summarized
	Messages     int    // of it, then
	Text         string

	time  time.Time
	lines map[string]bool
	size  int      // of lines
	long  []string // the first lines that may stand inside of others
}

// Table holds the newest summaries that clients have asked for. It is safe for
// concurrent use.
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

// Keep remembers an answer for an hour, or until newer ones take its room. One that
// says too little to be recognized is not kept.
func (t *Table) Keep(a Answer) {
	a.Text = strings.Clone(a.Text[:min(len(a.Text), MostText)])
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

// weight is about how many bytes of memory an answer takes.
func (a *Answer) weight() int { return len(a.Text) + perLine*len(a.lines) }

// shrink drops what is old or too much: of the owner, then of all. The table is locked.
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
		drop := t.now().Sub(a.time) > keptFor || a.Owner == owner && own > mostOf || left > mostAll || t.bytes > mostBytes
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

// Place is where a conversation holds a summary.
type Place struct {
	*Answer
	Message, Block int // indexes of the text that holds it
}

// Find returns the summary of an owner that the messages hold; of several the one of
// which they hold most. Texts may have been put around it, and parts of it left out: a
// client drops what it had asked for beside the summary. Not ok: they hold none.
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
				if held := a.heldBy(text.Text, lines); held > most {
					best, most = Place{a, i, n}, held
				}
			}
		}
	}
	return best, most > 0
}

// heldBy returns how many bytes of a summary a text holds; 0 when that is too little of
// both to be that summary.
func (a *Answer) heldBy(text string, lines map[string]bool) int {
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

// linesOf yields the lines of a text that tell it from others.
func linesOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= shortLine && !yield(line) {
				return
			}
		}
	}
}

// Share returns which part of a sample of what a conversation said a text holds, 0 to 1: of
// the first lines that the user and the model wrote, or of those and of tool results, whichever is
// more, since results may be left out. 0 also when that is too little to tell it from others. The
// message at skip is left out; -1: none is.
func Share(text string, msgs []precis.Message, skip int) float64 {
	const most, mostSampled = 512 << 10, 2000 // bytes and messages that are looked at
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
	return max(heldOf(words, text), heldOf(all, text))
}

// sample is a line of a message.
type sample struct {
	message int
	line    string
}

// heldOf returns which part of some lines a text holds: 0 when those are of too few messages,
// or of few and not the most. The newest messages are missing where a client keeps them.
func heldOf(lines []sample, text string) float64 {
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

// appendSample appends the first lines of a text that tell it from others.
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
