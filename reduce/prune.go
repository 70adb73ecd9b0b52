package reduce

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// Prune shortens old bulky content, tool results first, to a preview, until the view is at its
// target. A preview states what the text was and shows the lines with the most worth. Worth
// combines the prediction of package retain, which facts the agent will need again, with the parts
// that identify the text for a reader: signatures, errors, names. Each preview has the handle for
// reading the original again.
type Prune struct {
	// Preview writes the preview of a result; nil, or a result of "", means the
	// built-in preview. It must be a pure function and safe for concurrent use.
	Preview func(tool, path, text string) string
}

// Name returns "prune".
func (Prune) Name() string { return "prune" }

// Propose shortens the content with the least worth for its size.
func (p Prune) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	r := newPruner(p, s)
	r.findPrunable(before(s, isFold))
	return r.report(r.prune(s.Excess()).edit), nil
}

// Squeeze prunes kept messages, too, when the view does not fit otherwise, e.g.
// because one result is larger than the window. User text and pins stay; high
// worth does not exempt a result.
type Squeeze struct{ Prune }

// Name returns "squeeze".
func (Squeeze) Name() string { return "squeeze" }

// Traits returns what the ladder has to know of the rung.
func (Squeeze) Traits() policy.Traits { return policy.Traits{LastResort: true, StopsAtLimit: true} }

// Propose shortens the content with the least worth for its size, kept or not. The message to be
// answered, which no model has read, stays whole if the view fits with it. Otherwise it is
// shortened with the others, and all of them only until the view fits: going down to the target
// would hide content that the model asked for and has not seen.
func (q Squeeze) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	unread, over := s.Transcript.Len()-1, s.Used-s.Fit()
	if over <= 0 { // requested although the view fits
		over = s.Excess()
	}
	if unread >= 0 && s.Meter.View([]precis.Message{s.Transcript.At(unread)}) < s.Fit() {
		r := q.pruner(s, func(message int) bool { return message == unread })
		if p := r.prune(over); p.saved >= over {
			return r.report(p.edit), nil
		}
	}
	r := q.pruner(s, func(message int) bool { return retain.Pending(s, message) })
	return r.report(r.prune(over).edit), nil
}

func (q Squeeze) pruner(s *policy.Situation, spared func(message int) bool) *pruner {
	r := newPruner(q.Prune, s)
	r.deep, r.minChars, r.errorsOver, r.spared = true, squeezeOver, squeezeOver, spared
	r.findPrunable(before(s, func(e precis.Edit) bool { return e.Kind == precis.KindPruning || isFold(e) }))
	return r
}

// before returns the original blocks of the view, including blocks that edits for which made is
// true have changed.
func before(s *policy.Situation, made func(precis.Edit) bool) shown {
	out := originals(s)
	visible := make([]bool, s.Transcript.Len())
	s.EachOriginal(func(i int, _ precis.Message, _ precis.Unit) { visible[i] = true })
	for _, e := range precis.Active(s.Edits) {
		for _, p := range e.Replace {
			if p.Block == nil || !visible[p.From] {
				continue
			}
			if at := blockIndex(s.Transcript, p.From, *p.Block); at >= 0 {
				out.put(precis.BlockHandle(p.From, at), !made(e))
			}
		}
	}
	return out
}

func isFold(e precis.Edit) bool { return e.Report.Rung == Fold{}.Name() }

// blockIndex returns the index of the block of message i that ref names, also after it has
// moved; -1 when it is missing.
func blockIndex(t *precis.Transcript, i int, ref precis.BlockRef) int {
	n := len(t.At(i).Content)
	if ref.Index >= 0 && ref.Index < n && t.HashBlock(i, ref.Index) == ref.Hash {
		return ref.Index
	}
	for b := range n {
		if t.HashBlock(i, b) == ref.Hash {
			return b
		}
	}
	return -1
}

// squeezeOver is the size in characters over which results are squeezed.
const squeezeOver = 200

func newPruner(p Prune, s *policy.Situation) *pruner {
	f := s.Settings.RungSettings
	r := &pruner{Prune: p, s: s, minChars: max(f.PruneOver, squeezeOver), errorsOver: f.ErrorsOver}
	r.x, r.worth, r.reuse = retain.Of(s)
	return r
}

// pruned is one block that may be shortened.
type pruned struct {
	h           precis.Handle
	role        precis.Role
	block       precis.Block
	fullTokens  int // tokens
	shownTokens int // tokens as the view shows it
	parts       []part
}

// part is one text of a block in pieces.
type part struct {
	text  int // index in Index.Texts
	split preview.Split
	first int // index of its first piece in pruner.pieces
}

type pruner struct {
	Prune
	minChars    int  // shorter results are left alone, in characters
	errorsOver  int  // shorter results that are errors
	deep        bool // kept content may be shortened, too, except spared messages
	spared      func(message int) bool
	s           *policy.Situation
	x           *retain.Index
	worth       []float64
	reuse       *retain.ReusePredictor
	cover       *retain.Coverage
	current     shown // every block as the view shows it
	copies      *retain.LineSet
	blocks      []pruned
	pieces      []retain.Piece
	shownTokens int // tokens of blocks as the view shows them
}

// findPrunable finds the blocks that may be shortened and adds everything else that
// the view shows to the coverage.
func (r *pruner) findPrunable(view shown) {
	r.cover = r.x.NewCoverage()
	r.current = current(r.s)
	r.copies = retain.NewLineSet()
	last := r.newest()
	for i := 0; i < len(r.x.Texts); {
		h := r.x.Texts[i].Handle
		end := i + 1
		for end < len(r.x.Texts) && r.x.Texts[end].Handle == h {
			end++
		}
		if b, ok := view.get(h); ok {
			r.block(h, b, i, end, last)
		}
		i = end
	}
	r.split()
	for _, u := range r.s.Units {
		if !u.Original() || u.Changed {
			r.cover.AddMessages(u.Messages)
		}
	}
}

// newest reports which calls are among the last of their tool, of tools for
// which a policy keeps the last calls.
func (r *pruner) newest() map[int32]bool {
	keep, seen := map[int32]bool{}, map[string]int{}
	for i := len(r.x.Calls) - 1; i >= 0; i-- {
		name := r.x.Calls[i].Name
		if seen[name]++; seen[name] <= r.s.Settings.Tools[name].KeepLast {
			keep[int32(i)] = true
		}
	}
	return keep
}

// block adds the block with texts [from,to) to the targets if it may be
// shortened, else to the coverage.
func (r *pruner) block(h precis.Handle, b precis.Block, from, to int, last map[int32]bool) {
	role := r.s.Transcript.At(h.From).Role
	t := pruned{h: h, role: role, block: b}
	if r.deep && !r.s.Kept.PinnedBlock(h.From, h.Block) && !r.spared(h.From) ||
		!r.s.Kept.Block(h.From, h.Block) {
		for i := from; i < to; i++ {
			if r.bulky(i, last) {
				t.parts = append(t.parts, r.partOf(i))
			}
		}
	}
	cut := map[int]bool{}
	for _, p := range t.parts {
		cut[p.text] = true
	}
	for i := from; i < to; i++ {
		if !cut[i] {
			r.cover.AddPiece(i, 0, len(r.x.Texts[i].Body))
			r.copies.Add(r.x.Texts[i].Body)
		}
	}
	if len(t.parts) == 0 {
		return
	}
	t.fullTokens = r.s.Meter.Block(role, b)
	t.shownTokens = t.fullTokens
	if u, ok := r.current.get(h); ok {
		t.shownTokens = r.s.Meter.Block(role, u)
	}
	r.shownTokens += t.shownTokens
	r.blocks = append(r.blocks, t)
}

// split splits the texts into pieces, the newest first, since of several copies
// only the newest counts.
func (r *pruner) split() {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		b := &r.blocks[i]
		bytes := 0
		for _, p := range b.parts {
			bytes += len(r.x.Texts[p.text].Body)
		}
		perByte := float64(b.fullTokens) / float64(max(bytes, 1))
		for k := range b.parts {
			r.addPieces(&b.parts[k], perByte)
			r.copies.Add(r.x.Texts[b.parts[k].text].Body)
		}
	}
}

// longText is the size in bytes over which text of the agent or its program is
// squeezed.
const longText = 1000

// bulky reports whether a text may be shortened.
func (r *pruner) bulky(i int, last map[int32]bool) bool {
	t := &r.x.Texts[i]
	over := r.minChars
	switch t.Source {
	case retain.SourceWritten, retain.SourceArguments:
		over = r.s.Settings.RungSettings.ShrinkOver
		if r.deep {
			over = squeezeOver
		} else if over == 0 {
			return false
		}
	case retain.SourceAssistant, retain.SourceHarness:
		if r.deep {
			return len(t.Body) > longText && !r.newestAnswer(t)
		}
		return longer(t.Body, max(over, longText)) && hasFence(t.Body)
	case retain.SourceUser:
		return longer(t.Body, max(over, longText)) && hasFence(t.Body) && !r.s.Kept.Message(t.Handle.From)
	}
	if t.Call >= 0 {
		c := &r.x.Calls[t.Call]
		rule := r.s.Settings.Tools[c.Name]
		if !r.deep && (rule.Never || last[t.Call]) {
			return false
		}
		isResult := t.Source >= retain.SourceFile
		if rule.Over > 0 && isResult && !r.deep {
			over = rule.Over
		}
		if c.IsError && isResult {
			over = max(over, r.errorsOver)
		}
	}
	return longer(t.Body, over)
}

// newestAnswer reports whether a text is from the agent's last message, to which the user may
// reply, and takes at most an eighth of the target.
func (r *pruner) newestAnswer(t *retain.Text) bool {
	msgs := r.s.Transcript.Messages()
	for i := t.Handle.From + 1; i < len(msgs); i++ {
		if msgs[i].Role == precis.RoleAssistant {
			return false
		}
	}
	return t.Source == retain.SourceAssistant &&
		r.s.Meter.Block(precis.RoleAssistant, precis.Text{Text: t.Body}) <= r.s.Target/8
}

// longer reports whether a text has more than n characters.
func longer(text string, n int) bool { return len(text) > n && utf8.RuneCountInString(text) > n }

func (r *pruner) partOf(i int) part {
	t := &r.x.Texts[i]
	var h preview.Hint
	if t.Call >= 0 {
		c := &r.x.Calls[t.Call]
		h = preview.Hint{Path: c.Path, Tool: c.Name, Command: c.Line, IsError: c.IsError}
	}
	if t.Source == retain.SourceUser ||
		!r.deep && (t.Source == retain.SourceAssistant || t.Source == retain.SourceHarness) {
		return part{text: i, split: fences(t.Body)}
	}
	return part{text: i, split: withAppended(joined(preview.Of(t.Body, h)), t.Body)}
}

// withAppended keeps the texts in force that a program appended to a result, even if the text
// before them is cut.
func withAppended(s preview.Split, body string) preview.Split {
	lists, from := harness.Appended(body)
	if len(lists) == 0 {
		return s
	}
	s.Pieces = slices.DeleteFunc(s.Pieces, func(p preview.Piece) bool { return p.Start >= from })
	if n := len(s.Pieces); n > 0 {
		s.Pieces[n-1].End = min(s.Pieces[n-1].End, from)
	}
	s.Pieces = append(s.Pieces, preview.Piece{Start: from, End: len(body), Class: fixed})
	return s
}

// leastPiece is the size in bytes up to which a line is joined with the next:
// alone it has too little context.
const leastPiece = 70

// joined joins short pieces with the pieces that follow, headlines excepted.
func joined(s preview.Split) preview.Split {
	var out []preview.Piece
	for _, p := range s.Pieces {
		if n := len(out) - 1; n >= 0 && p.Class < preview.Headline && out[n].Class < preview.Headline &&
			out[n].End-out[n].Start < leastPiece {
			out[n].End = p.End
			out[n].Class = max(out[n].Class, p.Class)
			continue
		}
		out = append(out, p)
	}
	s.Pieces = out
	return s
}

// headlineWorth is the worth that a headline has in addition to its facts, as a
// multiple of the average worth of all facts for its size.
const headlineWorth = 2.0

func (r *pruner) addPieces(p *part, perByte float64) {
	p.first = len(r.pieces)
	mean := r.mean()
	for _, piece := range p.split.Pieces {
		n := float64(piece.End - piece.Start)
		c := retain.Piece{Text: p.text, Start: piece.Start, End: piece.End, Cost: n*perByte + 1}
		c.Bonus = r.reuse.Worth(p.text, piece.Start,
			piece.End) * r.copies.NewShare(r.x.Texts[p.text].Body[piece.Start:piece.End])
		switch piece.Class {
		case fixed:
			c.Bonus = 1e9
		case preview.Headline:
			c.Bonus += headlineWorth * mean * c.Cost
		case preview.Noise:
			c.Bonus = 0
		}
		r.pieces = append(r.pieces, c)
	}
}

// mean is the worth of one token if all facts were spread evenly over the
// window.
func (r *pruner) mean() float64 {
	sum := 0.0
	for _, w := range r.worth {
		sum += w
	}
	return sum / float64(max(r.s.Budget.Window.Tokens, 1))
}

// prune chooses which pieces stay and renders them, with a smaller budget each
// time until the excess, in tokens, is saved.
func (r *pruner) prune(excess int) *proposal {
	notes := 30 * len(r.blocks)
	budget := float64(r.shownTokens - excess - notes)
	var best *proposal
	for try := range 8 { // the rendered size differs from the estimate
		p := r.render(r.x.Choose(r.pieces, r.worth, r.cover.Clone(), budget))
		over := excess - p.saved
		if best == nil || best.saved < excess && p.saved > best.saved || over <= 0 && p.saved < best.saved {
			best = p
		}
		if over <= 0 && (try >= 3 || -over < r.s.Target/100) || over > 0 && budget <= 0 {
			break
		}
		budget -= float64(over) + float64(max(over, 0)*(1+try*try))/20
	}
	return best
}

func (r *pruner) report(e precis.Edit) precis.Edit {
	e.Report.Reason = "no old result is long"
	if n := len(e.Replace); n > 0 {
		e.Report.Reason = fmt.Sprintf("%s shortened to previews", plural(n, "old block"))
	}
	return e
}

func (r *pruner) render(keep []bool) *proposal {
	p := newProposal(r.s, precis.KindPruning)
	for i := range r.blocks {
		b := &r.blocks[i]
		if with := r.shortened(b, keep); with != nil {
			p.blockOf(b.h, b.role, b.shownTokens, with)
		}
	}
	return p
}
