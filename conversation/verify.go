package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
)

// VerifyOptions select the text to compare with a conversation; at most one field is set. The zero
// value selects the newest compaction by the client's own program.
type VerifyOptions struct {
	Summary     string           // by any author; "": not selected
	View        []precis.Message // messages shown to a model instead of the conversation; nil: not selected
	CurrentView bool             // the current view of the conversation
}

// Verified reports what a summary of a conversation lacks, contradicts and invents.
type Verified struct {
	Conversation string `json:"conversation"`
	// Of is the conversation that the handles refer to if it is another one: a client's own
	// compaction may have begun a new conversation. "": the same.
	Of       string `json:"of,omitempty"`
	What     string `json:"what"`     // name of the text that was compared
	Messages int    `json:"messages"` // number of messages it was compared with
	verify.Report
}

// HandlesOf returns the conversation that the handles refer to.
func (v Verified) HandlesOf() string {
	if v.Of != "" {
		return v.Of
	}
	return v.Conversation
}

// Verify compares a summary, a given view, the current view, or the newest compaction of a client
// with the messages that it replaces; see [verify.Past.Check]. No model is called. The error is
// [precis.CodeInvalid] for an invalid summary, and [precis.CodeNotFound] when there is no
// compaction by the client's own program or the messages it replaced are gone.
func Verify(ctx context.Context, h Home, id string, o VerifyOptions) (Verified, error) {
	if err := o.check(); err != nil {
		return Verified{}, err
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return Verified{}, err
	}
	out := Verified{Conversation: s.Record.ID}
	r := policy.SummaryRequest{Conversation: s.Conversation,
		Messages: retain.WithoutRewound(s.Conversation.Transcript, s.Conversation.Edits)}
	beside, shown := "", (func(int) bool)(nil)
	switch {
	case o.Summary != "":
		out.What, r.Previous = "the summary", o.Summary
	case o.View != nil:
		out.What = "the view"
		r.Previous, beside, shown = splitView(r.Messages, o.View)
	case o.CurrentView:
		out.What = "what the model sees now"
		r.Previous, beside, shown = splitView(r.Messages,
			precis.View(s.Conversation.Transcript, s.Conversation.Edits))
	default:
		c, err := s.ownCompaction(ctx, h)
		if err != nil {
			return Verified{}, err
		}
		out.Of, out.What = c.source, c.what
		r.Conversation, r.Messages, r.Previous = c.conv, c.before, c.text
		_, beside, shown = splitView(c.before, c.view)
	}
	if err := ctx.Err(); err != nil {
		return Verified{}, precis.Errorf(precis.CodeCanceled, "verify", "%w", context.Cause(ctx))
	}
	out.Messages = len(r.Messages)
	out.Report = digest.Verify(r, beside, shown)
	return out, nil
}

func (o VerifyOptions) check() error {
	const op = "read summary"
	switch {
	case o.Summary != "" && strings.TrimSpace(o.Summary) == "":
		return precis.Errorf(precis.CodeInvalid, op, "the summary is empty")
	case !utf8.ValidString(o.Summary):
		return precis.Errorf(precis.CodeInvalid, op, "this is no UTF-8 text")
	}
	n := 0
	for _, set := range []bool{o.Summary != "", o.View != nil, o.CurrentView} {
		if set {
			n++
		}
	}
	if n > 1 {
		return precis.Errorf(precis.CodeInvalid, "read options",
			"a summary, a view and what the model sees now cannot be compared at once")
	}
	return nil
}

// wordsEach returns the words of each message.
func wordsEach(msgs []precis.Message) map[string]bool {
	said := map[string]bool{}
	for i := range msgs {
		said[retain.FoldedText(msgs[i:i+1])] = true
	}
	return said
}

// splitView divides a view. Text is the part written to replace messages. Beside is the text of the
// whole view. Shown reports whether message i is in the view unchanged, and so needs no check.
func splitView(msgs, view []precis.Message) (text, beside string, shown func(int) bool) {
	said, seen := wordsEach(msgs), wordsEach(view)
	shown = func(i int) bool { return seen[retain.FoldedText(msgs[i:i+1])] }
	var written, all strings.Builder
	for _, m := range view {
		words := retain.FoldedText([]precis.Message{m})
		all.WriteString(words + "\n")
		if !said[words] {
			written.WriteString(m.PlainText() + "\n")
		}
	}
	return written.String(), all.String(), shown
}

// compaction is a text that a client's own program wrote in the place of messages.
type compaction struct {
	source string // the conversation with the messages; "": the one that contains the compaction
	what   string
	conv   *precis.Conversation
	before []precis.Message
	text   string
	view   []precis.Message // after the compaction; messages the program kept from before are not checked
}

// ownCompaction finds the newest compaction by the client's own program: one in its recording, or
// the summary that continues another conversation.
func (s *Subject) ownCompaction(ctx context.Context, h Home) (compaction, error) {
	all := s.Conversation.Transcript.Messages()
	for k, e := range slices.Backward(s.Conversation.Edits) {
		if e.Kind != precis.KindCondensation || !isRecorded(e) {
			continue
		}
		var with []precis.Message
		to := 0
		for _, part := range e.Replace {
			if part.Block == nil {
				with, to = append(with, part.With...), max(to, part.To)
			}
		}
		text, _, _ := splitView(all[:to], with) // messages that were kept are no summary
		if text == "" || to == 0 {
			continue
		}
		// the messages before a compaction must be at least this many times as long as its text
		const least = 3
		if len(retain.FoldedText(all[:to])) < least*len(text) {
			return compaction{}, noCompaction("the messages before the compaction are not in the recording")
		}
		return compaction{
			what: fmt.Sprintf("the compaction behind message m%d", to-1), conv: s.Conversation,
			before: all[:to], text: text,
			view: precis.View(s.Conversation.Transcript.Prefix(e.Seen), s.Conversation.Edits[:k+1]),
		}, nil
	}
	if s.Record.Continues == "" || s.Record.Summary >= len(all) {
		return compaction{}, noCompaction("the conversation holds no compaction")
	}
	before, err := snapshot(ctx, h, s.Record.Continues)
	switch {
	case precis.CodeOf(err) == precis.CodeNotFound, err == nil && before.Owner != s.Owner:
		return compaction{}, noCompaction("the conversation before the compaction is gone")
	case err != nil:
		return compaction{}, err
	}
	msgs := retain.WithoutRewound(before.Conversation.Transcript, before.Conversation.Edits)
	if n := before.Record.Summary; before.Record.Continues != "" && n < len(msgs) {
		msgs = slices.Clone(msgs)
		msgs[n] = precis.Message{Role: msgs[n].Role} // an earlier summary is not the speech of a person
	}
	said := wordsEach(msgs)
	kept := slices.DeleteFunc(slices.Clone(all), func(m precis.Message) bool {
		return !said[retain.FoldedText([]precis.Message{m})]
	})
	return compaction{
		source: before.Record.ID, what: fmt.Sprintf("the compaction in message m%d", s.Record.Summary),
		conv: before.Conversation, before: msgs, text: all[s.Record.Summary].PlainText(), view: kept,
	}, nil
}

func noCompaction(why string) error {
	return &precis.Error{Code: precis.CodeNotFound, Op: "find compaction", Err: errors.New(why),
		Hint: "compare a summary, or what the model sees now"}
}
