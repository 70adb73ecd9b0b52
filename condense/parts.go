package condense

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// maxParts is the most parts into which a conversation is split.
const maxParts = 64

// byParts summarizes messages that do not fit part by part and merges the
// summaries.
type byParts struct{ *task }

// write returns the summary. When a part turns out too large, it splits the
// messages into smaller parts.
func (t byParts) write(ctx context.Context, messages []precis.Message) (string, error) {
	cause := errors.New("there is no room for a part of them beside the prompt and the answer")
	for range 3 {
		parts := t.split(messages)
		if len(parts) > maxParts || parts == nil {
			break
		}
		texts, err := t.summarizeAll(ctx, parts)
		if err == nil {
			return t.merge(ctx, texts)
		}
		if !overflows(err) {
			return "", err
		}
		cause = err
		t.learnWindow(err)
	}
	return "", &policy.RungError{Reason: ReasonTooLong,
		Err: fmt.Errorf("the messages do not fit in the summarizer's window in any number of parts: %w",
			cause)}
}

// split splits messages into runs that fit; nil if the room is too small. A message that is too
// large by itself is shortened.
func (t byParts) split(messages []precis.Message) [][]precis.Message {
	room := t.room()
	if room < 200 {
		return nil
	}
	var parts [][]precis.Message
	var part []precis.Message
	used := 0
	for _, m := range messages {
		n := t.countTokens(m)
		if n > room {
			m = t.shortened(m, room)
			n = t.countTokens(m)
		}
		if used+n > room && len(part) > 0 {
			parts, part, used = append(parts, part), nil, 0
		}
		if len(part) == 0 && m.Role == precis.RoleAssistant {
			part = append(part, precis.NewText(precis.RoleUser,
				"(This part of the conversation begins here.)"))
		}
		part = append(part, m)
		used += n
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// shortened cuts the texts of a message so that it has the given number of tokens at most.
func (t byParts) shortened(m precis.Message, room int) precis.Message {
	out := m
	for most := room * 4; most > 100; most = most * 3 / 4 {
		out.Content = nil
		for _, b := range m.Content {
			if text, ok := b.(precis.Text); ok {
				b = precis.Text{Text: retain.Shorten(text.Text, most, "")}
			}
			out.Content = append(out.Content, b)
		}
		if t.countTokens(out) <= room {
			break
		}
	}
	for len(out.Content) > 1 && t.countTokens(out) > room { // drop the middle
		at := len(out.Content) / 2
		out.Content = slices.Delete(slices.Clone(out.Content), at, at+1)
	}
	return out
}

func (t byParts) summarizeAll(ctx context.Context, parts [][]precis.Message) ([]string, error) {
	texts := make([]string, len(parts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(t.c.Parts)
	for i, part := range parts {
		g.Go(func() error {
			p := t.prompt
			p.Part, p.Parts = i+1, len(parts)
			p.Previous = p.Previous && i == 0
			text, err := t.ask(ctx, t.request(part, p), p)
			texts[i] = text
			return err
		})
	}
	return texts, g.Wait()
}

// merge combines several summaries into one, in several steps where they do not
// fit together.
func (t byParts) merge(ctx context.Context, texts []string) (string, error) {
	for len(texts) > 1 {
		var next []string
		for i := 0; i < len(texts); {
			n := 1
			for i+n < len(texts) && (n < 2 || t.fits(partials(texts[i:i+n+1]))) {
				n++
			}
			if n == 1 {
				next = append(next, texts[i])
				i++
				continue
			}
			p := t.prompt
			p.Merge, p.Final = true, i == 0 && n == len(texts)
			text, err := t.ask(ctx, t.request(partials(texts[i:i+n]), p), p)
			if err != nil {
				return "", err
			}
			next = append(next, text)
			i += n
		}
		texts = next
	}
	return texts[0], nil
}

// partials writes summaries of parts as one message.
func partials(texts []string) []precis.Message {
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "[Part %d of %d]\n%s\n\n", i+1, len(texts), text)
	}
	return []precis.Message{precis.NewText(precis.RoleUser, b.String())}
}
