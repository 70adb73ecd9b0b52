package reduce

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

// Media replaces old images by a note, also inside tool results. Documents, sound and
// video stay, unless the API has refused a request for them.
type Media struct{}

// Name returns "media".
func (Media) Name() string { return "media" }

// Propose replaces all images outside the kept messages except the newest
// Settings.Fractions.MediaKeep.
func (Media) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	p := newProposal(s, precis.KindMedia)
	blocks := originals(s)
	keep := s.Settings.RungSettings.MediaKeep
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
			images := countMedia(block, s.Limits.AllMedia && m.Role == precis.RoleUser)
			if !ok || images == 0 {
				continue
			}
			if keep > 0 {
				keep -= images
				continue
			}
			if s.Kept.Block(u.From, b) {
				continue
			}
			note := withoutMedia(block, h, s.Limits.AllMedia)
			gain := s.Meter.Block(m.Role, block)
			if s.Limits.Images > 0 { // the number of images counts
				gain = max(gain, s.Meter.Block(m.Role, note)+1)
			}
			if p.blockOf(h, m.Role, gain, note) {
				n += images
			}
		}
	}
	what := "old image"
	p.edit.Report.Reason = "no old images"
	if s.Limits.AllMedia {
		what = "old attachment"
		p.edit.Report.Reason = "no old attachments"
	}
	if n > 0 {
		p.edit.Report.Reason = plural(n, what) + " replaced by a note"
	}
	return p.edit, nil
}

// countMedia counts the images of a block, with all the documents, sounds and videos.
func countMedia(b precis.Block, all bool) int {
	if r, ok := b.(precis.ToolResult); ok {
		n := 0
		for _, c := range r.Content {
			n += countMedia(c, all)
		}
		return n
	}
	if mediaNote(b, "", all) != "" {
		return 1
	}
	return 0
}

func withoutMedia(b precis.Block, h precis.Handle, all bool) precis.Block {
	if r, ok := b.(precis.ToolResult); ok {
		out := precis.ToolResult{ToolUseID: r.ToolUseID, IsError: r.IsError}
		for _, c := range r.Content {
			out.Content = append(out.Content, withoutMedia(c, h, all))
		}
		return out
	}
	if note := mediaNote(b, h.String(), all); note != "" {
		return precis.Text{Text: note}
	}
	return b
}

// mediaNote returns the note in place of an image, with all for any attachment; "" for another
// block.
func mediaNote(b precis.Block, handle string, all bool) string {
	if what := mediaName(b, all); what != "" {
		return fmt.Sprintf("[%s was shown here: %s.]", what, handle)
	}
	return ""
}

// mediaName names an image, with all any attachment: "A document (spec.pdf)"; "" for another block.
func mediaName(b precis.Block, all bool) string {
	switch b := b.(type) {
	case precis.Image:
		kind := cmp.Or(b.MediaType, "image")
		if b.Width > 0 && b.Height > 0 {
			kind += fmt.Sprintf(", %d×%d", b.Width, b.Height)
		}
		return fmt.Sprintf("An image (%s)", kind)
	case precis.Document:
		if all {
			return fmt.Sprintf("A document (%s)", cmp.Or(b.Title, b.MediaType, "file"))
		}
	case precis.Opaque:
		for _, kind := range []string{"audio", "video"} {
			if all && strings.Contains(b.Type, kind) {
				return "A message with " + kind
			}
		}
	}
	return ""
}
