package polyfill

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/gateway/intent"
	"github.com/precis-dev/precis/policy"
)

// rungCompact names edits that a compaction makes; rungReturned names edits that apply a compaction
// which the client sent back.
const (
	rungCompact  = TypeCompact
	rungReturned = "returned compaction"
)

// compactor replaces messages by summaries.
type compactor struct{ *Emulator }

// compactOver replaces all messages before the newest exchange by a summary when the view exceeds
// the requested size. A repeated request gets the same answer.
func (e compactor) compactOver(ctx context.Context) error {
	c := e.compact
	if e.Intent.Work == intent.Count {
		return nil // counting makes no summaries
	}
	if made, ok := e.compactedHere(); ok {
		e.report(made, precis.Usage{})
		e.pause(c)
		return nil
	}
	limit := c.Tokens
	if limit == 0 {
		limit = int(float64(e.View.Result().Report.Decision.Window.Tokens) * e.View.Result().Report.Decision.Threshold / 100)
	}
	end := len(e.Messages)
	k := newestExchange(e.Messages)
	if e.tokens() <= limit || k == 0 {
		return nil
	}
	sum, err := e.summarize(ctx, end, k, c.Instructions)
	if err != nil {
		return err
	}
	edit := precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{
		Rung: rungCompact, Reason: fmt.Sprintf("the client asked for it: the oldest %d messages became a summary", k),
		Messages: k, CostUSD: sum.CostUSD, Call: sum.Call, Took: sum.Took,
	}}
	s := Summary{Text: sum.Text, Conversation: e.View.Conversation().ID, Messages: k,
		Node: e.transcript().Fingerprint(k).String()}
	edit.Replace = []precis.Replacement{{From: 0, To: k,
		With: []precis.Message{precis.NewText(precis.RoleUser, s.Render(true))}}}
	done, err := e.apply(ctx, edit, true)
	if err != nil || !done {
		return err
	}
	e.report(s, sum.Usage)
	e.pause(c)
	return nil
}

// report makes the response report a summary.
func (e compactor) report(s Summary, u precis.Usage) { e.summary, e.usage = &s, u }

func (e compactor) pause(c *Compact) {
	if c.Pause {
		e.Mode = Pause
	}
}

// compactedHere returns the summary that an earlier attempt of this request made.
func (e compactor) compactedHere() (Summary, bool) {
	for _, edit := range precis.Active(e.edits()) {
		if edit.Report.Rung != rungCompact || edit.Kind != precis.KindCondensation || edit.At != e.Node {
			continue
		}
		r := edit.Replace[0]
		if text, ok := Unrender(r.With[0].PlainText()); ok {
			return Summary{Text: text, Conversation: e.View.Conversation().ID, Messages: r.To,
				Node: e.transcript().Fingerprint(r.To).String()}, true
		}
	}
	return Summary{}, false
}

// newestExchange returns the first message of the group that contains the newest user message or
// tool result.
func newestExchange(msgs []precis.Message) int {
	last := len(msgs) - 1
	for last > 0 && msgs[last].Role != precis.RoleUser {
		last--
	}
	return groupOf(msgs, last)
}

// groupOf returns the first message of the group of message i. The group of a result contains its
// tool use.
func groupOf(msgs []precis.Message, i int) int {
	k := 0
	for _, g := range precis.GroupStarts(msgs) {
		if g <= i {
			k = g
		}
	}
	return k
}

// compactAll summarizes all messages, for a client that requests only a compaction.
func (e compactor) compactAll(ctx context.Context) error {
	end := len(e.Messages)
	if e.Mode == Trigger {
		end--
	}
	sum, err := e.summarize(ctx, end, end, "")
	if err != nil {
		return err
	}
	s := Summary{Text: sum.Text, Conversation: e.View.Conversation().ID}
	if e.Mode == Trigger && end > 0 {
		s.Messages, s.Node = end, e.transcript().Fingerprint(end).String()
	}
	e.report(s, sum.Usage)
	if e.Keep != nil {
		e.Keep(ctx, end, sum)
	}
	return nil
}

const leastSummary, mostSummary = 300, digest.DefaultTokens

// summarize returns a summary of the first end messages, written by the summarizer if there is one,
// else a digest. The view keeps the messages from k on.
func (e compactor) summarize(ctx context.Context, end, k int, focus string) (policy.Summary, error) {
	replaces := e.View.Meter().View(e.transcript().Messages()[:end])
	r := policy.SummaryRequest{
		Conversation: e.View.Conversation(), Focus: focus, Live: e.Live, Replaces: replaces,
		Previous: e.previous(), MaxTokens: min(max(replaces/4, leastSummary), mostSummary),
		Count: func(t string) int { return e.View.Meter().Block(precis.RoleUser, precis.Text{Text: t}) },
	}
	stop := e.View.KeepAlive()
	defer stop()
	var sum policy.Summary
	if s := e.Summarizer; s != nil {
		byModel := r
		for _, u := range e.units() {
			for _, msg := range u.Messages {
				if u.To <= end {
					byModel.Messages, byModel.At = append(byModel.Messages, msg), append(byModel.At, u.From)
				}
			}
		}
		var err error
		sum, err = s.Summarize(ctx, byModel)
		if ctx.Err() != nil {
			return sum, precis.Errorf(precis.CodeCanceled, "summarize", "%w", context.Cause(ctx))
		}
		if err != nil {
			e.Logger.WarnContext(ctx, "no summary by a model; a digest is made", "conversation",
				e.View.Conversation().ID, "error", err)
			sum = policy.Summary{}
		}
	}
	if strings.TrimSpace(sum.Text) == "" {
		r.Messages = e.transcript().Messages()[:end]
		written, err := digest.Writer{Count: r.Count}.Summarize(ctx, r)
		if err != nil {
			return written, err
		}
		sum.Text, sum.Took = cmp.Or(strings.TrimSpace(written.Text),
			"Nothing was said that needs to be repeated."), written.Took
	}
	sum.Text += e.requiredTexts(sum.Text, k)
	return sum, nil
}

// previous returns the texts of summaries that the client sent back or that a model has written.
func (e compactor) previous() string {
	of := map[string]bool{}
	for _, edit := range e.edits() {
		of[edit.ID] = edit.Kind == precis.KindCondensation &&
			(edit.Report.Rung == rungReturned || edit.Report.Call != nil)
	}
	var out []string
	for _, u := range e.units() {
		for _, msg := range u.Messages {
			if text := msg.PlainText(); of[u.Edit] && text != "" {
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, "\n\n")
}

// mostVerbatim is how many bytes of one text a summary repeats at most.
const mostVerbatim = 8 << 10

// requiredTexts returns the texts that every view must hold and that a summary of the messages before k
// lacks: pinned messages and the user's last one.
func (e compactor) requiredTexts(text string, k int) string {
	var out strings.Builder
	say := func(what string, h precis.Handle, words string) {
		words = strings.TrimSpace(words)
		if words == "" || strings.Contains(text, words) || h.From >= k {
			return
		}
		if len(words) > mostVerbatim {
			words = strings.ToValidUTF8(words[:mostVerbatim/2], "") + "\n[…]\n" +
				strings.ToValidUTF8(words[len(words)-mostVerbatim/2:], "")
		}
		fmt.Fprintf(&out, "\n\n%s (%s), word for word:\n%s", what, h, words)
	}
	for _, h := range precis.Pinned(e.edits()) {
		shown, err := e.transcript().Read(h)
		for _, msg := range shown {
			if err == nil {
				say("Pinned", h, strings.Join(allWords(msg.Content), "\n"))
			}
		}
	}
	speech := e.transcript().Speech()
	if i := speech.LastTurn(nil); i >= 0 && i < k {
		for _, said := range speech.Passages(i) {
			say("What the user asked last", said.Handle, said.Text)
		}
	}
	return out.String()
}

// allWords returns the texts of blocks, including tool results.
func allWords(blocks []precis.Block) (out []string) {
	for _, b := range blocks {
		switch b := b.(type) {
		case precis.Text:
			out = append(out, b.Text)
		case precis.ToolResult:
			out = append(out, b.Text())
		}
	}
	return out
}
