// Package reduce holds the rungs of the ladder that write no summary. Start
// with [Dedupe], [Fold], [Media], [Shrink], [Truncate] and [Clip], in that order: least
// loss first. Each is a [precis.Strategy]: it looks at a situation and proposes
// an edit, and is stateless, deterministic and safe for concurrent use. Every
// text that replaces content states what is missing and carries the handle by
// which the original can be read again.
package reduce

import (
	"fmt"

	"precis"
)

// proposal collects the replacements of one edit and the tokens they save.
type proposal struct {
	s     *precis.Situation
	edit  precis.Edit
	saved int
}

func newProposal(s *precis.Situation, kind precis.EditKind) *proposal {
	return &proposal{s: s, edit: precis.Edit{Kind: kind}}
}

// block replaces a block when that saves tokens. A nil with leaves it out.
func (p *proposal) block(h precis.Handle, role precis.Role, old, with precis.Block) bool {
	return p.blockOf(h, role, p.s.Meter.Block(role, old), with)
}

// blockOf is block, given the tokens that the replacement saves.
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

// shown holds the blocks of the transcript that the view shows.
type shown map[precis.Handle]precis.Block

// originals returns the blocks that the view shows unchanged.
func originals(s *precis.Situation) shown {
	out := shown{}
	s.Original(func(i int, _ precis.Message, u precis.Unit) {
		said := s.Transcript.At(i).Content
		for b, block := range u.Blocks() {
			if !u.Changed || precis.EqualBlocks(block, said[b]) {
				out[precis.BlockHandle(i, b)] = block
			}
		}
	})
	return out
}

// current returns every block of original messages as the view shows it.
func current(s *precis.Situation) shown {
	out := shown{}
	s.Original(func(i int, _ precis.Message, u precis.Unit) {
		for b, block := range u.Blocks() {
			out[precis.BlockHandle(i, b)] = block
		}
	})
	return out
}

// withText returns b with its text replaced: a text block, or a tool result
// whose identity stays.
func withText(b precis.Block, text string) precis.Block {
	if r, ok := b.(precis.ToolResult); ok {
		return precis.ToolResult{ToolUseID: r.ToolUseID, IsError: r.IsError, Content: []precis.Block{precis.Text{Text: text}}}
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
	return []string{Dedupe{}.Name(), Fold{}.Name(), Media{}.Name(), Prune{}.Name(), Squeeze{}.Name(), Truncate{}.Name(), Clip{}.Name()}
}
