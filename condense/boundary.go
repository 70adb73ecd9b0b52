package condense

import (
	"slices"

	"precis"
	"precis/retain"
)

// boundary works out how many of the oldest groups a digest should stand for:
// as many as leave the most of what is expected to be needed again in the view.
// A group that stays keeps its form, which takes room, and its bulky texts as
// previews; one that goes leaves the lines worth most in the digest.
type boundary struct {
	s      *precis.Situation
	x      *retain.Index
	worth  []float64
	reuse  *retain.Reuser
	perTok float64 // tokens a byte

	groups []oldGroup
	room   float64 // tokens for all groups and the digest
	cover  *retain.Coverage
	lines  []retain.Piece // of all groups, in order; cost as in a digest
	of     []int          // the group of each line
	stuck  []float64      // 0, or the share of a line's text that is shown and cannot be pruned further
}

// oldGroup is a group that may be hidden.
type oldGroup struct {
	units  [2]int
	span   [2]int
	tokens int
	fixed  float64          // tokens that stay whatever is pruned
	small  []int            // texts too short to prune
	says   []int            // texts of the user
	asked  float64          // tokens of what the user says
	shown  []precis.Message // what stands for others already: previews, digests
}

// bulky is the size in bytes over which pruning shortens a text.
const bulky = 1000

func newBoundary(s *precis.Situation) *boundary {
	x, worth, reuse := retain.Of(s)
	b := &boundary{s: s, x: x, worth: worth, reuse: reuse, cover: x.Cover()}
	used := s.Used - s.Budget.Overhead
	for i := 0; i < len(s.Units); {
		end, free := group(s, i)
		tokens := 0
		for _, u := range s.Units[i:end] {
			tokens += s.Meter.View(u.Messages)
		}
		if free {
			b.groups = append(b.groups, oldGroup{units: [2]int{i, end}, span: [2]int{s.Units[i].From, s.Units[end-1].To}, tokens: tokens})
			used -= tokens
		} else {
			for _, u := range s.Units[i:end] {
				b.cover.Messages(u.Messages)
			}
		}
		i = end
	}
	b.room = b.roomFor(used)
	b.texts()
	return b
}

// roomFor returns what is left of the target beside what is kept. Of what is
// kept, all but the user's words and the message to be answered may be squeezed
// later, to half of the rest.
func (b *boundary) roomFor(kept int) float64 {
	s := b.s
	words := 0
	s.Original(func(i int, m precis.Message, _ precis.Unit) {
		if !s.Kept.Message(i) {
			return
		}
		if retain.Pending(s, i) {
			words += s.Meter.View([]precis.Message{m})
			return
		}
		for _, k := range m.UserBlocks() {
			if k < len(m.Content) {
				words += s.Meter.Block(m.Role, m.Content[k])
			}
		}
	})
	target := s.Target - s.Budget.Overhead
	free := max(target-min(words, target*2/5), 0)
	return float64(free - min(max(kept-words, 0), free/2))
}

// texts books the texts of each group as lines.
func (b *boundary) texts() {
	bytes, g := 0, 0
	for i := range b.x.Texts {
		bytes += len(b.x.Texts[i].Body)
	}
	total := b.s.Meter.View(b.s.Transcript.Messages())
	b.perTok = float64(total) / float64(max(bytes, 1))
	stuck := b.replaced()
	at := layoutFor(int(b.room))
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
		if t.Source == retain.User {
			b.groups[g].says = append(b.groups[g].says, i)
			b.groups[g].asked += n*b.perTok + 4
		}
		share, isStuck := stuck[t.Handle]
		switch {
		case isStuck:
		case len(t.Body) <= bulky || t.Source == retain.Said || t.Source == retain.User:
			b.groups[g].small = append(b.groups[g].small, i)
			b.groups[g].fixed += n * b.perTok
		default:
			b.groups[g].fixed += 30
		}
		for start := 0; start < len(t.Body); {
			end := at.lineEnd(t.Body, start)
			if b.x.Mentions(i, start, end) {
				n := float64(end - start)
				b.lines = append(b.lines, retain.Piece{Text: i, Start: start, End: end, Cost: n*b.perTok + 1.5, Bonus: b.reuse.Worth(i, start, end)})
				b.of = append(b.of, g)
				b.stuck = append(b.stuck, share)
			}
			start = end
		}
	}
}

// replaced books what stands for other content already: pruning does not make it
// smaller. It returns what share of each block that is so replaced is shown.
func (b *boundary) replaced() map[precis.Handle]float64 {
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

// hiddenBlocks books a digest, a summary or a marker.
func (b *boundary) hiddenBlocks(grp *oldGroup, u precis.Unit, out map[precis.Handle]float64) {
	said := b.s.Transcript.Messages()[u.From:u.To]
	tokens := b.s.Meter.View(u.Messages)
	grp.fixed += float64(tokens)
	grp.shown = append(grp.shown, u.Messages...)
	share := shareOf(tokens, b.s.Meter.View(said))
	for i, m := range said {
		for k := range m.Content {
			out[precis.BlockHandle(u.From+i, k)] = share
		}
	}
}

// changedBlocks books the previews and notes in a message, and what was left
// out of it.
func (b *boundary) changedBlocks(grp *oldGroup, u precis.Unit, out map[precis.Handle]float64) {
	said := b.s.Transcript.At(u.From)
	for k, block := range said.Content {
		h := precis.BlockHandle(u.From, k)
		at := slices.Index(u.Index, k)
		if at < 0 {
			out[h] = shareOf(0, 1)
			continue
		}
		now := u.Messages[0].Content[at]
		if precis.HashBlock(now) == precis.HashBlock(block) {
			continue
		}
		tokens := b.s.Meter.Block(said.Role, now)
		grp.fixed += float64(tokens)
		grp.shown = append(grp.shown, precis.Message{Role: said.Role, Content: []precis.Block{now}})
		out[h] = shareOf(tokens, b.s.Meter.Block(said.Role, block))
	}
}

// shareOf is a share more than 0 and 1 at most.
func shareOf(part, whole int) float64 {
	return min(max(float64(part)/float64(max(whole, 1)), 0.001), 1)
}

// best returns how many groups to hide and how many tokens the digest should
// have. It looks at a handful of boundaries.
func (b *boundary) best() (hide, size int) {
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

// value returns what the view would keep with the first n groups hidden, and
// the size of their digest; less than 0 when the others do not fit.
func (b *boundary) value(n int) (value float64, size int) {
	room := b.room
	cover := b.cover.Clone()
	for _, g := range b.groups[n:] {
		room -= g.fixed
		for _, t := range g.small {
			cover.Piece(t, 0, len(b.x.Texts[t].Body))
		}
		cover.Messages(g.shown)
	}
	asked := 0.0
	for _, g := range b.groups[:n] {
		asked += g.asked
		for _, t := range g.says {
			cover.Piece(t, 0, len(b.x.Texts[t].Body))
		}
	}
	asked = min(asked, askedShare*float64(b.s.Target), room*2/3)
	head := min(frame, room/4)
	if n > 0 {
		room -= head + asked
	}
	if room < 0 {
		return -1, 0
	}
	small := map[int]bool{}
	for _, g := range b.groups[n:] {
		for _, t := range g.small {
			small[t] = true
		}
	}
	pieces := make([]retain.Piece, 0, len(b.lines))
	of := make([]int, 0, len(b.lines))
	for i, p := range b.lines {
		switch {
		case small[p.Text]:
			value += p.Bonus
			continue
		case b.x.Texts[p.Text].Source == retain.User:
			continue
		case b.of[i] >= n && b.stuck[i] > 0:
			value += p.Bonus * b.stuck[i]
			continue
		case b.of[i] >= n:
			p.Cost -= 0.5
		}
		pieces, of = append(pieces, p), append(of, b.of[i])
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
	return value, int(spent + asked + head)
}

// askedShare is the most of the target that the user's words may take.
const askedShare = 0.3

// frame is the room in tokens for the parts of a digest beside its lines.
const frame = 300.0
