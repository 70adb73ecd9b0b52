package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/content"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// RungName is the name, in reports, of the edit that adds the missing facts to the summary at the
// beginning of a conversation.
const RungName = "bridge"

// Part is one of the conversations that a summary covers.
type Part struct {
	ID       string
	System   precis.Message
	Messages []precis.Message // messages that the client has taken back are empty
}

// newPart returns a conversation as a part that a summary covers. It omits the summary at the
// beginning of that conversation, which is the longest text of the message at index summary,
// because the summarized conversation is a part of its own; -1: there is no summary.
func newPart(conv *precis.Conversation, summary int) Part {
	p := Part{ID: conv.ID, System: conv.System, Messages: retain.WithoutRewound(conv.Transcript, conv.Edits)}
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

// size returns the bytes of the conversation's texts.
func (p Part) size() (n int) {
	for _, m := range p.Messages {
		n += content.Size(m.Content)
	}
	return n
}

// MissingContent is the content of earlier conversations that a conversation with their summary lacks.
type MissingContent struct {
	Text   string           // for the model; "": it lacks no content
	Added  []string         // the items of Text, one line each
	Before policy.Retention // of the facts in the summary and the other messages, including Text
}

// mostNow is how many bytes of a conversation that has just begun are read.
const mostNow = 4 << 20

// Missing finds the content of earlier conversations, the oldest first, that a conversation lacks:
// rules of the user, the last request, written files, and the facts most likely to be needed again,
// in at most room tokens of four characters. It also lists statements of the summary that they
// contradict or do not contain. Now are the conversation's first messages: the summary at the place
// at, and messages that the client kept in addition.
func Missing(before []Part, now []precis.Message, at Place, room int) MissingContent {
	if len(before) == 0 || room <= 0 {
		return MissingContent{}
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
		last.ID, QualifiedHandle(last.ID, precis.MessageHandle(12)))
	r := digest.Repair(policy.SummaryRequest{
		Conversation: &precis.Conversation{System: last.System}, Messages: all, Previous: summary.Text,
		MaxTokens: digest.EstimateTokens(summary.Text) + room - digest.EstimateTokens(intro),
	}, digest.RepairOptions{Handle: func(i int) string { return handleIn(before, i) },
		Beside: strings.Join(words, "\n\n")})
	out := MissingContent{Added: r.Added, Before: r.Retention}
	if more, _ := strings.CutPrefix(r.Text, summary.Text); strings.TrimSpace(more) != "" {
		out.Text = intro + strings.TrimSpace(more)
	}
	return out
}

// handleIn returns the handle of message i of all parts.
func handleIn(parts []Part, i int) string {
	for _, p := range parts {
		if i < len(p.Messages) {
			return QualifiedHandle(p.ID, precis.MessageHandle(i))
		}
		i -= len(p.Messages)
	}
	return precis.MessageHandle(i).String()
}

// shortID is how many letters of an ID are used in handles.
const shortID = 6

// QualifiedHandle names content of another conversation: c3f9ab:m12.
func QualifiedHandle(id string, h precis.Handle) string {
	return HandlePrefix(id) + h.String()
}

// HandlePrefix returns the beginning of handles of another conversation.
func HandlePrefix(id string) string { return id[:min(len(id), shortID)] + ":" }

// Edit returns the edit that appends a lack to the summary of a conversation.
func Edit(t *precis.Transcript, at Place, lack MissingContent) precis.Edit {
	m := t.At(at.Message)
	// other blocks keep their bytes
	with := precis.Message{Role: m.Role, Content: slices.Clone(m.Content), Format: m.Format}
	summary, _ := m.Content[at.Block].(precis.Text)
	with.Content[at.Block] = precis.Text{Text: summary.Text + lack.Text}
	k := lack.Before
	return precis.Edit{
		Kind: precis.KindCondensation, At: t.Fingerprint(t.Len()), Seen: t.Len(),
		Replace: []precis.Replacement{{From: at.Message, To: at.Message + 1, With: []precis.Message{with}}},
		Report: precis.EditReport{
			Rung: RungName, Reason: fmt.Sprintf("the client's own summary of %s lacked %d of %d facts likely to be needed", at.Conversation, k.Anchors-k.Kept+k.Repaired, k.Anchors),
			Messages: 1, Notes: lack.Added, Likely: k.Anchors, Held: k.Kept - k.Repaired,
			Repaired: k.Repaired,
		},
	}
}

// MinDigestTokens is the smallest useful digest, in tokens.
const MinDigestTokens = 300

// Digest writes a digest of conversations, the oldest first, in at most tokens tokens of four
// characters.
func Digest(ctx context.Context, parts []Part, tokens int) (string, error) {
	var all []precis.Message
	for _, p := range parts {
		all = append(all, p.Messages...)
	}
	last := parts[len(parts)-1]
	s, err := digest.Writer{Handle: func(i int) string { return handleIn(parts, i) }}.Summarize(ctx,
		policy.SummaryRequest{
			Conversation: &precis.Conversation{System: last.System}, Messages: all, MaxTokens: tokens,
		})
	return s.Text, err
}
