// Package reduce answers: what can a view lose without a summary? It holds the rungs of the ladder
// that write none. Start with [Dedupe], [Fold], [Media], [Shrink], [Truncate] and [Clip], in that
// order: least loss first. Each is a [policy.Strategy]: it looks at a situation and proposes an
// edit, and is stateless, deterministic and safe for concurrent use. Every text that replaces
// content names the missing part and has the handle for reading the original again.
package reduce

import (
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// proposal collects the replacements of one edit and the tokens they save.
type proposal struct {
	s     *policy.Situation
	edit  precis.Edit
	saved int
}

func newProposal(s *policy.Situation, kind precis.EditKind) *proposal {
	return &proposal{s: s, edit: precis.Edit{Kind: kind}}
}

// block replaces a block when that saves tokens. A nil with drops it.
func (p *proposal) block(h precis.Handle, role precis.Role, old, with precis.Block) bool {
	return p.blockOf(h, role, p.s.Meter.Block(role, old), with)
}

// blockOf is block with the tokens that the replacement saves.
func (p *proposal) blockOf(h precis.Handle, role precis.Role, gain int, with precis.Block) bool {
	if with != nil {
		gain -= p.s.Meter.Block(role, with)
	}
	if gain <= 0 {
		return false
	}
	p.edit.Replace = append(p.edit.Replace, precis.ReplaceBlock(p.s.Transcript, h.From, h.Block, with))
	p.saved += gain
	return true
}

// shown holds the blocks of the transcript that the view shows. A message that is shown unchanged,
// as nearly all are, takes one bool.
type shown struct {
	t      *precis.Transcript
	whole  []bool                         // by message: its blocks are the transcript's
	blocks map[precis.Handle]precis.Block // of the other messages
}

// shownBy returns the blocks of the original messages in the view for which keep is true. It calls
// keep only for messages with a replaced block.
func shownBy(s *policy.Situation, keep func(i, b int, block precis.Block) bool) shown {
	out := shown{t: s.Transcript, whole: make([]bool, s.Transcript.Len()),
		blocks: map[precis.Handle]precis.Block{}}
	s.EachOriginal(func(i int, _ precis.Message, u precis.Unit) {
		if out.whole[i] = !u.Changed; out.whole[i] {
			return
		}
		for b, block := range u.Blocks() {
			if keep(i, b, block) {
				out.blocks[precis.BlockHandle(i, b)] = block
			}
		}
	})
	return out
}

// originals returns the blocks that the view shows unchanged.
func originals(s *policy.Situation) shown {
	return shownBy(s, func(i, b int, block precis.Block) bool {
		return precis.EqualBlocks(block, s.Transcript.At(i).Content[b])
	})
}

// current returns every block of original messages as the view shows it.
func current(s *policy.Situation) shown {
	return shownBy(s, func(int, int, precis.Block) bool { return true })
}

// get returns a block; ok is false when it is not shown.
func (s *shown) get(h precis.Handle) (block precis.Block, ok bool) {
	if !s.whole[h.From] {
		block, ok = s.blocks[h]
		return block, ok
	}
	content := s.t.At(h.From).Content
	if h.Block < 0 || h.Block >= len(content) {
		return nil, false
	}
	return content[h.Block], true
}

// block returns a block; nil when it is not shown.
func (s *shown) block(h precis.Handle) precis.Block {
	b, _ := s.get(h)
	return b
}

// put shows the original of a block, or, if hidden, no longer the block.
func (s *shown) put(h precis.Handle, hidden bool) {
	content := s.t.At(h.From).Content
	if s.whole[h.From] {
		s.whole[h.From] = false
		for b, block := range content {
			s.blocks[precis.BlockHandle(h.From, b)] = block
		}
	}
	if hidden {
		delete(s.blocks, h)
		return
	}
	s.blocks[h] = content[h.Block]
}

// withText returns b with its text replaced: a text block, or a tool result that keeps its
// identity.
func withText(b precis.Block, text string) precis.Block {
	if r, ok := b.(precis.ToolResult); ok {
		return precis.ToolResult{ToolUseID: r.ToolUseID, IsError: r.IsError,
			Content: []precis.Block{precis.Text{Text: text}}}
	}
	return precis.Text{Text: text}
}

// textOf returns the text of a text block or tool result.
func textOf(b precis.Block) (string, bool) {
	switch b := b.(type) {
	case precis.Text:
		return b.Text, true
	case precis.ToolResult:
		return b.Text(), true
	}
	return "", false
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Names returns the names of the rungs of this package, least loss first.
func Names() []string {
	return []string{Dedupe{}.Name(), Fold{}.Name(), Media{}.Name(), Prune{}.Name(), Squeeze{}.Name(),
		Truncate{}.Name(), Clip{}.Name()}
}
