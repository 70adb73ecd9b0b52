package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/digest"
	"precis/internal/content"
	"precis/retain"
)

// Rung is the name, in reports, of the edit by which a conversation is given what the
// summary that it begins with lacks.
const Rung = "bridge"

// Part is one of the conversations that a summary stands for.
type Part struct {
	ID       string
	System   precis.Message
	Messages []precis.Message // what the client has taken back is empty
}

// NewPart returns a conversation as one of those that a summary stands for. The summary that
// it begins with itself, the longest text of the message at summary, is left out, since what that was made of
// is a part of its own; -1: there is none.
func NewPart(conv *precis.Conversation, summary int) Part {
	p := Part{ID: conv.ID, System: conv.System, Messages: retain.Alive(conv.Transcript, conv.Edits)}
	if summary >= 0 && summary < len(p.Messages) {
		p.Messages = slices.Clone(p.Messages)
		p.Messages[summary] = withoutSummary(p.Messages[summary])
	}
	return p
}

// withoutSummary returns a message without its longest text.
func withoutSummary(m precis.Message) precis.Message {
	longest, size := -1, -1
	for i, b := range m.Content {
		if t, ok := b.(precis.Text); ok && len(t.Text) > size {
			longest, size = i, len(t.Text)
		}
	}
	out := precis.Message{Role: m.Role, Format: m.Format}
	for i, b := range m.Content {
		if i != longest {
			out.Content = append(out.Content, b)
		}
	}
	return out
}

// Size is how many bytes the conversation says.
func (p Part) Size() (n int) {
	for _, m := range p.Messages {
		n += content.Size(m.Content)
	}
	return n
}

// Lack is what a conversation that goes on from a summary does not hold of those before
// it.
type Lack struct {
	Text   string           // for the model; "": it lacks nothing
	Added  []string         // what Text gives back, one line each
	Before precis.Retention // of what the summary and everything beside it hold, with Text
}

// mostNow is how many bytes of a conversation that has just begun are looked at.
const mostNow = 4 << 20

// Missing looks for what a conversation lacks of those before it, the oldest first: rules
// of the user, the last request, files that were written, and the facts most likely to
// be needed again, in at most room tokens of four characters; and for what the summary says that they
// contradict or do not hold. Now are the conversation's first messages: the summary, which stands at at, and what
// the client has kept beside it.
func Missing(before []Part, now []precis.Message, at Place, room int) Lack {
	if len(before) == 0 || room <= 0 {
		return Lack{}
	}
	var all []precis.Message
	for _, p := range before {
		all = append(all, p.Messages...)
	}
	summary, _ := now[at.Message].Content[at.Block].(precis.Text)
	var words []string
	size := 0
	for i, m := range now {
		blocks := m.Content
		if i == at.Message {
			blocks = slices.Delete(slices.Clone(blocks), at.Block, at.Block+1)
		}
		if size += content.Size(blocks); size > mostNow {
			break
		}
		words = append(words, content.Words(blocks))
	}
	last := before[len(before)-1]
	intro := fmt.Sprintf("\n\n[What the summary above lacks, by precis from the conversation that it stands for, %s. It is a record of what was said and done there, not a new instruction. %s names message 12 of it.]\n",
		last.ID, Handle(last.ID, precis.MessageHandle(12)))
	r := digest.Repair(precis.SummaryRequest{
		Conversation: &precis.Conversation{System: last.System}, Messages: all, Previous: summary.Text, MaxTokens: digest.Estimate(summary.Text) + room - digest.Estimate(intro),
	}, digest.RepairOptions{Handle: func(i int) string { return handleIn(before, i) }, Beside: strings.Join(words, "\n\n")})
	out := Lack{Added: r.Added, Before: r.Kept}
	if more, _ := strings.CutPrefix(r.Text, summary.Text); strings.TrimSpace(more) != "" {
		out.Text = intro + strings.TrimSpace(more)
	}
	return out
}

// handleIn names message i of all parts.
func handleIn(parts []Part, i int) string {
	for _, p := range parts {
		if i < len(p.Messages) {
			return Handle(p.ID, precis.MessageHandle(i))
		}
		i -= len(p.Messages)
	}
	return precis.MessageHandle(i).String()
}

// shortID is how many letters of an ID stand in handles.
const shortID = 6

// Handle names content of another conversation: c3f9ab:m12.
func Handle(id string, h precis.Handle) string {
	return Prefix(id) + h.String()
}

// Prefix is what handles of another conversation begin with.
func Prefix(id string) string { return id[:min(len(id), shortID)] + ":" }

// Edit is the edit that shows a lack behind the summary of a conversation.
func Edit(t *precis.Transcript, at Place, lack Lack) precis.Edit {
	m := t.At(at.Message)
	with := precis.Message{Role: m.Role, Content: slices.Clone(m.Content), Format: m.Format} // other blocks keep their bytes
	summary, _ := m.Content[at.Block].(precis.Text)
	with.Content[at.Block] = precis.Text{Text: summary.Text + lack.Text}
	k := lack.Before
	return precis.Edit{
		Kind: precis.KindCondensation, At: t.Fingerprint(t.Len()), Seen: t.Len(),
		Replace: []precis.Replacement{{From: at.Message, To: at.Message + 1, With: []precis.Message{with}}},
		Report: precis.EditReport{
			Rung: Rung, Reason: fmt.Sprintf("the client's own summary of %s lacked %d of %d facts likely to be needed", at.Conversation, k.Anchors-k.Kept+k.Repaired, k.Anchors),
			Messages: 1, Notes: lack.Added, Likely: k.Anchors, Held: k.Kept - k.Repaired, Repaired: k.Repaired,
		},
	}
}

// LeastDigest is the smallest digest that says something, in tokens.
const LeastDigest = 300

// Digest writes what conversations held, the oldest first, in at most so many tokens of
// four characters.
func Digest(ctx context.Context, parts []Part, tokens int) (string, error) {
	var all []precis.Message
	for _, p := range parts {
		all = append(all, p.Messages...)
	}
	last := parts[len(parts)-1]
	s, err := digest.Writer{Handle: func(i int) string { return handleIn(parts, i) }}.Summarize(ctx, precis.SummaryRequest{
		Conversation: &precis.Conversation{System: last.System}, Messages: all, MaxTokens: tokens,
	})
	return s.Text, err
}
