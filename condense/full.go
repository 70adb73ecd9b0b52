package condense

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/digest"
	"precis/internal/harness"
	"precis/outline"
	"precis/retain"
)

// Mode selects what a condensation with a model leaves of the old messages.
type Mode string

// The modes of [Full].
const (
	// KeepRecent keeps the first message and the newest ones around the summary.
	KeepRecent Mode = "keep-recent"
	// FreshStart leaves the summary, and of the old messages only the kept
	// ones: the last user turn and pins.
	FreshStart Mode = "fresh-start"
)

// Full is the rung that replaces the old messages by a summary that a model
// writes. Kept messages stay in place; the conversation is cut only where an
// API allows. It is a [precis.Strategy].
type Full struct {
	// Summarizer writes the summary, usually a [Writer]. Required.
	Summarizer precis.Summarizer
	// Mode is KeepRecent when empty.
	Mode Mode
	// LeastNew is how many messages must be new since the last condensation; 0
	// means 4.
	LeastNew int
	// Reasoning adds a reasoning block before a summary in the assistant's
	// role; some providers require one in each assistant message.
	Reasoning bool
	// Parser reads the files that are outlined below a summary; nil means
	// [outline.Of].
	Parser outline.Parser
	// Framing is how the view shows the summary; Plain leaves it as the model
	// wrote it, the zero value adds a frame.
	Framing Framing
	// Price returns what a call would cost, for dry runs; nil: no cost is reported.
	Price func(input, output int) string
}

// Framing is how a summary is shown in the view.
type Framing string

// Plain is the framing of Roo Code: a heading and the text.
const Plain Framing = "plain"

const defaultLeastNew = 4

// Name returns "condense".
func (Full) Name() string { return "condense" }

// UsesModel marks the rung as one that calls a model.
func (Full) UsesModel() {}

// Hides marks the rung as one that hides whole messages.
func (Full) Hides() {}

// Propose has the old messages summarized.
func (f Full) Propose(ctx context.Context, s *precis.Situation) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindCondensation}
	if f.Summarizer == nil {
		return e, &precis.RungError{Reason: ReasonNoSummarizer, Err: errors.New("no model is configured to write summaries")}
	}
	o := f.old(s)
	if len(o.units) == 0 {
		e.Report.Code, e.Report.Reason = ReasonTooFewMessages, "there is nothing old enough to condense"
		return e, nil
	}
	if o.fresh < f.least() {
		e.Report.Code = ReasonCondensedRecently
		e.Report.Reason = fmt.Sprintf("%d messages are new since the last condensation, fewer than %d", o.fresh, f.least())
		return e, nil
	}
	r := o.request(s)
	if s.DryRun {
		return f.price(s, o, r), nil
	}
	sum, err := f.Summarizer.Summarize(ctx, r)
	if err != nil {
		return e, err
	}
	return f.edit(s, o, sum)
}

func (f Full) least() int {
	if f.LeastNew > 0 {
		return f.LeastNew
	}
	return defaultLeastNew
}

// price returns the result of a dry run: no model is called.
func (f Full) price(s *precis.Situation, o old, r precis.SummaryRequest) precis.Edit {
	e := precis.Edit{Kind: precis.KindCondensation}
	e.Report.Code = precis.ReasonNothing
	e.Report.Reason = fmt.Sprintf("dry run: a model would summarize %d messages of %d tokens", o.hidden, o.tokens)
	if f.Price != nil {
		e.Report.Reason += ": " + f.Price(o.tokens, r.MaxTokens)
	}
	return e
}

// old describes the messages that a condensation replaces.
type old struct {
	spans  [][2]int
	units  []precis.Unit
	hidden int // messages of the transcript
	fresh  int // those of them never condensed before
	tokens int // of the part that the view shows
}

// old selects what to hide: with FreshStart all groups that may be hidden, else
// as few of the oldest as bring the view, with the summary, to its target.
func (f Full) old(s *precis.Situation) old {
	var o old
	for i := 0; i < len(s.Units); {
		end, free := s.Group(i)
		if free && !(f.Mode != FreshStart && i == 0 && f.keepsFirst(s)) {
			o.add(s, s.Units[i:end])
		}
		if f.Mode != FreshStart && o.tokens-o.summary(s) > max(s.Excess(), 0)+s.Target/20 && o.fresh >= f.least() && o.hidden > s.Surplus() {
			break
		}
		i = end
	}
	return o
}

// summary returns the most tokens of the summary: a third of what it replaces,
// and at most a quarter of the target.
func (o *old) summary(s *precis.Situation) int {
	return max(min(o.tokens/3, s.Target/4, defaultSummary), 200)
}

// keepsFirst reports whether the first message is a user message short enough
// to stay.
func (f Full) keepsFirst(s *precis.Situation) bool {
	u := s.Units[0]
	return u.Original() && u.From == 0 && s.Transcript.At(0).Role == precis.RoleUser && s.Meter.View(u.Messages) < s.Target/10
}

func (o *old) add(s *precis.Situation, units []precis.Unit) {
	for _, u := range units {
		if n := len(o.spans); n > 0 && o.spans[n-1][1] == u.From {
			o.spans[n-1][1] = u.To
		} else {
			o.spans = append(o.spans, [2]int{u.From, u.To})
		}
		o.units = append(o.units, u)
		o.hidden += u.To - u.From
		o.tokens += max(s.Meter.View(u.Messages)-s.HeldTokens(u.From, u.To), 0)
		if u.Original() {
			o.fresh += u.To - u.From
		}
	}
}

// covers reports whether message i is replaced.
func (o old) covers(i int) bool {
	return slices.ContainsFunc(o.spans, func(span [2]int) bool { return span[0] <= i && i < span[1] })
}

// request returns the request to summarize what the view shows of the old
// messages.
func (o old) request(s *precis.Situation) precis.SummaryRequest {
	r := precis.SummaryRequest{
		Conversation: s.Conversation, From: o.spans[0][0], Previous: digest.Earlier(s, o.spans), Focus: s.Focus, Automatic: s.Automatic, Live: s.Live,
		Replaces: o.tokens,
		Count:    func(t string) int { return s.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
	}
	for _, u := range o.units {
		for _, m := range u.Messages {
			r.Messages = append(r.Messages, m)
			r.At = append(r.At, u.From)
		}
	}
	if s.Live != nil { // the provider's cache does not hold what earlier rungs changed
		r.View = s.Sent
	}
	r.MaxTokens = o.summary(s)
	return r
}

// edit replaces the spans by the summary. After the summary it adds the
// workflows of the first message, outlines of the files read, and on automatic
// runs the client's environment.
func (f Full) edit(s *precis.Situation, o old, sum precis.Summary) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindCondensation}
	text := sum.Text
	var notes []string
	if f.Framing != Plain {
		span := precis.SpanHandle(o.spans[0][0], o.spans[len(o.spans)-1][1]).String()
		_, unknown := handlesOf(text, 0, s.Transcript.Len())
		if len(unknown) > 0 {
			notes = append(notes, "the summary cites messages that are not there: "+strings.Join(unknown, ", "))
		}
		text = frameSummary(text, span, frameOptions{Unknown: unknown})
	} else if visible(text) == "" {
		text = ""
	} else {
		text = "## Conversation Summary\n" + text
	}
	if text == "" {
		return e, &precis.RungError{Reason: ReasonEmpty, Call: sum.Call, Err: errors.New("the summary has no visible text")}
	}
	content := []precis.Block{precis.Text{Text: text}}
	content = append(content, f.attachments(s, o)...)
	for i, span := range o.spans {
		m := precis.Message{Role: f.role(s, span[1]), Content: content}
		if f.Reasoning && m.Role == precis.RoleAssistant {
			m.Content = append([]precis.Block{precis.Thinking{Text: "The conversation so far is summarized."}}, content...)
		}
		if i > 0 {
			m = precis.NewText(precis.RoleUser, fmt.Sprintf("[%s: see the summary above.]", precis.SpanHandle(span[0], span[1])))
		}
		e.Replace = append(e.Replace, precis.Replacement{From: span[0], To: span[1], With: []precis.Message{m}})
	}
	e.Report.CostUSD, e.Report.Call, e.Report.Notes = sum.CostUSD, sum.Call, notes
	e.Report.Reason = fmt.Sprintf("a model summarized the oldest %d messages", o.hidden)
	return e, nil
}

// role returns the role of the summary message: user, but assistant between two
// user messages.
func (f Full) role(s *precis.Situation, to int) precis.Role {
	if f.Mode == FreshStart {
		return precis.RoleUser
	}
	var before, after precis.Role
	for _, u := range s.Units {
		if len(u.Messages) == 0 {
			continue
		}
		if u.From == 0 && u.To <= 1 {
			before = u.Messages[0].Role
		}
		if u.From >= to && after == "" {
			after = u.Messages[0].Role
		}
	}
	if before == precis.RoleUser && after == precis.RoleUser && f.keepsFirst(s) {
		return precis.RoleAssistant
	}
	return precis.RoleUser
}

// attachments returns the blocks that follow a summary.
func (f Full) attachments(s *precis.Situation, o old) []precis.Block {
	var out []precis.Block
	if s.Transcript.Len() > 0 && o.covers(0) {
		if blocks := harness.Commands(s.Transcript.At(0).PlainText()); len(blocks) > 0 {
			out = append(out, precis.Text{Text: "Workflows that are still to be followed:\n" + strings.Join(blocks, "\n")})
		}
	}
	x, _, _ := retain.Of(s)
	for _, section := range digest.Outlines(x, o.covers, s.Target, f.Parser) {
		out = append(out, precis.Text{Text: section})
	}
	if text := environment(s, o.covers); text != "" {
		out = append(out, precis.Text{Text: text})
	}
	return out
}
