package reduce

import (
	"context"
	"fmt"

	"precis"
)

// Media replaces old images by a note, also inside tool results. Documents
// stay.
type Media struct{}

// Name returns "media".
func (Media) Name() string { return "media" }

// Propose replaces all images outside the kept messages except the newest
// Settings.Fractions.MediaKeep.
func (Media) Propose(_ context.Context, s *precis.Situation) (precis.Edit, error) {
	p := newProposal(s, precis.KindMedia)
	blocks := originals(s)
	keep := s.Settings.Fractions.MediaKeep
	n := 0
	for i := len(s.Units) - 1; i >= 0; i-- {
		u := s.Units[i]
		if !u.Original() {
			continue
		}
		m := s.Transcript.At(u.From)
		for b := len(m.Content) - 1; b >= 0; b-- {
			h := precis.BlockHandle(u.From, b)
			block, ok := blocks.get(h)
			images := countImages(block)
			if !ok || images == 0 {
				continue
			}
			if keep > 0 {
				keep -= images
				continue
			}
			if !s.Kept.Block(u.From, b) && p.block(h, m.Role, block, withoutImages(block, h)) {
				n += images
			}
		}
	}
	p.edit.Report.Reason = "no old images"
	if n > 0 {
		p.edit.Report.Reason = plural(n, "old image") + " replaced by a note"
	}
	return p.edit, nil
}

func countImages(b precis.Block) int {
	switch b := b.(type) {
	case precis.Image:
		return 1
	case precis.ToolResult:
		n := 0
		for _, c := range b.Content {
			n += countImages(c)
		}
		return n
	}
	return 0
}

func withoutImages(b precis.Block, h precis.Handle) precis.Block {
	switch b := b.(type) {
	case precis.Image:
		return precis.Text{Text: imageNote(b, h)}
	case precis.ToolResult:
		out := precis.ToolResult{ToolUseID: b.ToolUseID, IsError: b.IsError}
		for _, c := range b.Content {
			out.Content = append(out.Content, withoutImages(c, h))
		}
		return out
	}
	return b
}

func imageNote(b precis.Image, h precis.Handle) string {
	size := ""
	if b.Width > 0 && b.Height > 0 {
		size = fmt.Sprintf(", %d×%d", b.Width, b.Height)
	}
	kind := b.MediaType
	if kind == "" {
		kind = "image"
	}
	return fmt.Sprintf("[An image (%s%s) was shown here: %s.]", kind, size, h)
}
