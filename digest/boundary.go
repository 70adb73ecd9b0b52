package digest

import (
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/workstate"
)

// boundary computes how many of the oldest groups a digest should replace: the number that leaves
// the most expected worth in the view. A group that stays keeps its structure, which costs tokens,
// and shows its long texts as previews. A replaced group keeps only its most valuable lines, in the
// digest.
type boundary struct {
	s      *policy.Situation
	x      *retain.Index
	worth  []float64
	reuse  *retain.ReusePredictor
	perTok float64 // tokens a byte

	alive       []precis.Message // of the conversation
	read        *record          // of alive
	groups      []oldGroup
	small       []bool  // of each text: it is in a group and too short to prune
	room        float64 // tokens for all groups and the digest
	cover       *retain.Coverage
	lines       []retain.Piece // of all groups, in order; cost as in a digest
	layout      layout         // of lines
	first       []int          // number of the first line of each text; -1: not in the groups
	groupOfLine []int          // the group of each line
	stuck       []float64      // 0, or the share of a line's text that is shown and cannot be pruned further
}

// oldGroup is a group that may be hidden.
type oldGroup struct {
	units        [2]int
	span         [2]int
	tokens       int
	fixed        float64          // tokens that pruning cannot save
	small        []int            // texts too short to prune
	userTexts    []int            // texts of the user
	userTokens   float64          // tokens of what the user says
	replacements []precis.Message // replacements in the view already: previews, digests
}

// bulky is the size in bytes over which pruning shortens a text.
const bulky = 1000

func newBoundary(s *policy.Situation) *boundary {
	x, worth, reuse := retain.Of(s)
	b := &boundary{s: s, x: x, worth: worth, reuse: reuse, cover: x.NewCoverage(),
		groups: make([]oldGroup, 0, len(s.Units))}
	b.alive = retain.WithoutRewound(s.Transcript, s.Edits)
	b.read = recordOf(x.Calls, b.alive, func() *workstate.Reading { return workstate.In(s) })
	used, carried := s.Used-s.Budget.Overhead, 0
	for i := 0; i < len(s.Units); {
		end, free := s.Group(i)
		tokens := 0
		for _, u := range s.Units[i:end] {
			tokens += s.Meter.View(u.Messages)
		}
		if free { // pinned messages and instructions in force are shown after the digest, too
			held := s.HeldMessages(s.Units[i].From, s.Units[end-1].To)
			b.cover.AddMessages(held)
			n := s.Meter.View(held)
			tokens, carried = max(tokens-n, 0), carried+n
			b.groups = append(b.groups, oldGroup{units: [2]int{i, end},
				span: [2]int{s.Units[i].From, s.Units[end-1].To}, tokens: tokens})
			used -= tokens
		} else {
			b.cover.AddUnits(s.Units[i:end])
		}
		i = end
	}
	b.room = b.roomFor(used-carried, carried)
	b.recordTexts()
	return b
}

// roomFor returns the tokens left of the target after the kept messages and after the items in
// force of other messages (carried), which no rung shortens. The user's text and the message to be
// answered take at most two fifths of the target; other kept content takes at most a share of the
// rest, since later rungs may squeeze it.
func (b *boundary) roomFor(kept, carried int) float64 {
	s := b.s
	words := 0
	s.EachOriginal(func(i int, m precis.Message, _ precis.Unit) {
		if !s.Kept.Message(i) {
			return
		}
		if retain.Pending(s, i) {
			words += s.Meter.View([]precis.Message{m})
			return
		}
		for _, k := range m.UserBlocks() {
			words += s.Meter.Block(m.Role, m.Content[k])
		}
		for _, a := range s.Transcript.Speech().Answers(i) {
			words += s.Meter.Block(m.Role, s.Transcript.At(i).Content[a.Handle.Block])
		}
	})
	target := s.Target - s.Budget.Overhead - carried
	free := max(target-min(words, target*2/5), 0)
	return float64(free - min(max(kept-words, 0), int(float64(free)*tailShare(s))))
}

// recordTexts records the texts of each group as lines.
func (b *boundary) recordTexts() {
	bytes, g := 0, 0
	for i := range b.x.Texts {
		bytes += len(b.x.Texts[i].Body)
	}
	total := b.s.Meter.View(b.s.Transcript.Messages())
	b.perTok = float64(total) / float64(max(bytes, 1))
	stuck := b.recordReplaced()
	b.small = make([]bool, len(b.x.Texts))
	b.layout, b.first = layoutFor(int(b.room), true), slices.Repeat([]int{-1}, len(b.x.Texts))
	for i := range b.x.Texts {
		t := &b.x.Texts[i]
		for g < len(b.groups) && b.groups[g].span[1] <= t.Handle.From {
			g++
		}
		if g == len(b.groups) {
			break
		}
		if t.Handle.From < b.groups[g].span[0] {
			continue
		}
		n := float64(len(t.Body))
		if t.Source == retain.SourceUser {
			b.groups[g].userTexts = append(b.groups[g].userTexts, i)
			b.groups[g].userTokens += float64(len(t.UserText()))*b.perTok + 4
		}
		share, isStuck := stuck[t.Handle]
		switch {
		case isStuck:
		case len(t.Body) <= bulky || t.Source == retain.SourceAssistant || t.Source == retain.SourceUser:
			b.small[i] = true
			b.groups[g].small = append(b.groups[g].small, i)
			b.groups[g].fixed += n * b.perTok
		default:
			b.groups[g].fixed += 30
		}
		b.first[i] = len(b.lines)
		for start, to := 0, quotableEnd(t); start < to; {
			end := min(b.layout.pieceEnd(t, start), to)
			if b.x.Mentions(i, start, end) || b.reuse.IsRecentEdit(i) {
				n := float64(end - start)
				b.lines = append(b.lines, retain.Piece{Text: i, Start: start, End: end,
					Cost: n*b.perTok + 1.5, Bonus: b.reuse.Worth(i, start, end)})
				b.groupOfLine = append(b.groupOfLine, g)
				b.stuck = append(b.stuck, share)
			}
			start = end
		}
	}
}

// linesOf returns the lines of a text of the groups, if they are divided by a layout.
func (b *boundary) linesOf(text int, at layout) (lines []retain.Piece, ok bool) {
	from := b.first[text]
	if from < 0 || at != b.layout {
		return nil, false
	}
	to := from
	for to < len(b.lines) && b.lines[to].Text == text {
		to++
	}
	return b.lines[from:to], true
}

// recordReplaced records the replacements that the view already has and that cannot be pruned further. It
// returns the share of each replaced block that is shown.
func (b *boundary) recordReplaced() map[precis.Handle]float64 {
	out := map[precis.Handle]float64{}
	for g := range b.groups {
		grp := &b.groups[g]
		for _, u := range b.s.Units[grp.units[0]:grp.units[1]] {
			switch {
			case !u.Original():
				b.hiddenBlocks(grp, u, out)
			case u.Changed:
				b.changedBlocks(grp, u, out)
			}
		}
	}
	return out
}

// hiddenBlocks records a digest, a summary or a marker.
func (b *boundary) hiddenBlocks(grp *oldGroup, u precis.Unit, out map[precis.Handle]float64) {
	said := b.s.Transcript.Messages()[u.From:u.To]
	tokens := b.s.Meter.View(u.Messages)
	grp.fixed += float64(tokens)
	grp.replacements = append(grp.replacements, u.Messages...)
	share := shareOf(tokens, b.s.Meter.View(said))
	for i, m := range said {
		for k := range m.Content {
			out[precis.BlockHandle(u.From+i, k)] = share
		}
	}
}

// changedBlocks records the previews and notes in a message, and the blocks
// left out of it.
func (b *boundary) changedBlocks(grp *oldGroup, u precis.Unit, out map[precis.Handle]float64) {
	said := b.s.Transcript.At(u.From)
	for k, block := range said.Content {
		h := precis.BlockHandle(u.From, k)
		at := slices.Index(u.OriginalIndexes, k)
		if at < 0 {
			out[h] = shareOf(0, 1)
			continue
		}
		now := u.Messages[0].Content[at]
		if precis.EqualBlocks(now, block) {
			continue
		}
		tokens := b.s.Meter.Block(said.Role, now)
		grp.fixed += float64(tokens)
		grp.replacements = append(grp.replacements,
			precis.Message{Role: said.Role, Content: []precis.Block{now}})
		out[h] = shareOf(tokens, b.s.Meter.Block(said.Role, block))
	}
}

// shareOf returns part/whole, limited to more than 0 and at most 1.
func shareOf(part, whole int) float64 {
	return min(max(float64(part)/float64(max(whole, 1)), 0.001), 1)
}

// bestBoundary returns how many groups to hide and how many tokens the digest should
// have. It evaluates a few boundaries only.
func (b *boundary) bestBoundary() (hide, size int) {
	total := 0
	for _, g := range b.groups {
		total += g.tokens
	}
	if float64(total) <= b.room {
		return 0, 0
	}
	most := -1.0
	for _, share := range []float64{0, 0.3, 0.5, 0.65, 0.8, 0.9, 1} {
		n, sum := 0, 0
		for n < len(b.groups) && float64(sum) < share*float64(total) {
			sum += b.groups[n].tokens
			n++
		}
		if v, tokens := b.value(n); v > most {
			most, hide, size = v, n, tokens
		}
	}
	return hide, size
}

// value returns the worth that the view keeps with the first n groups hidden,
// and the size of their digest; a negative value when the other groups do not
// fit.
func (b *boundary) value(n int) (value float64, size int) {
	room := b.room
	cover := b.cover.Clone()
	for _, g := range b.groups[n:] {
		room -= g.fixed
		for _, t := range g.small {
			cover.AddPiece(t, 0, len(b.x.Texts[t].Body))
		}
		cover.AddMessages(g.replacements)
	}
	userTokens := 0.0
	for _, g := range b.groups[:n] {
		userTokens += g.userTokens
		for _, t := range g.userTexts {
			cover.AddPiece(t, 0, len(b.x.Texts[t].Body))
		}
	}
	userTokens = min(userTokens, userShare*float64(b.s.Target), room*2/3)
	head := min(frame, room/4)
	if n > 0 {
		room -= head + userTokens
	}
	if room < 0 {
		return -1, 0
	}
	pieces := make([]retain.Piece, 0, len(b.lines))
	of := make([]int, 0, len(b.lines))
	for i, p := range b.lines {
		switch {
		case b.groupOfLine[i] >= n && b.small[p.Text]:
			value += p.Bonus
			continue
		case b.x.Texts[p.Text].Source == retain.SourceUser:
			continue
		case b.groupOfLine[i] >= n && b.stuck[i] > 0:
			value += p.Bonus * b.stuck[i]
			continue
		case b.groupOfLine[i] >= n:
			p.Cost -= 0.5
		}
		pieces, of = append(pieces, p), append(of, b.groupOfLine[i])
	}
	keep := b.x.Choose(pieces, b.worth, cover, room)
	spent := 0.0
	for i, k := range keep {
		if !k {
			continue
		}
		value += pieces[i].Bonus
		if of[i] < n {
			spent += pieces[i].Cost
		}
	}
	for f, w := range b.worth {
		if cover.Seen(f) {
			value += w
		}
	}
	return value, int(spent + userTokens + head)
}

// userShare is the largest share of the target for the user's own text.
const userShare = 0.3

// frame is the room in tokens for the parts of a digest other than its lines.
const frame = 300.0

// tailShare returns the share of the room that the newest messages may take. With a small target,
// older content is the better use of tokens, because the newest messages are often repeated soon
// anyway. Measured optimum: .5 at half the window, .3 at a quarter.
func tailShare(s *policy.Situation) float64 {
	const least, most = 0.3, 0.5
	target := float64(s.Target) / float64(max(s.Budget.Window.Tokens, 1))
	return min(max(least+(target-0.3)*(most-least)/(0.4-0.3), least), most)
}
