package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
	"github.com/precis-dev/precis/internal/visible"
)

// pass is one run of a [Manager] over a conversation: the measured view, the decision, and the
// results.
type pass struct {
	m        *Manager
	r        Request
	settings Settings
	started  time.Time
	factor   float64
	s        Situation
	decision Decision
	before   Size
	view     []precis.Message
	repairs  []precis.Breach
	steps    []precis.RungResult
	edits    []precis.Edit
	outcome  string
	ended    Ending
	retained *Retention // nil: not measured
	gone     *Loss      // nil: no loss
	warnings []string
}

// begin measures the conversation and decides.
func (m *Manager) begin(r Request) (*pass, error) { return m.beginWith(r, m.Settings()) }

func (m *Manager) beginWith(r Request, settings Settings) (*pass, error) {
	const op = "manage conversation"
	if r.Conversation == nil || r.Conversation.Transcript == nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "Request.Conversation has no transcript")
	}
	if r.Window.Tokens <= 0 {
		return nil, precis.Errorf(precis.CodeInvalid, op, "Request.Window is %d tokens", r.Window.Tokens)
	}
	if r.TriggeredBy == precis.TriggeredForced && r.Retry >= MaxForced {
		return nil, &precis.Error{Code: precis.CodeOverBudget, Op: op,
			Err:  fmt.Errorf("the provider refused the view %d times, each time a smaller one", r.Retry),
			Hint: "its window may be smaller than configured, or the system prompt and tools fill it"}
	}
	r.TriggeredBy = cmp.Or(r.TriggeredBy, precis.TriggeredAutomatic)
	p := &pass{m: m, r: r, settings: settings, started: m.o.Now(), factor: m.factor(r.Conversation.Model)}
	conv := r.Conversation
	meter := r.Meter
	if meter == nil {
		meter = m.NewMeter()
	}
	meter.For(conv)
	if factor, known := meter.Factor(); known {
		p.factor = factor
	}
	before := meter.Overhead(conv)
	overhead := before.Sum()
	// A target too small for the unrecorded tokens is taken as one for the messages alone.
	if n := calibrated(before.Unrecorded, p.factor); r.Target > 0 && int(r.Target) <= n {
		p.r.Target += Tokens(n)
	}
	p.s = Situation{
		Conversation: conv, Transcript: conv.Transcript, Edits: conv.Edits, Meter: meter,
		Settings: p.settings,
		Profile:  r.Profile, Forced: p.forced() || p.manual(), Automatic: !p.manual(), DryRun: r.DryRun,
		Focus: r.Focus, Live: r.Live,
		Units:  meter.Units(conv.Transcript, conv.Edits),
		Budget: p.settings.Budget(r.Window, r.MaxOutput, r.OutputLimit, overhead), dialect: r.Dialect,
		mend: r.Mend, reasoning: r.Reasoning,
	}
	if !p.manual() {
		p.s.Environment = r.Environment
	}
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
	p.s.Sent = p.view
	p.s.Used = overhead + meter.View(p.view)
	p.measureAttachments()
	p.before = p.size(p.s.Used, p.view)
	// The provider's count is scaled to, so that the target is met in its tokens. A
	// ratio over three is not a difference of tokenizers and is ignored.
	if n := p.before.Tokens; n > 0 && r.Reported > n && r.Reported <= 3*n {
		p.factor *= float64(r.Reported) / float64(n)
		p.before = p.size(p.s.Used, p.view)
	}
	p.decide()
	return p, nil
}

func (p *pass) decide() {
	load := Load{Used: max(p.before.Tokens, p.r.Reported)}
	p.decision = Plan(load, p.s.Budget, p.settings, p.r.Profile)
	defer p.pinsDue()
	if p.r.TriggeredBy != precis.TriggeredAutomatic {
		p.decision.Action, p.decision.Trigger = ActionReduce, triggerForced
	}
	allowed := max(p.decision.Allowed, 0)
	if p.forced() {
		// The provider counts more than we do, so what we counted is reduced as well.
		forced := min(p.r.Window.Tokens, load.Used) * int(forcedPercent) / 100
		p.decision.Target = min(p.decision.Target, forced)
		allowed = min(allowed, float64(forced))
	}
	p.s.Limit = p.counted(allowed)
	if p.r.Target > 0 {
		target := min(int(p.r.Target), int(max(p.decision.Allowed, 0)))
		if p.forced() {
			target = min(target, p.decision.Target)
		}
		p.decision.Target = target
	}
	if p.manual() && p.r.Target == 0 && p.r.To == 0 && p.settings.Target == 0 {
		// Whoever comes down to all that is allowed would do nothing when asked.
		p.decision.Target = min(p.decision.Target, int(float64(p.before.Tokens)*(1-p.settings.MinSaving)))
	}
	p.s.Target = p.counted(float64(p.decision.Target))
	p.s.Trigger = p.counted(float64(p.r.Window.Tokens) * p.decision.Threshold / 100)
	if p.r.Target > 0 {
		p.s.Limit = p.s.Target
	}
	p.applyLimits()
	if p.r.To > 0 { // one edit, whatever it saves
		p.decision.Target = max(p.before.Tokens-1, 0)
		p.s.From, p.s.To, p.s.Target = p.r.From, p.r.To, p.s.Used-1
	}
}

// pinsDue makes a pass due that shows hidden pinned messages again.
func (p *pass) pinsDue() {
	if p.decision.Action == ActionReduce || p.decision.Action == ActionTruncate || !p.settings.Auto ||
		p.settings.Observe || len(precis.Pinned(p.s.Edits)) == 0 {
		return
	}
	s := p.s
	s.Kept = pinsOf(s.Transcript, s.Edits)
	if len(s.unmetPins()) > 0 {
		p.decision.Action, p.decision.Trigger = ActionReduce, triggerPins
	}
}

// counted converts real tokens to the counter's.
func (p *pass) counted(tokens float64) int { return int(tokens / p.factor) }

func (p *pass) size(counted int, view []precis.Message) Size {
	up := func(n int) int { return calibrated(n, p.factor) }
	return Size{
		Tokens: up(counted), Messages: len(view), Overhead: up(p.s.Budget.Overhead),
		Media: up(p.s.Meter.Media(view)), Guessed: up(p.s.Guessed),
	}
}

// leftToCaller is the outcome of a check that only watches.
const leftToCaller = "left to the caller"

// reduce climbs the ladder when the decision says so.
func (p *pass) reduce(ctx context.Context) error {
	if p.decision.Action != ActionReduce && p.decision.Action != ActionTruncate {
		p.end(EndedNotDue, "nothing to do: %s of the window is used", number.Percent(p.decision.Percent))
		return nil
	}
	if p.r.Watch {
		p.end(EndedWatching, leftToCaller)
		return nil
	}
	if p.r.To > 0 {
		if err := p.checkRange(); err != nil {
			return err
		}
	}
	p.attach()
	fits := float64(p.before.Tokens) <= p.decision.Allowed
	rungs := p.rungs()
	if !p.manual() && p.r.Limits == (Limits{}) {
		why, capped := p.settings.Cap.Reached(p.s.Transcript, p.s.Edits, p.settings.MinSaving)
		if capped && fits && !p.forced() {
			p.end(EndedCapped, "left alone: %s", why)
			return nil
		}
		if capped {
			rungs = p.without(rungs, ReasonCapped, why)
		}
	}
	if p.r.WithoutModels {
		rungs = p.without(rungs, ReasonNoModels, "no model is to be called")
	}
	if slices.ContainsFunc(rungs, usesModel) {
		if why := p.whyNoModel(ctx); why != "" {
			rungs = p.without(rungs, ReasonBudget, why)
		}
	}
	if p.s.shared == nil {
		p.s.shared = map[any]any{} // the climbs of this pass share data derived from the originals
	}
	start := p.s
	err := p.climb(ctx, rungs)
	if p.r.To > 0 {
		return p.reduceRange(start, err)
	}
	if p.r.Limits != (Limits{}) {
		return p.reduceToLimits(err)
	}
	if err == nil && !p.limitLoss(ctx, start, rungs, fits) {
		return nil
	}
	if err == nil && fits && !p.showsPins() && p.worthless(&start) {
		p.drop(start)
		return nil
	}
	if err == nil && fits && p.s.Used >= start.Used &&
		!(p.showsPins() && float64(p.size(p.s.Used, nil).Tokens) <= p.decision.Allowed) {
		p.drop(start)
	}
	p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
	after := p.size(p.s.Used, p.view)
	if attached := calibrated(p.s.Attached, p.factor); err == nil &&
		float64(after.Tokens-attached) > p.decision.Allowed {
		p.end(EndedOverBudget, "does not fit: nothing is left to cut")
		return errOverBudget(p.decision, after.Overhead, after.Tokens)
	}
	p.end(EndedReduced, "reduced from %s to %s tokens by %s", number.Thousands(p.before.Tokens),
		number.Thousands(after.Tokens), edits(len(p.edits)))
	if r := p.retained; r != nil && len(r.RulesLost) > 0 {
		p.outcome += fmt.Sprintf("; %d of %d rules of the user are not in it word for word", len(r.RulesLost),
			r.Rules)
	}
	if len(p.edits) == 1 && p.showsPins() {
		p.end(EndedReduced, "what is pinned is shown again: from %s to %s tokens",
			number.Thousands(p.before.Tokens), number.Thousands(after.Tokens))
	}
	if p.gone != nil {
		p.outcome += "; breach: in no form in it are " + p.gone.String()
	}
	if len(p.edits) == 0 {
		p.end(EndedNothing, "left alone: no rung found anything to reduce")
		if start.Excess() <= 0 {
			p.end(EndedWithin, "left alone: %s tokens are within the target of %s",
				number.Thousands(p.before.Tokens), number.Thousands(p.decision.Target))
		}
	}
	return err
}

// drop discards the edits of the run.
func (p *pass) drop(start Situation) { p.s, p.edits, p.retained, p.gone = start, nil, nil, nil }

// limitLoss checks for content that the run removed from the view entirely. An automatic run without a
// target is dropped if the view fits without it. Otherwise spare also tries a run that reduces only
// to the limit, and takes it if it loses less. It reports whether the run stays in effect.
func (p *pass) limitLoss(ctx context.Context, start Situation, rungs []Strategy, fits bool) bool {
	p.gone = p.goneSince(start)
	if p.gone == nil || p.manual() || p.r.Target > 0 {
		return true
	}
	if fits && !p.forced() {
		p.end(EndedWouldLose, "left alone: in no form in the view would be %s", p.gone)
		p.drop(start)
		return false
	}
	if start.Target >= start.Limit || p.gone.onlyHidden() && start.leastShare() > MaxHidden {
		return true // no gentler run exists, or none that hides little enough
	}
	first := *p
	p.s = start
	p.s.Target = start.Limit
	rungs = slices.DeleteFunc(slices.Clone(rungs), usesModel) // a model was asked before
	if err := p.climb(ctx, rungs); err != nil || p.s.Used > start.Limit || len(p.edits) == 0 {
		*p = first
		return true
	}
	if p.gone = p.goneSince(start); p.gone != nil && !p.gone.less(first.gone) {
		*p = first
		return true
	}
	p.s.Target = start.Target
	return true
}

// leastShare returns the share of the messages' tokens that any run must hide for the view to fit.
func (s *Situation) leastShare() float64 {
	all := s.Used - s.Budget.Overhead
	if all <= 0 {
		return 0
	}
	return float64(s.Used-s.Limit) / float64(all)
}

// goneSince returns the content that the run removed from the view entirely; nil: none, or the gate
// cannot report it.
func (p *pass) goneSince(start Situation) *Loss {
	w, ok := p.m.o.Gate.(LossReporter)
	if !ok || len(p.edits) == 0 {
		return nil
	}
	if g := w.Loss(&p.s, start.Edits); !g.Empty() {
		return &g
	}
	return nil
}

// end records how the check ended, in one word and in one sentence.
func (p *pass) end(how Ending, format string, args ...any) {
	p.ended, p.outcome = how, fmt.Sprintf(format, args...)
}

// showsPins reports whether the run shows hidden pins again.
func (p *pass) showsPins() bool {
	return slices.ContainsFunc(p.edits, func(e precis.Edit) bool { return e.Report.Rung == pinsRung })
}

// without returns the rungs that call no model; the others become steps.
func (p *pass) without(rungs []Strategy, code precis.Reason, why string) []Strategy {
	return slices.DeleteFunc(rungs, func(s Strategy) bool {
		if !usesModel(s) {
			return false
		}
		p.steps = append(p.steps, precis.RungResult{Rung: s.Name(), Outcome: precis.OutcomeSkipped,
			Code:   code,
			Reason: why, Before: p.s.Used, After: p.s.Used})
		return true
	})
}

func edits(n int) string {
	if n == 1 {
		return "1 edit"
	}
	return fmt.Sprintf("%d edits", n)
}

// worthless reports whether a run that was not needed to fit saved too little to be worth a new
// prompt cache, and records that.
func (p *pass) worthless(start *Situation) bool {
	if p.manual() || p.forced() {
		return false
	}
	before, after := start.Used, p.s.Used
	if saved := float64(before - after); saved >= p.settings.MinSaving*float64(before) {
		return false
	}
	p.end(EndedWorthless, "left alone: the rungs would save %s of %s tokens, less than %.0f %%",
		number.Thousands(before-after), number.Thousands(before), 100*p.settings.MinSaving)
	return true
}

// rungs returns the strategies to climb: those in the settings, in their order, or all; only
// strategies that hide and cut when automatic reduction is off.
func (p *pass) rungs() []Strategy {
	all := p.m.o.Strategies
	var out []Strategy
	if p.r.Limits != (Limits{}) {
		return p.limitedRungs()
	}
	if p.r.To > 0 {
		bare := slices.ContainsFunc(all, omitsOnly) // what others say would have no place
		for _, s := range all {
			if TraitsOf(s).TakesRange && omitsOnly(s) == bare &&
				(!usesModel(s) || slices.Contains(p.names(), s.Name())) {
				out = append(out, s)
			}
		}
		return out
	}
	for _, name := range p.names() {
		i := slices.IndexFunc(all, func(s Strategy) bool { return s.Name() == name })
		if i >= 0 {
			out = append(out, all[i])
			continue
		}
		p.steps = append(p.steps, precis.RungResult{Rung: name, Outcome: precis.OutcomeSkipped,
			Code: reasonUnavailable, Reason: "not available"})
	}
	return out
}

func (p *pass) names() []string {
	var names []string
	if p.settings.Rungs == nil {
		for _, s := range p.m.o.Strategies {
			names = append(names, s.Name())
		}
	} else {
		names = slices.Clone(p.settings.Rungs)
	}
	if p.decision.Action == ActionTruncate {
		names = slices.DeleteFunc(names, func(n string) bool { return n != "truncate" && n != "clip" })
	}
	return names
}

// record gives the edits their identity and stores them.
func (p *pass) record(ctx context.Context) error {
	if len(p.edits) == 0 {
		return nil
	}
	conv := p.r.Conversation
	p.markRun()
	had := len(conv.Edits)
	err := p.m.recorder().record(ctx, conv, p.edits...)
	p.edits = p.edits[:len(conv.Edits)-had]
	if err != nil { // unrecorded edits are not shown either
		p.s.Edits, p.s.Units = conv.Edits, precis.Units(conv.Transcript, conv.Edits)
		p.view, p.repairs = p.s.Repair(p.s.Transcript.Render(p.s.Units))
		p.s.Used = p.s.Budget.Overhead + p.s.Meter.View(p.view) - p.s.Guessed
		p.end(EndedUnrecorded, "not recorded: %v", err)
	}
	return err
}

// markRun marks the edits as one run of this check; the first one gets the outcome of each rung.
func (p *pass) markRun() {
	if len(p.edits) == 0 {
		return
	}
	p.edits[0].Report.Steps = stepsOf(p.steps)
	for i := range p.edits {
		e := &p.edits[i]
		e.Run, e.Time = p.edits[0].ID, p.started
		e.Report.Trigger = string(p.r.TriggeredBy)
	}
}

// forced reports whether the provider refused the view as too long, manual whether a user asked for the
// reduction.
func (p *pass) forced() bool { return p.r.TriggeredBy == precis.TriggeredForced }
func (p *pass) manual() bool { return p.r.TriggeredBy == precis.TriggeredManual }

func (p *pass) result() Result {
	if p.r.DryRun || p.r.Unrecorded {
		p.markRun()
	}
	conv := p.r.Conversation
	return Result{View: slices.Clone(p.view), Units: p.s.Units, Edits: p.edits, Report: Report{
		Conversation: conv.ID, Model: conv.Model, Preset: p.settings.Preset,
		Counter: p.m.o.Counter.Name(), Calibration: p.factor, Overhead: p.s.Meter.Overhead(p.s.Conversation),
		TriggeredBy: p.r.TriggeredBy,
		Before:      p.before, Unreduced: p.unreducedTokens(), After: p.size(p.s.Used, p.view),
		Decision: p.decision, Arithmetic: p.decision.Arithmetic(), Outcome: p.outcome, Ended: p.ended,
		Steps: p.steps, Edits: summarize(p.edits, p.factor), Repairs: p.repairs, Retention: p.retained,
		Loss: p.gone, Warnings: p.warnings, Status: p.status(),
		Took: p.m.o.Now().Sub(p.started),
	}}
}

// unreducedTokens returns the tokens of the unreduced conversation.
func (p *pass) unreducedTokens() int {
	if p.r.Meter == nil {
		return 0
	}
	return p.size(p.s.Budget.Overhead+p.s.Meter.View(p.s.Transcript.Messages()), nil).Tokens
}

func (p *pass) status() Status {
	size := p.size(p.s.Used, p.view)
	s := Status{
		Tokens: size.Tokens, Window: p.r.Window.Tokens, Percent: p.s.Budget.Percent(size.Tokens),
		Messages: p.s.Transcript.Len(), Shown: originals(p.s.Units), Action: p.decision.Action,
	}
	s.count(p.s.Edits)
	return s
}

// originals counts the messages of a transcript that pieces of its view show, whole or
// shortened.
func originals(units []precis.Unit) int {
	n := 0
	for _, u := range units {
		if u.Original() && len(u.Messages) > 0 {
			n++
		}
	}
	return n
}

// stepsOf returns the steps of a run as its first edit keeps them.
func stepsOf(steps []precis.RungResult) []precis.RungResult {
	out := slices.Clone(steps[max(len(steps)-MaxSteps, 0):])
	for i, s := range out {
		out[i].Reason = visible.Cut(s.Reason, MaxStepReason)
		if s.Outcome == precis.OutcomeAccepted {
			out[i].Call = nil // its edit has it
		}
	}
	return out
}

// Limits of [EditReport.Steps].
const (
	MaxSteps      = 32  // steps that are kept; the oldest ones are left out
	MaxStepReason = 240 // bytes of a reason that are kept
)
