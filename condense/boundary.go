package condense

import (
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
}

// oldGroup is a group that may be hidden.
type oldGroup struct {
	units  [2]int
	span   [2]int
	tokens int
	fixed  float64 // tokens that stay whatever is pruned
	small  []int   // texts too short to prune
	asked  float64 // tokens of what the user says
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
// kept, all but the user's words may be squeezed later, to half of the rest.
func (b *boundary) roomFor(kept int) float64 {
	s := b.s
	words := 0
	s.Original(func(i int, m precis.Message, _ precis.Unit) {
		if !s.Kept.Message(i) {
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
	for i := range b.x.Texts {
		t := &b.x.Texts[i]
		for g < len(b.groups) && b.groups[g].span[1] <= t.Handle.From {
			g++
		}
		if g == len(b.groups) {
			break
		}
		if t.Handle.From < b.groups[g].span[0] || !b.s.Units[b.unit(g, t.Handle.From)].Original() {
			continue
		}
		n := float64(len(t.Body))
		if t.Source == retain.User {
			b.groups[g].asked += n*b.perTok + 4
		}
		if len(t.Body) <= bulky || t.Source == retain.Said || t.Source == retain.User {
			b.groups[g].small = append(b.groups[g].small, i)
			b.groups[g].fixed += n * b.perTok
		} else {
			b.groups[g].fixed += 30
		}
		for start := 0; start < len(t.Body); {
			end := lineEnd(t.Body, start)
			if b.x.Mentions(i, start, end) {
				n := float64(end - start)
				b.lines = append(b.lines, retain.Piece{Text: i, Start: start, End: end, Cost: n*b.perTok + 1.5, Bonus: b.reuse.Worth(i, start, end)})
				b.of = append(b.of, g)
			}
			start = end
		}
	}
}

// unit returns the unit of a group that shows a message.
func (b *boundary) unit(g, message int) int {
	i := b.groups[g].units[0]
	for b.s.Units[i].To <= message {
		i++
	}
	return i
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
		if v, tokens := b.value(n); v > most*1.01 {
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
	}
	asked := 0.0
	for _, g := range b.groups[:n] {
		asked += g.asked
		for _, t := range g.small {
			if b.x.Texts[t].Source == retain.User {
				cover.Piece(t, 0, len(b.x.Texts[t].Body))
			}
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
		case b.of[i] >= n:
			p.Cost -= 0.5
		}
		pieces, of = append(pieces, p), append(of, b.of[i])
	}
	keep := b.x.Choose(pieces, b.worth, cover, room, 0)
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
