package gateway

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"precis"
	"precis/condense"
	"precis/gateway/polyfill"
)

// rungCompact names the edits that a compaction makes, rungReturned those by
// which a compaction that was sent back takes effect.
const (
	rungCompact  = polyfill.TypeCompact
	rungReturned = "returned compaction"
)

// compactOver puts a summary in the place of what was said when the view is
// larger than the request wants it: of all but the newest exchange, which stays.
// A request that is sent once more gets the same answer.
func (m *job) compactOver(ctx context.Context) error {
	c := m.poly.compact
	if m.work == workCount {
		return nil // counting makes no summaries
	}
	if made, ok := m.compactedHere(); ok {
		m.tell(made, precis.Usage{})
		m.pause(c)
		return nil
	}
	limit := c.Tokens
	if limit == 0 {
		limit = int(float64(m.decision().Window.Tokens) * m.decision().Threshold / 100)
	}
	end := m.found.Len
	k := newestExchange(m.found.Messages)
	if m.tokens() <= limit || k == 0 {
		return nil
	}
	sum, err := m.summarize(ctx, end, k, c.Instructions)
	if err != nil {
		return err
	}
	e := precis.Edit{Kind: precis.KindCondensation, Report: precis.EditReport{
		Rung: rungCompact, Reason: fmt.Sprintf("the client asked for it: the oldest %d messages became a summary", k),
		Messages: k, CostUSD: sum.CostUSD, Call: sum.Call, Took: sum.Took,
	}}
	s := polyfill.Summary{Text: sum.Text, Conversation: m.conv.ID, Messages: k, Node: m.conv.Transcript.Fingerprint(k).String()}
	e.Replace = []precis.Replacement{{From: 0, To: k, With: []precis.Message{precis.NewText(precis.RoleUser, s.Render(true))}}}
	done, err := m.apply(ctx, e, true)
	if err != nil || !done {
		return err
	}
	m.tell(s, sum.Usage)
	m.pause(c)
	return nil
}

// tell has the answer tell of a summary.
func (m *job) tell(s polyfill.Summary, u precis.Usage) { m.poly.summary, m.poly.usage = &s, u }

func (m *job) pause(c *polyfill.Compact) {
	if c.Pause {
		m.poly.mode = modePause
	}
}

// compactedHere returns the summary that an earlier try of this very request
// made.
func (m *job) compactedHere() (polyfill.Summary, bool) {
	for _, e := range precis.Active(m.conv.Edits) {
		if e.Report.Rung != rungCompact || e.Kind != precis.KindCondensation || e.At != m.found.Node {
			continue
		}
		r := e.Replace[0]
		if text, ok := polyfill.Unrender(r.With[0].PlainText()); ok {
			return polyfill.Summary{Text: text, Conversation: m.conv.ID, Messages: r.To, Node: m.conv.Transcript.Fingerprint(r.To).String()}, true
		}
	}
	return polyfill.Summary{}, false
}

// newestExchange returns the first message of the group that holds the newest
// message of the user, or result of a tool.
func newestExchange(msgs []precis.Message) int {
	last := len(msgs) - 1
	for last > 0 && msgs[last].Role != precis.RoleUser {
		last--
	}
	return groupOf(msgs, last)
}

// groupOf returns the first message of the group of message i: with a result,
// that of its tool use.
func groupOf(msgs []precis.Message, i int) int {
	k := 0
	for _, g := range precis.Groups(msgs) {
		if g <= i {
			k = g
		}
	}
	return k
}

// compactAll summarizes everything, for a client that asks for a compaction
// alone.
func (m *job) compactAll(ctx context.Context) error {
	end := m.found.Len
	if m.poly.mode == modeTrigger {
		end--
	}
	sum, err := m.summarize(ctx, end, end, "")
	if err != nil {
		return err
	}
	s := polyfill.Summary{Text: sum.Text, Conversation: m.conv.ID}
	if m.poly.mode == modeTrigger && end > 0 {
		s.Messages, s.Node = end, m.conv.Transcript.Fingerprint(end).String()
	}
	m.tell(s, sum.Usage)
	m.keepOriginals(ctx, end, sum)
	return nil
}

// keepOriginals stores what a client is about to put a summary in the place of,
// and what that cost.
func (m *job) keepOriginals(ctx context.Context, end int, sum precis.Summary) {
	st := m.g.store(m.owner)
	if st == nil {
		return
	}
	if _, err := st.Append(ctx, precis.Fingerprint{}, m.conv.Transcript.Messages()[:end]...); err != nil {
		m.g.o.Logger.WarnContext(ctx, "a compacted conversation is not stored", "conversation", m.conv.ID, "error", err)
	}
	if l, ok := st.(precis.Ledger); ok && sum.Call != nil {
		err := l.Book(ctx, precis.LedgerEntry{
			Time: m.g.o.Now(), Conversation: m.conv.ID, Model: sum.Call.Model, Kind: precis.KindCall, TriggeredBy: precis.TriggeredManual, Usage: sum.Usage, CostUSD: sum.CostUSD,
		})
		if err != nil {
			m.g.o.Logger.WarnContext(ctx, "a summary is not in the ledger", "error", err)
		}
	}
}

const leastSummary, mostSummary = 300, condense.DefaultTokens

// summarize returns a summary of the first end messages, of which the view goes
// on to show those from k on: by the summarizer there is, else a digest.
func (m *job) summarize(ctx context.Context, end, k int, focus string) (precis.Summary, error) {
	replaces := m.req.Meter.View(m.conv.Transcript.Messages()[:end])
	r := precis.SummaryRequest{
		Conversation: m.conv, Focus: focus, Live: m.req.Live, Replaces: replaces, Previous: m.previous(), MaxTokens: min(max(replaces/4, leastSummary), mostSummary),
		Count: func(t string) int { return m.req.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
	}
	stop := m.keepAlive()
	defer stop()
	var sum precis.Summary
	if s := m.g.o.Summarizer; s != nil {
		byModel := r
		for _, u := range m.res.Units {
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
			m.g.o.Logger.WarnContext(ctx, "no summary by a model; a digest is made", "conversation", m.conv.ID, "error", err)
			sum = precis.Summary{}
		}
	}
	if strings.TrimSpace(sum.Text) == "" {
		r.Messages = m.conv.Transcript.Messages()[:end]
		digest, err := condense.Digest{Count: r.Count}.Summarize(ctx, r)
		if err != nil {
			return digest, err
		}
		sum.Text, sum.Took = cmp.Or(strings.TrimSpace(digest.Text), "Nothing was said that needs to be repeated."), digest.Took
	}
	sum.Text += m.mustSay(sum.Text, k)
	return sum, nil
}

// previous returns the summaries that stand for what is not in the transcript,
// or that a model has written.
func (m *job) previous() string {
	of := map[string]bool{}
	for _, e := range m.conv.Edits {
		of[e.ID] = e.Kind == precis.KindCondensation && (e.Report.Rung == rungReturned || e.Report.Call != nil)
	}
	var out []string
	for _, u := range m.res.Units {
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

// mustSay returns what every view holds and a summary lacks of the messages
// before k: what is pinned, and what the user said last.
func (m *job) mustSay(text string, k int) string {
	var out strings.Builder
	say := func(what string, h precis.Handle, words string) {
		words = strings.TrimSpace(words)
		if words == "" || strings.Contains(text, words) || h.From >= k {
			return
		}
		if len(words) > mostVerbatim {
			words = strings.ToValidUTF8(words[:mostVerbatim/2], "") + "\n[…]\n" + strings.ToValidUTF8(words[len(words)-mostVerbatim/2:], "")
		}
		fmt.Fprintf(&out, "\n\n%s (%s), word for word:\n%s", what, h, words)
	}
	msgs := m.conv.Transcript.Messages()
	for _, h := range precis.Pinned(m.conv.Edits) {
		shown, err := precis.Show(m.conv.Transcript, h)
		for _, msg := range shown {
			if err == nil {
				say("Pinned", h, strings.Join(allWords(msg.Content), "\n"))
			}
		}
	}
	if i := lastTurnAt(msgs[:min(len(msgs), max(k, 1))]); i < k && i < len(msgs) && lastTurnAt(msgs) == i {
		for _, b := range msgs[i].UserBlocks() {
			if words, ok := msgs[i].Content[b].(precis.Text); ok {
				say("What the user asked last", precis.BlockHandle(i, b), words.Text)
			}
		}
	}
	return out.String()
}

// allWords returns the texts of blocks, those of tool results too.
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
