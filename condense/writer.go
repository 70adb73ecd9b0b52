package condense

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"precis"
)

// Writer writes summaries with a model. Make one with [NewWriter]; it is safe for
// concurrent use.
type Writer struct {
	c WriterConfig
}

// WriterConfig says how a [Writer] asks. Model or Fallback is needed; the zero
// value of every other field is a default.
type WriterConfig struct {
	// Model writes the summaries; nil: Fallback does.
	Model precis.Model
	// Fallback is the conversation's own model. It is asked when Model cannot be,
	// with a warning in the report; nil: then the summary fails.
	Fallback precis.Model
	// Own returns the conversation's own model where each has another; it takes
	// the place of Fallback. It may return nil. Nil: Fallback is used.
	Own func(ctx context.Context, l *precis.Live) precis.Model
	// Prompt is what is asked for. Its fields for one request (Focus, Part …) are
	// set by the Writer.
	Prompt Prompt
	// MaxTokens is the size of a summary at most; 0 means 8192.
	MaxTokens int
	// KeepImages sends images to models that accept them; else each becomes a
	// note.
	KeepImages bool
	// Bare shows messages without their handles, as Roo Code does.
	Bare bool
	// Compact never rides on a live request.
	Compact bool
	// Parts is how many parts of a conversation that does not fit are summarized
	// at the same time; 0 means 2.
	Parts int
	// Cache keeps summaries, so that none is paid twice; nil: none is kept.
	Cache precis.SummaryStore
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
		return nil, precis.Errorf(precis.CodeInvalid, "make summary writer", "neither Model, Fallback nor Own is set")
	}
	if c.MaxTokens < 0 || c.Parts < 0 {
		return nil, precis.Errorf(precis.CodeInvalid, "make summary writer", "MaxTokens is %d and Parts %d, want 0 or more", c.MaxTokens, c.Parts)
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

// Summarize asks the model, checks the answer, and asks once more when it is no
// summary. The error is a [precis.RungError] that says why and what it cost.
func (w *Writer) Summarize(ctx context.Context, r precis.SummaryRequest) (precis.Summary, error) {
	started := time.Now()
	if len(r.Messages) == 0 {
		return precis.Summary{}, &precis.RungError{Reason: precis.ReasonTooFewMessages, Err: errors.New("there is nothing to summarize")}
	}
	if r.Count == nil {
		r.Count = chars4
	}
	var warnings []string
	var failed *precis.CallReport
	fallback := w.c.Fallback
	if w.c.Own != nil {
		fallback = w.c.Own(ctx, r.Live)
	}
	for i, m := range []precis.Model{w.c.Model, fallback} {
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
			return precis.Summary{Text: text, Usage: call.Usage, CostUSD: call.CostUSD, Took: call.Took, Call: &call}, nil
		}
		if i == 1 || fallback == nil || !unusable(err) || ctx.Err() != nil {
			return precis.Summary{}, t.failure(err)
		}
		warnings = append(warnings, fmt.Sprintf("the summarizer %s cannot be used (%v); the conversation's own model is asked", m.Info().ID, err))
		failed = &t.call
	}
	return precis.Summary{}, &precis.RungError{Reason: precis.ReasonNoSummarizer, Err: errors.New("no model is there to summarize")}
}

// unusable reports whether another model may do what one could not.
func unusable(err error) bool {
	_, ok := asModelError(err)
	return ok
}

// task is one summary that is being written.
type task struct {
	*Writer
	model  precis.Model
	r      precis.SummaryRequest
	prompt Prompt
	max    int // tokens of the summary
	output int // tokens of an answer
	window int // tokens of the model's window, learned from overflows; 0: as is known

	mu   sync.Mutex // guards call while parts are summarized
	call precis.CallReport
}

// book adds what a request used.
func (t *task) book(r precis.ModelResponse) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call.Add(r)
}

// check returns the summary in an answer, or what is wrong with it.
func (t *task) check(answer precis.ModelResponse, p Prompt) (text string, flaw Flaw, why string) {
	limits := answerLimits{MaxTokens: t.max, Count: t.r.Count}
	if p.Parts <= 1 && (!p.Merge || p.Final) {
		limits.Replaces = t.r.Replaces
	}
	return checkAnswer(answer, p, limits)
}

func asModelError(err error) (*precis.ModelError, bool) {
	var m *precis.ModelError
	return m, errors.As(err, &m)
}

func (w *Writer) task(m precis.Model, r precis.SummaryRequest, own bool) *task {
	info := m.Info()
	t := &task{Writer: w, model: m, r: r, prompt: w.c.Prompt, max: w.c.MaxTokens}
	if r.MaxTokens > 0 {
		t.max = min(t.max, r.MaxTokens)
	}
	t.output = t.max * 2 // thinking aloud takes room, too
	if info.MaxOutput > 0 {
		t.output = min(t.output, info.MaxOutput)
	}
	if w := info.Window.Tokens; w > 0 {
		t.output = min(t.output, max(w/4, 1))
	}
	t.max = min(t.max, t.output)
	t.prompt.Focus, t.prompt.MaxTokens, t.prompt.Previous = r.Focus, t.max*9/10, r.Previous != ""
	t.call = precis.CallReport{Model: info.ID, Provider: info.Provider, Custom: t.prompt.Custom != "", Separate: !own}
	return t
}

// addPaid adds what a model before this one cost.
func (t *task) addPaid(c *precis.CallReport) {
	if c == nil {
		return
	}
	t.call.Add(precis.ModelResponse{Attempts: c.Calls, Usage: c.Usage, CostUSD: c.CostUSD})
}

// failure makes the rung's error of err.
func (t *task) failure(err error) error {
	call := t.call
	var known *precis.RungError
	if errors.As(err, &known) {
		return &precis.RungError{Reason: known.Reason, Call: &call, Err: known.Err}
	}
	reason := precis.ReasonCallFailed
	if m, ok := asModelError(err); ok {
		switch m.Fault {
		case precis.FaultOverflow:
			reason = precis.ReasonTooLong
		case precis.FaultBreaker:
			reason = precis.ReasonBreaker
		}
	}
	return &precis.RungError{Reason: reason, Call: &call, Err: err}
}

// run writes the summary: from the cache, riding on the live request, or by
// itself; in parts when it must.
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
		t.keep(ctx, key, text)
	}
	return t.after(ctx, text)
}

func (t *task) write(ctx context.Context) (string, error) {
	why := t.cannotRide()
	if why == "" {
		t.call.Form, t.call.Why = "cache", "the live request's prompt cache is read"
		p := t.prompt
		p.Ride = true
		text, err := t.ask(ctx, t.ride(p), p)
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
		if messages = t.compact(most); t.fits(messages) {
			text, err := t.ask(ctx, t.request(messages, t.prompt), t.prompt)
			if !overflows(err) {
				return text, err
			}
			t.learn(err)
		}
	}
	t.call.Form, t.call.Why = "parts", "it is larger than the summarizer's window, long results cut"
	return t.inParts(ctx, messages)
}

func overflows(err error) bool {
	m, ok := asModelError(err)
	return ok && m.Fault == precis.FaultOverflow
}

// refused reports whether the API takes the request for wrong.
func refused(err error) bool {
	m, ok := asModelError(err)
	return ok && m.Fault == precis.FaultRequest
}

// ask asks, and once more when the answer is no summary.
func (t *task) ask(ctx context.Context, r precis.ModelRequest, p Prompt) (string, error) {
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
			return "", &precis.RungError{Reason: precis.Reason(flaw), Err: errors.New("the model wrote no summary, twice: " + why)}
		}
		p.Wrong = why
		r.Messages = append(r.Messages[:len(r.Messages)-1:len(r.Messages)-1], precis.NewText(precis.RoleUser, p.Instruction()))
	}
}
