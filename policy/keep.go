package policy

import (
	"regexp"
	"slices"
	"sort"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/inforce"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/measure"
)

// Kept is the content that a run must not touch: the last user turn, the newest messages and
// everything pinned. It is made once for a run and safe to read from many goroutines.
type Kept struct {
	Tail     int          // first message of the kept tail; the transcript's length without one
	LastUser int          // message of the last user turn; -1 without one
	groups   []int        // first message of each group, then the transcript's length
	pinned   map[int]bool // whole messages
	blocks   map[[2]int]bool
	partly   map[int]bool    // messages of these blocks
	from, to int             // only these messages may be touched; to 0: all
	head     map[int]bool    // the user's messages before the first answer
	inForce  inforce.Content // content in force, at any place
}

// compactions are the types of blocks and items that APIs produce when they condense a conversation
// themselves.
var compactions = map[string]bool{"compaction": true, "compaction_summary": true, "context_compaction": true}

// pinCompactions pins the compactions of an API: only the API can read their content, so no summary
// could replace them.
func (k *Kept) pinCompactions(msgs []precis.Message) {
	for i, m := range msgs {
		for b, block := range m.Content {
			if o, ok := block.(precis.Opaque); ok && compactions[o.Type] {
				k.pin(precis.BlockHandle(i, b), len(msgs))
			}
		}
	}
}

// Keep returns the messages of the view that must stay: the last user turn, pins, compactions of
// the API, and the newest messages. Of the newest it keeps at least count messages, and as many
// more as fit in tailTokens. The newest group always stays, since the model is to answer it; the
// other groups of count only while they take, without their results, at most 8,000 tokens or twice
// tailTokens, unless tailTokens is 0. The tail never begins between a tool use and its result, nor
// reaches over a summary of older messages. Hidden messages (after a rewind, for example) are
// neither the last nor the newest.
func Keep(t *precis.Transcript, edits []precis.Edit, m *measure.Meter, count, tailTokens int) *Kept {
	return keep(t, edits, m, count, tailTokens, false)
}

// keep is Keep; with whole, no rung can shorten a kept result, so results count in full.
func keep(t *precis.Transcript, edits []precis.Edit, m *measure.Meter, count, tailTokens int,
	whole bool) *Kept {
	msgs := t.Messages()
	k := pinsOf(t, edits)
	shown, behind := make([]bool, len(msgs)), 0
	for _, u := range precis.Units(t, edits) {
		switch {
		case u.Original():
			shown[u.From] = true
		case isRecap(edits, u):
			behind = u.To
		}
	}
	k.LastUser = t.Speech().LastTurn(func(i int) bool { return shown[i] })
	k.pinCompactions(msgs)
	k.Tail = k.tail(msgs, shown, behind, m, count, tailTokens, whole)
	return k
}

// isRecap reports whether a unit is a summary or a marker in the place of older messages.
func isRecap(edits []precis.Edit, u precis.Unit) bool {
	return len(u.Messages) > 0 && slices.ContainsFunc(edits, func(e precis.Edit) bool {
		return e.Name() == u.Edit && (e.Kind == precis.KindCondensation || e.Kind == precis.KindTruncation)
	})
}

// pinsOf returns the pins alone.
func pinsOf(t *precis.Transcript, edits []precis.Edit) *Kept {
	msgs := t.Messages()
	k := &Kept{LastUser: -1, Tail: len(msgs), groups: append(precis.GroupStarts(msgs), len(msgs)),
		pinned: map[int]bool{}, blocks: map[[2]int]bool{}, partly: map[int]bool{}}
	for _, h := range precis.Pinned(edits) {
		k.pin(h, len(msgs))
	}
	return k
}

// first pins the oldest n messages and their groups.
func (k *Kept) first(n int) {
	for g := 0; g < len(k.groups)-1 && k.groups[g] < n; g++ {
		k.pin(precis.SpanHandle(k.groups[g], k.groups[g+1]), k.groups[len(k.groups)-1])
	}
}

// keepInForce keeps content that was said once and stays in force. The user's messages before the first
// answer stay in place, with the program's texts among them, if they take up to head tokens. Other
// items in force, see [Situation.Carry], and the items of a law are held up to room tokens. Content
// that a rewind, the user or the program's own condensation hides is not in force.
func (k *Kept) keepInForce(t *precis.Transcript, edits []precis.Edit, m *measure.Meter, head, room int,
	law []inforce.Item) {
	msgs := t.Messages()
	var ends []precis.Edit // edits that end the force of the content they hide
	for _, e := range precis.Active(edits) {
		switch {
		case e.Kind == precis.KindRewind, e.Kind == precis.KindExclude, e.Kind == precis.KindRestore,
			e.Report.Trigger == string(precis.TriggeredRecorded):
			ends = append(ends, e)
		}
	}
	shown := precis.ShownBy(t, ends)
	wanted := func(i int) bool { return !shown.Message(i).Hidden }
	k.head = headOf(msgs, wanted, m, head)
	k.inForce = inforce.Find(msgs, func(i int) bool { return wanted(i) && !k.head[i] }, m.View, room, law)
	for i := range k.head {
		for _, at := range current(msgs, i) {
			k.inForce.Add(at, true)
		}
	}
	k.inForce.Sort()
}

// current returns the blocks of message i that no later message replaces: all but the state of the
// editor, which programs send anew with each message.
func current(msgs []precis.Message, i int) []precis.Handle {
	state := func(b precis.Block) bool {
		t, ok := b.(precis.Text)
		return ok && harness.IsEditorState(t.Text)
	}
	anew := slices.ContainsFunc(msgs[i+1:],
		func(m precis.Message) bool { return slices.ContainsFunc(m.Content, state) })
	if !anew || !slices.ContainsFunc(msgs[i].Content, state) {
		return []precis.Handle{precis.MessageHandle(i)}
	}
	var out []precis.Handle
	for b, block := range msgs[i].Content {
		if !state(block) {
			out = append(out, precis.BlockHandle(i, b))
		}
	}
	return out
}

// headOf returns the user's messages before the first answer; none when they take more than room
// tokens.
func headOf(msgs []precis.Message, wanted func(i int) bool, m *measure.Meter, room int) map[int]bool {
	head := map[int]bool{}
	for i := 0; i < len(msgs) && msgs[i].Role != precis.RoleAssistant; i++ {
		if msgs[i].Role != precis.RoleUser || !wanted(i) {
			continue
		}
		if room -= m.Message(msgs[i]); room < 0 {
			return nil
		}
		head[i] = true
	}
	return head
}

// keepOutside keeps all messages but [from,to) and the groups of its ends.
func (k *Kept) keepOutside(from, to int) {
	last := k.groups[len(k.groups)-1]
	if from, to = max(from, 0), min(to, last); from < to {
		from, _ = k.Group(from)
		_, to = k.Group(to - 1)
	}
	k.from, k.to = from, max(to, 1)
}

// PinMatching pins the blocks of t with text that matches pattern; nil pins none.
func (k *Kept) PinMatching(t *precis.Transcript, pattern *regexp.Regexp) {
	if pattern == nil {
		return
	}
	for i, m := range t.Messages() {
		for b, block := range m.Content {
			if blockMatches(block, pattern) {
				k.pin(precis.BlockHandle(i, b), t.Len())
			}
		}
	}
}

func blockMatches(b precis.Block, pattern *regexp.Regexp) bool {
	switch b := b.(type) {
	case precis.Text:
		return pattern.MatchString(b.Text)
	case precis.ToolUse:
		return pattern.Match(b.Input)
	case precis.ToolResult:
		return pattern.MatchString(b.Text())
	}
	return false
}

func (k *Kept) pin(h precis.Handle, n int) {
	if h.Block >= 0 {
		k.blocks[[2]int{h.From, h.Block}], k.partly[h.From] = true, true
		return
	}
	for i := max(h.From, 0); i < min(h.To, n); i++ {
		k.pinned[i] = true
	}
}

// The newest messages may exceed their room to reach the least number, since results can be
// shortened. Without results they may take this many times the room, or these tokens: an answer
// with ten thousand calls is not kept whole because it is the second newest.
const (
	mostBare  = 2
	smallBare = 8000
)

// bareTokens returns the tokens of a message without its results, also of results written as text.
func bareTokens(msg precis.Message, m *measure.Meter) int {
	if msg.Role == precis.RoleUser && writesResult(msg) && !msg.IsUserTurn() {
		return 0
	}
	n := 0
	for _, b := range msg.Content {
		if _, ok := b.(precis.ToolResult); !ok {
			n += m.Block(msg.Role, b)
		}
	}
	return n
}

// writesResult reports whether a message begins as the result of a call that is written as text.
func writesResult(msg precis.Message) bool {
	for _, b := range msg.Content {
		if t, ok := b.(precis.Text); ok {
			_, is := harness.ResultHead(t.Text)
			return is || harness.IsObservation(t.Text)
		}
	}
	return false
}

// tail returns the first message of the kept tail: at or after behind, the end of the newest
// summary, unless no later message is shown. A summary in the tail could not be rewritten.
func (k *Kept) tail(msgs []precis.Message, shown []bool, behind int, m *measure.Meter, count, tailTokens int,
	whole bool) int {
	start, used, bare, kept := len(msgs), 0, 0, 0
	for g := len(k.groups) - 2; g >= 0 && (k.groups[g] >= behind || kept == 0); g-- {
		from, size := k.groups[g], 0
		for i := from; i < k.groups[g+1]; i++ {
			if shown[i] {
				n := m.Message(msgs[i])
				used += n
				if whole {
					bare += n
				} else {
					bare += bareTokens(msgs[i], m)
				}
				size++
			}
		}
		if kept >= max(count, 1) && used > tailTokens ||
			kept > 0 && tailTokens > 0 && bare > max(mostBare*tailTokens, smallBare) {
			break
		}
		kept += size
		start = from
	}
	return start
}

// Message reports whether message i is kept whole.
func (k *Kept) Message(i int) bool { return i == k.LastUser || k.isKept(i) }

// isKept reports whether message i is kept for a reason other than being the last user turn.
func (k *Kept) isKept(i int) bool {
	return i >= k.Tail || k.pinned[i] || k.to > 0 && (i < k.from || i >= k.to)
}

// Block reports whether block b of message i is kept: because its message is, or
// because it is pinned itself.
func (k *Kept) Block(i, b int) bool { return k.Message(i) || k.PinnedBlock(i, b) }

// Pinned reports whether message i, or a block of it, is pinned. The user's messages before the
// first answer count as pinned; an edit that hides them nevertheless shows them before its summary,
// see [Situation.Carry].
func (k *Kept) Pinned(i int) bool { return k.pinned[i] || k.partly[i] || k.head[i] }

// PinnedBlock reports whether block b of message i, or its message, is pinned, or stays
// in force.
func (k *Kept) PinnedBlock(i, b int) bool {
	return k.pinned[i] || k.blocks[[2]int{i, b}] || k.inForce.Block(i, b)
}

// Group returns the messages [from,to) that are hidden or kept together with message i: tool uses
// and their results.
func (k *Kept) Group(i int) (from, to int) {
	g := sort.SearchInts(k.groups, i+1)
	return k.groups[g-1], k.groups[g]
}

// checkKept returns an error when a kept message or pinned block that the view showed whole is
// changed or gone. The last user turn may be hidden by a text that quotes it word for word.
func checkKept(s *Situation, units []precis.Unit) error {
	whole := make([]bool, s.Transcript.Len())
	for _, u := range s.Units {
		whole[u.From] = u.Original() && !u.Changed
	}
	for _, u := range units {
		for i := u.From; i < u.To; i++ {
			if !whole[i] || !s.Kept.Message(i) ||
				u.Original() && (!u.Changed || onlyThinking(s.Transcript.At(i), u)) {
				continue
			}
			if words := s.LastWords(); !u.Original() && !s.Kept.isKept(i) && words != "" &&
				slices.ContainsFunc(u.Messages,
					func(m precis.Message) bool { return inforce.States(m, words) }) {
				continue
			}
			return precis.Errorf(precis.CodeInvalid, "check view", "message %d must be kept", i)
		}
	}
	return s.Kept.checkPins(s.Transcript, s.Units, units)
}

// checkPins returns an error when the new view lacks a pinned block that the old one shows.
func (k *Kept) checkPins(t *precis.Transcript, before, after []precis.Unit) error {
	if len(k.blocks) == 0 {
		return nil
	}
	was, is := shownBlocks(before), shownBlocks(after)
	for at := range k.blocks {
		if at[0] >= t.Len() || at[1] >= len(t.At(at[0]).Content) {
			continue
		}
		key := shownBlock{at[0], t.HashBlock(at[0], at[1])}
		if was[key] && !is[key] {
			return precis.Errorf(precis.CodeInvalid, "check view", "block %s is pinned",
				precis.BlockHandle(at[0], at[1]))
		}
	}
	return nil
}

type shownBlock struct {
	message int
	hash    precis.Fingerprint
}

func shownBlocks(units []precis.Unit) map[shownBlock]bool {
	out := map[shownBlock]bool{}
	for _, u := range units {
		if !u.Original() {
			continue
		}
		for _, m := range u.Messages {
			for _, b := range m.Content {
				out[shownBlock{u.From, precis.HashBlock(b)}] = true
			}
		}
	}
	return out
}

// onlyThinking reports whether the unit differs from m only by dropped reasoning.
func onlyThinking(m precis.Message, u precis.Unit) bool {
	var kept []precis.Block
	for _, b := range m.Content {
		if !precis.IsReasoning(b) {
			kept = append(kept, b)
		}
	}
	var shown []precis.Block
	for _, msg := range u.Messages {
		for _, b := range msg.Content {
			if !precis.IsReasoning(b) {
				shown = append(shown, b)
			}
		}
	}
	if len(kept) != len(shown) {
		return false
	}
	for i := range kept {
		if !precis.EqualBlocks(kept[i], shown[i]) {
			return false
		}
	}
	return true
}
