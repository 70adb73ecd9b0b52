package condense

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// Writer writes summaries with a model. Make one with [NewWriter]; it is safe for
// concurrent use.
type Writer struct {
	c WriterConfig
}

// WriterConfig configures a [Writer]. Model or Fallback is needed; the zero
// value of every other field is a default.
type WriterConfig struct {
	// Model writes the summaries; nil: Fallback does.
	Model model.Model
	// Fallback is the conversation's own model. It is used, with a warning in
	// the report, when Model cannot be; nil means the summary then fails.
	Fallback model.Model
	// Own returns the conversation's own model, for programs with a different model for each
	// conversation; it replaces Fallback. It may return nil. Nil means Fallback is used.
	Own func(ctx context.Context, l *policy.LiveRequest) model.Model
	// Prompt configures the request. Its fields for one request (Focus, Part …)
	// are set by the Writer.
	Prompt Prompt
	// MaxTokens is the size of a summary at most; 0 means 8192.
	MaxTokens int
	// KeepImages sends images to models that accept them; without it each image
	// becomes a note.
	KeepImages bool
	// Bare shows messages without their handles, as Roo Code does.
	Bare bool
	// Compact always sends a separate request, never one appended to a live request.
	Compact bool
	// Parts is how many parts of a conversation that does not fit are summarized
	// at the same time; 0 means 2.
	Parts int
	// Cache stores summaries, so that none is paid for twice; nil means no
	// cache.
	Cache store.Summaries
	// SelfCheck has the model score each summary, which costs another request.
	SelfCheck bool
	// Hooks are called before and after each summary.
	Hooks Hooks
}

const (
	defaultSummary = 8192
	defaultParts   = 2
)

// NewWriter returns a writer. The error is [precis.CodeInvalid] and names the
// field.
func NewWriter(c WriterConfig) (*Writer, error) {
	if c.Model == nil && c.Fallback == nil && c.Own == nil {
		return nil, precis.Errorf(precis.CodeInvalid, "make summary writer",
			"neither Model, Fallback nor Own is set")
	}
	if c.MaxTokens < 0 || c.Parts < 0 {
		return nil, precis.Errorf(precis.CodeInvalid, "make summary writer",
			"MaxTokens is %d and Parts %d, want 0 or more", c.MaxTokens, c.Parts)
	}
	if err := c.Prompt.Validate(); err != nil {
		return nil, err
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = defaultSummary
	}
	if c.Parts == 0 {
		c.Parts = defaultParts
	}
	return &Writer{c: c}, nil
}

// Summarize calls the model, checks the answer, and calls it once more when the answer is not a
// usable summary. The error is a [policy.RungError] that states the reason and the cost.
func (w *Writer) Summarize(ctx context.Context, r policy.SummaryRequest) (policy.Summary, error) {
	started := time.Now()
	if len(r.Messages) == 0 {
		return policy.Summary{}, &policy.RungError{Reason: ReasonTooFewMessages,
			Err: errors.New("there is nothing to summarize")}
	}
	if r.Count == nil {
		r.Count = digest.EstimateTokens
	}
	var warnings []string
	var failed *precis.CallReport
	fallback := w.c.Fallback
	if w.c.Own != nil {
		fallback = w.c.Own(ctx, r.Live)
	}
	for i, m := range []model.Model{w.c.Model, fallback} {
		if m == nil {
			continue
		}
		t := w.task(m, r, i > 0 || w.c.Model == nil)
		t.call.Warnings = warnings
		text, err := t.run(ctx)
		t.addPaid(failed)
		t.call.Took = time.Since(started)
		if err == nil {
			call := t.call
			return policy.Summary{Text: text, Usage: call.Usage, CostUSD: call.CostUSD, Took: call.Took,
				Call: &call}, nil
		}
		if i == 1 || fallback == nil || !unusable(err) || ctx.Err() != nil {
			return policy.Summary{}, t.failure(err)
		}
		warnings = append(warnings, fmt.Sprintf("the summarizer %s cannot be used (%v); the conversation's own model is asked", m.Info().ID, err))
		failed = &t.call
	}
	return policy.Summary{}, &policy.RungError{Reason: ReasonNoSummarizer,
		Err: errors.New("no model is there to summarize")}
}

// unusable reports whether err calls for another model.
func unusable(err error) bool {
	_, ok := asModelError(err)
	return ok
}

// task is one summary that is being written.
type task struct {
	*Writer
	model  model.Model
	r      policy.SummaryRequest
	prompt Prompt
	max    int // tokens of the summary
	output int // tokens of an answer
	window int // tokens of the model's window, lower after overflows

	mu   sync.Mutex // guards call while parts are summarized
	call precis.CallReport
}

// book adds the usage of a request to the report.
func (t *task) book(r model.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call.Add(r.Call())
}

// check returns the summary in an answer, or its flaw.
func (t *task) check(answer model.Response, p Prompt) (text string, flaw Flaw, why string) {
	limits := answerLimits{MaxTokens: t.max, Count: t.r.Count}
	if p.Parts <= 1 && (!p.Merge || p.Final) {
		limits.Replaces = t.r.Replaces
	}
	return checkAnswer(answer, p, limits)
}

func asModelError(err error) (*model.Error, bool) {
	var m *model.Error
	return m, errors.As(err, &m)
}

func (w *Writer) task(m model.Model, r policy.SummaryRequest, own bool) *task {
	info := m.Info()
	t := &task{Writer: w, model: m, r: r, prompt: w.c.Prompt, max: w.c.MaxTokens}
	if r.MaxTokens > 0 {
		t.max = min(t.max, r.MaxTokens)
	}
	t.output = t.max * 2 // reasoning in the text needs room, too
	if info.MaxOutput > 0 {
		t.output = min(t.output, info.MaxOutput)
	}
	t.window = cmp.Or(info.Window.Tokens, unknownWindow)
	if own && r.Live != nil {
		t.window = cmp.Or(r.Live.Window, t.window)
	}
	t.output = min(t.output, max(t.window/4, 1))
	t.max = min(t.max, t.output)
	t.prompt.Focus, t.prompt.MaxTokens, t.prompt.Previous = r.Focus, t.max*9/10, r.Previous != ""
	t.call = precis.CallReport{Model: info.ID, Provider: info.Provider, Custom: t.prompt.Custom != "",
		Separate: !own}
	return t
}

// addPaid adds the cost of a model tried before this one.
func (t *task) addPaid(c *precis.CallReport) {
	if c == nil {
		return
	}
	t.call.Add(precis.CallReport{Calls: c.Calls, Usage: c.Usage, CostUSD: c.CostUSD})
}

// failure wraps err in the rung's error.
func (t *task) failure(err error) error {
	call := t.call
	var known *policy.RungError
	if errors.As(err, &known) {
		return &policy.RungError{Reason: known.Reason, Call: &call, Err: known.Err}
	}
	reason := ReasonCallFailed
	if m, ok := asModelError(err); ok {
		switch m.Fault {
		case model.FaultOverflow:
			reason = ReasonTooLong
		case model.FaultBreaker:
			reason = ReasonBreaker
		}
	}
	return &policy.RungError{Reason: reason, Call: &call, Err: err}
}

// run returns the summary from the cache, or writes it with a request appended
// to the live one or with a separate request; in parts when it does not fit.
func (t *task) run(ctx context.Context) (string, error) {
	if err := t.before(ctx); err != nil {
		return "", err
	}
	key := t.key()
	text, paid := t.cached(ctx, key)
	if paid {
		t.call.Cached, t.call.Why = true, "the same span was summarized before"
	} else {
		var err error
		if text, err = t.write(ctx); err != nil {
			return "", err
		}
		t.selfCheck(ctx, text)
		t.storeSummary(ctx, key, text)
	}
	return t.runAfterHook(ctx, text)
}

func (t *task) write(ctx context.Context) (string, error) {
	why := t.whyNotLive()
	if why == "" {
		t.call.Form, t.call.Why = "cache", "the live request's prompt cache is read"
		p := t.prompt
		p.Ride = true
		text, err := t.ask(ctx, t.liveRequest(p), p)
		if !overflows(err) && !refused(err) {
			return text, err
		}
		why = "the live request with the instruction is larger than the model's window"
		if refused(err) {
			why = "the API refused to go on with the live request"
		}
	}
	t.call.Form, t.call.Why = "compact", why
	var messages []precis.Message
	for _, most := range []int{wholeResult, 8000, 2000, 500} {
		if messages = t.readableMessages(most); t.fits(messages) {
			text, err := t.ask(ctx, t.request(messages, t.prompt), t.prompt)
			if !overflows(err) {
				return text, err
			}
			t.learnWindow(err)
		}
	}
	t.call.Form, t.call.Why = "parts", "it is larger than the summarizer's window, long results cut"
	return byParts{t}.write(ctx, messages)
}

func overflows(err error) bool {
	m, ok := asModelError(err)
	return ok && m.Fault == model.FaultOverflow
}

// refused reports whether the API rejected the request as invalid.
func refused(err error) bool {
	m, ok := asModelError(err)
	return ok && m.Fault == model.FaultRequest
}

// ask sends the request, and once more when the answer is not a usable summary.
func (t *task) ask(ctx context.Context, r model.Request, p Prompt) (string, error) {
	for try := 0; ; try++ {
		answer, err := t.model.Generate(ctx, r)
		t.book(answer)
		if err != nil {
			return "", err
		}
		text, flaw, why := t.check(answer, p)
		if flaw == "" {
			return text, nil
		}
		if try == 1 {
			return "", &policy.RungError{Reason: precis.Reason(flaw),
				Err: errors.New("the model wrote no summary, twice: " + why)}
		}
		p.Wrong = why
		r.Messages = append(r.Messages[:len(r.Messages)-1:len(r.Messages)-1],
			precis.NewText(precis.RoleUser, p.Instruction()))
	}
}
