package condense

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
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
// API allows. It is a [policy.Strategy].
type Full struct {
	// Summarizer writes the summary, usually a [Writer]. Required.
	Summarizer policy.Summarizer
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
	// FromStart makes the summary replace all messages from the first on, the only form that Roo
	// Code's files support. If these include the last user turn, it is quoted after the summary.
	// The range ends before a pinned message, or before a last user turn that is too long to quote.
	FromStart bool
	// Price returns what a call would cost, for dry runs; nil: no cost is reported.
	Price func(input, output int) string

	free bool // the summary costs no money: it may be as long as there is room
}

// ByDigest is [Full] without a model: the summary is a digest, whatever the Summarizer. It replaces
// the rung "digest".
type ByDigest struct{ Full Full }

// Name returns "digest".
func (ByDigest) Name() string { return "digest" }

// Traits returns what the ladder has to know of the rung.
func (ByDigest) Traits() policy.Traits { return policy.Traits{HidesMessages: true, TakesRange: true} }

// Join merges the messages in the place of a span, see [Full.Join].
func (d ByDigest) Join(with []precis.Message) (precis.Message, bool) { return d.Full.Join(with) }

// Propose replaces the old messages by a digest, also in a dry run. The digest is written from the
// original messages, not from earlier digests.
func (d ByDigest) Propose(ctx context.Context, s *policy.Situation) (precis.Edit, error) {
	d.Full.free = true
	if s.Used <= s.Fit() && summarized(s) {
		return precis.Edit{Kind: precis.KindCondensation,
			Report: precis.EditReport{Code: policy.ReasonNothing,
				Reason: "the view fits with the summary that a model wrote"}}, nil
	}
	d.Full.Summarizer = digest.Writer{Count: func(t string) int {
		return s.Meter.Block(precis.RoleUser,
			precis.Text{Text: t})
	}}
	o, err := d.Full.choose(s)
	if err != nil || len(o.units) == 0 {
		return o.none, err
	}
	r := d.Full.request(s, o)
	r.From, r.At = o.spans[0][0], nil
	r.Messages = retain.WithoutRewound(s.Transcript, s.Edits)[r.From:o.spans[len(o.spans)-1][1]]
	sum, err := d.Full.Summarizer.Summarize(ctx, r)
	if err != nil {
		return o.none, err
	}
	e, err := d.Full.edit(s, o, sum)
	e.Report.Rung, e.Report.Reason = d.Name(), fmt.Sprintf("a digest stands for the oldest %d messages",
		o.hidden)
	return e, err
}

// summarized reports whether this run has a model-written summary.
func summarized(s *policy.Situation) bool {
	return slices.ContainsFunc(s.Edits, func(e precis.Edit) bool {
		return e.Time.IsZero() && e.Kind == precis.KindCondensation && e.Report.Rung == Full{}.Name()
	})
}

// Framing is how a summary is shown in the view.
type Framing string

// Plain is the framing of Roo Code: a heading and the text.
const Plain Framing = "plain"

const defaultLeastNew = 4

// Name returns "condense".
func (Full) Name() string { return "condense" }

// Traits returns what the ladder has to know of the rung.
func (Full) Traits() policy.Traits {
	return policy.Traits{UsesModel: true, HidesMessages: true, TakesRange: true}
}

// Join merges the messages in the place of a span into one if [Full.FromStart] is set: Roo Code
// sends no other.
func (f Full) Join(with []precis.Message) (precis.Message, bool) {
	return Joined(with), f.FromStart
}

// Propose has the old messages summarized. In a dry run no model is called.
func (f Full) Propose(ctx context.Context, s *policy.Situation) (precis.Edit, error) {
	o, err := f.choose(s)
	if err != nil || len(o.units) == 0 {
		return o.none, err
	}
	r := f.request(s, o)
	if s.DryRun {
		return f.dryRunEdit(s, o, r), nil
	}
	sum, err := f.Summarizer.Summarize(ctx, r)
	if err != nil {
		return o.none, err
	}
	return f.edit(s, o, sum)
}

// choose returns the messages to replace; if there are none, its field none has the reason.
func (f Full) choose(s *policy.Situation) (replacedMessages, error) {
	none := precis.Edit{Kind: precis.KindCondensation}
	if f.Summarizer == nil {
		return replacedMessages{none: none},
			&policy.RungError{Reason: ReasonNoSummarizer,
				Err: errors.New("no model is configured to write summaries")}
	}
	o := f.selectHidden(s)
	switch {
	case len(o.units) == 0 && f.FromStart && s.To > 0 && s.From > 0:
		none.Report.Code = ReasonTooFewMessages
		none.Report.Reason = fmt.Sprintf("the task can only say that a range is hidden which begins with the first message, such as %s", precis.SpanHandle(0, s.To))
	case len(o.units) == 0:
		none.Report.Code, none.Report.Reason = ReasonTooFewMessages, "there is nothing old enough to condense"
	case o.uncondensed < f.leastNew() && s.To == 0:
		none.Report.Code = ReasonCondensedRecently
		none.Report.Reason = fmt.Sprintf("%d messages are new since the last condensation, fewer than %d",
			o.uncondensed, f.leastNew())
		o = replacedMessages{}
	}
	o.none = none
	return o, nil
}

func (f Full) leastNew() int {
	if f.LeastNew > 0 {
		return f.LeastNew
	}
	return defaultLeastNew
}

// dryRunEdit returns the result of a dry run: no model is called.
func (f Full) dryRunEdit(s *policy.Situation, o replacedMessages, r policy.SummaryRequest) precis.Edit {
	e := precis.Edit{Kind: precis.KindCondensation}
	e.Report.Code = policy.ReasonNothing
	e.Report.Reason = fmt.Sprintf("dry run: a model would summarize %d messages of %d tokens", o.hidden,
		o.tokens)
	if f.Price != nil {
		e.Report.Reason += ": " + f.Price(o.tokens, r.MaxTokens)
	}
	return e
}

// replacedMessages describes the messages that a condensation replaces.
type replacedMessages struct {
	spans       [][2]int
	units       []precis.Unit
	hidden      int // messages of the transcript
	uncondensed int // how many of them were never condensed before
	tokens      int // of the part that the view shows

	none precis.Edit // if no message is replaced: an edit with the reason
}

// selectHidden selects the messages to hide: with FreshStart all groups that may be hidden, else as few of
// the oldest as bring the view, with the summary and the blocks after it, to its target.
func (f Full) selectHidden(s *policy.Situation) replacedMessages {
	if s.To > 0 {
		f.Mode = FreshStart
	}
	o := f.selectOldest(s, 0)
	if f.Mode == FreshStart || len(o.units) == 0 {
		return o
	}
	return f.selectOldest(s, s.Meter.View([]precis.Message{{Role: precis.RoleUser,
		Content: f.appendix(s, o, "")}}))
}

// selectOldest selects the messages to hide if beside tokens of blocks follow the summary.
func (f Full) selectOldest(s *policy.Situation, beside int) replacedMessages {
	var o replacedMessages
	group := s.Group
	if f.FromStart && s.Meter.Block(precis.RoleUser,
		precis.Text{Text: s.LastWords()}) <= s.Target/quoteShare {
		group = s.GroupToQuote
	}
	for i := 0; i < len(s.Units); {
		end, free := group(i)
		if f.FromStart && !free {
			break
		}
		if free && !(f.Mode != FreshStart && !f.FromStart && i == 0 && f.keepsFirst(s)) {
			o.add(s, s.Units[i:end])
		}
		if f.Mode != FreshStart && o.tokens-f.summaryLimit(s, o)-beside > max(s.Excess(), 0)+s.Target/20 &&
			o.uncondensed >= f.leastNew() && o.hidden > s.ExcessMessages() {
			break
		}
		i = end
	}
	return o
}

// quoteShare: the quoted last user turn may take 1/quoteShare of the target.
const quoteShare = 4

// quote returns the last user turn for the text after the summary, if it is among the hidden
// messages and the summary does not contain it; "" if the view shows it, or it has no words. When
// such a summary is summarized again, the quotation is passed on.
func (o replacedMessages) quote(s *policy.Situation, summary string) string {
	speech, shown := s.Transcript.Speech(), precis.ShownBy(s.Transcript, s.Edits)
	last := speech.LastTurn(func(i int) bool { return !shown.Rewound(i) })
	if last < 0 || !o.covers(last) || !speech.BeginsTurn(last) {
		return ""
	}
	words := speech.AllWords(last)
	if words == "" || strings.Contains(retain.Folded(summary), retain.Folded(words)) ||
		s.Meter.Block(precis.RoleUser, precis.Text{Text: words}) > s.Target/quoteShare {
		return ""
	}
	return fmt.Sprintf("What the user said last (%s), word for word:\n%s", precis.MessageHandle(last), words)
}

// summaryLimit returns the most tokens of the summary: a third of the replaced messages, and at most a
// quarter of the target, or half of it if the summary is free. With FromStart, where no later rung
// shortens the remaining messages, it is also limited to the room next to them.
func (f Full) summaryLimit(s *policy.Situation, o replacedMessages) int {
	most := min(s.Target/4, defaultSummary)
	if f.free {
		most = s.Target / 2
	}
	if f.FromStart {
		room := s.Limit - (s.Used - o.tokens)
		most = min(most, room-room/gateShare)
	}
	return max(min(o.tokens/3, most), 200)
}

// gateShare: 1/gateShare of the room for a summary is reserved for the gate's additions.
const gateShare = 4

// keepsFirst reports whether the first message is a user message short enough
// to stay.
func (f Full) keepsFirst(s *policy.Situation) bool {
	u := s.Units[0]
	return u.Original() && u.From == 0 && s.Transcript.At(0).Role == precis.RoleUser &&
		s.Meter.View(u.Messages) < s.Target/10
}

func (o *replacedMessages) add(s *policy.Situation, units []precis.Unit) {
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
			o.uncondensed += u.To - u.From
		}
	}
}

// covers reports whether message i is replaced.
func (o replacedMessages) covers(i int) bool {
	return slices.ContainsFunc(o.spans, func(span [2]int) bool { return span[0] <= i && i < span[1] })
}

// request returns the request to summarize the old messages as the view shows them.
func (f Full) request(s *policy.Situation, o replacedMessages) policy.SummaryRequest {
	r := policy.SummaryRequest{
		Conversation: s.Conversation, From: o.spans[0][0], Previous: digest.EarlierSummaries(s, o.spans),
		Focus: s.Focus, Automatic: s.Automatic, Live: s.Live,
		Replaces: o.tokens,
		Count:    func(t string) int { return s.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
	}
	for _, u := range o.units {
		for _, m := range u.Messages {
			r.Messages = append(r.Messages, m)
			r.At = append(r.At, u.From)
		}
	}
	if s.Live != nil { // the provider's cache does not hold the changes of earlier rungs
		r.View = s.Sent
	}
	r.MaxTokens = f.summaryLimit(s, o)
	return r
}

// edit replaces the spans by the summary. After the summary it adds the
// workflows of the first message, outlines of the files read, and on automatic
// runs the client's environment.
func (f Full) edit(s *policy.Situation, o replacedMessages, sum policy.Summary) (precis.Edit, error) {
	e := precis.Edit{Kind: precis.KindCondensation}
	text := sum.Text
	var notes []string
	if f.Framing != Plain {
		span := precis.SpanHandle(o.spans[0][0], o.spans[len(o.spans)-1][1]).String()
		_, unknown := handlesOf(text, 0, s.Transcript.Len())
		if len(unknown) > 0 {
			notes = append(notes, "the summary cites messages that are not there: "+strings.Join(unknown,
				", "))
		}
		text = frameSummary(text, span, frameOptions{Unknown: unknown})
	} else if visible(text) == "" {
		text = ""
	} else {
		text = "## Conversation Summary\n" + text
	}
	if text == "" {
		return e, &policy.RungError{Reason: ReasonEmpty, Call: sum.Call,
			Err: errors.New("the summary has no visible text")}
	}
	content := []precis.Block{precis.Text{Text: text}}
	content = append(content, f.appendix(s, o, text)...)
	for i, span := range o.spans {
		m := precis.Message{Role: f.role(s, span[1]), Content: content}
		if f.Reasoning && m.Role == precis.RoleAssistant {
			m.Content = append([]precis.Block{precis.Thinking{Text: "The conversation so far is summarized."}}, content...)
		}
		if i > 0 {
			m = precis.NewText(precis.RoleUser,
				fmt.Sprintf("[%s: see the summary above.]", precis.SpanHandle(span[0], span[1])))
		}
		e.Replace = append(e.Replace,
			precis.Replacement{From: span[0], To: span[1], With: []precis.Message{m}})
	}
	e.Report.CostUSD, e.Report.Call, e.Report.Notes = sum.CostUSD, sum.Call, notes
	e.Report.Reason = fmt.Sprintf("a model summarized the oldest %d messages", o.hidden)
	return e, nil
}

// role returns the role of the summary message: user, but assistant between two
// user messages.
func (f Full) role(s *policy.Situation, to int) precis.Role {
	if f.Mode == FreshStart || f.FromStart {
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

// appendix returns the blocks that follow a summary.
func (f Full) appendix(s *policy.Situation, o replacedMessages, summary string) []precis.Block {
	var out []precis.Block
	if f.FromStart || s.To > 0 {
		if text := o.quote(s, summary); text != "" {
			out = append(out, precis.Text{Text: text})
		}
	}
	if s.Transcript.Len() > 0 && o.covers(0) {
		if blocks := harness.Commands(s.Transcript.At(0).PlainText()); len(blocks) > 0 {
			out = append(out, precis.Text{Text: "Workflows that are still to be followed:\n" +
				strings.Join(blocks, "\n")})
		}
	}
	x, _, _ := retain.Of(s)
	for _, section := range outlines(x, o.covers, s.Target, f.Parser) {
		out = append(out, precis.Text{Text: section})
	}
	if text := environment(s, o.covers); text != "" {
		out = append(out, precis.Text{Text: text})
	}
	return out
}
