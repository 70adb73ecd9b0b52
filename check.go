package precis

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"time"
)

// check is one pass of a [Manager] over a conversation: what was found, what
// was decided, what was done.
type check struct {
	m        *Manager
	r        Request
	settings Settings
	started  time.Time
	factor   float64
	s        Situation
	decision Decision
	before   Size
	view     []Message
	repairs  []Breach
	steps    []Step
	edits    []Edit
	outcome  string
	retained *Retention // nil: not measured
	warnings []string
}

// begin measures the conversation and decides.
func (m *Manager) begin(r Request) (*check, error) {
	const op = "manage conversation"
	if r.Conversation == nil || r.Conversation.Transcript == nil {
		return nil, Errorf(CodeInvalid, op, "Request.Conversation has no transcript")
	}
	if r.Window.Tokens <= 0 {
		return nil, Errorf(CodeInvalid, op, "Request.Window is %d tokens", r.Window.Tokens)
	}
	if r.Forced && r.Retry >= MaxForced {
		return nil, &Error{Code: CodeOverBudget, Op: op, Err: fmt.Errorf("the provider refused the view %d times, each time a smaller one", r.Retry),
			Hint: "its window may be smaller than configured, or the system prompt and tools fill it"}
	}
	c := &check{m: m, r: r, settings: m.Settings(), started: m.o.Now(), factor: 1}
	if m.o.Calibrator != nil {
		c.factor = m.o.Calibrator.Factor(r.Conversation.Model)
	}
	conv := r.Conversation
	meter := r.Meter
	if meter == nil {
		meter = NewMeter(m.o.Counter)
	}
	overhead := meter.Overhead(conv)
	c.s = Situation{
		Conversation: conv, Transcript: conv.Transcript, Edits: conv.Edits, Meter: meter, Settings: c.settings,
		Profile: r.Profile, Forced: r.Forced || r.Manual, Automatic: !r.Manual, DryRun: r.DryRun, Focus: r.Focus, Live: r.Live,
		Units:  meter.units(conv.Transcript, conv.Edits),
		Budget: m.budget(c.settings, r.Window, r.MaxOutput, r.OutputLimit, overhead), dialect: r.Dialect, reasoning: r.Reasoning,
	}
	if !r.Manual {
		c.s.Environment = r.Environment
	}
	c.view, c.repairs = c.s.Repair(messagesOf(c.s.Units))
	c.s.Sent = c.view
	c.s.Used = overhead + meter.View(c.view)
	c.before = c.size(c.s.Used, c.view)
	// The provider knows better, and what is cut counts as it does; but more than
	// three times as much is no matter of counting.
	if n := c.before.Tokens; n > 0 && r.Reported > n && r.Reported <= 3*n {
		c.factor *= float64(r.Reported) / float64(n)
		c.before = c.size(c.s.Used, c.view)
	}
	c.decide()
	return c, nil
}

func (c *check) decide() {
	load := Load{Used: max(c.before.Tokens, c.r.Reported), Messages: len(c.view)}
	for _, m := range c.view {
		if m.IsUserTurn() {
			load.Turns++
		}
	}
	c.decision = Plan(load, c.s.Budget, c.settings, c.r.Profile)
	if c.r.Manual || c.r.Forced || c.r.Background {
		c.decision.Action, c.decision.Trigger = ActionReduce, TriggerForced
	}
	if c.r.Forced {
		// The provider counts more than we do, so what we counted is reduced as well.
		forced := min(c.r.Window.Tokens, load.Used) * int(ForcedPercent) / 100
		c.decision.Target = min(c.decision.Target, forced)
	}
	c.decision.Target = min(c.decision.Target, c.roomy())
	c.s.Limit = c.counted(max(c.decision.Allowed, 0))
	if c.r.Target > 0 {
		target := min(c.r.Target, int(max(c.decision.Allowed, 0)))
		if c.r.Forced {
			target = min(target, c.decision.Target)
		}
		c.decision.Target = target
	}
	c.s.Target = c.counted(float64(c.decision.Target))
	c.s.Trigger = c.counted(float64(c.r.Window.Tokens) * c.decision.Threshold / 100)
	if c.r.Target > 0 || c.r.Forced {
		c.s.Limit = c.s.Target
	}
}

// growthTurns is how many turns tell how fast a conversation grows.
const growthTurns = 10

// roomy returns the tokens to come down to so that as many turns as the settings
// want fit before the next reduction, if they are like the last ones: each
// reduction costs a prompt cache. It is not under the settings' floor, and not
// over what the threshold leaves.
func (c *check) roomy() int {
	window := float64(c.r.Window.Tokens)
	trigger := min(window*c.decision.Threshold/100, max(c.decision.Allowed, 0))
	if c.settings.Turns == 0 {
		return math.MaxInt
	}
	tokens, turns := 0, 0
	msgs := c.s.Transcript.Messages()
	for i := len(msgs) - 1; i >= 0 && turns < growthTurns; i-- {
		tokens += c.s.Meter.Message(msgs[i])
		if msgs[i].Role == RoleAssistant && (i == 0 || msgs[i-1].Role != RoleAssistant) {
			turns++
		}
	}
	if turns == 0 {
		return math.MaxInt
	}
	growth := float64(tokens) * c.factor / float64(turns)
	overhead := float64(c.s.Budget.Overhead) * c.factor // nothing of it can be cut
	floor := overhead + (window-overhead)*c.settings.Floor/100
	return int(max(trigger-growth*float64(c.settings.Turns), floor))
}

// counted turns real tokens into those the counter would count.
func (c *check) counted(tokens float64) int { return int(tokens / c.factor) }

func (c *check) size(counted int, view []Message) Size {
	up := func(n int) int { return int(math.Ceil(float64(n)*c.factor - 1e-6)) }
	return Size{Tokens: up(counted), Messages: len(view), Overhead: up(c.s.Budget.Overhead)}
}

// leftToCaller is the outcome of a check that only watches.
const leftToCaller = "left to the caller"

// reduce climbs the ladder when the decision says so.
func (c *check) reduce(ctx context.Context) error {
	if c.decision.Action != ActionReduce && c.decision.Action != ActionTruncate {
		c.outcome = fmt.Sprintf("nothing to do: %.1f %% of the window is used", c.decision.Percent)
		return nil
	}
	if c.r.Watch {
		c.outcome = leftToCaller
		return nil
	}
	fits := float64(c.before.Tokens) <= c.decision.Allowed
	rungs := c.rungs()
	if !c.r.Manual {
		why, capped := c.settings.Cap.Reached(c.s.Transcript, c.s.Edits, c.settings.Worth)
		if capped && fits && !c.r.Forced {
			c.outcome = "left alone: " + why
			return nil
		}
		if capped {
			rungs = c.without(rungs, ReasonCapped, why)
		}
	}
	if slices.ContainsFunc(rungs, usesModel) {
		if why := c.afford(ctx); why != "" {
			rungs = c.without(rungs, ReasonBudget, why)
		}
	}
	tail := min(int(c.settings.KeepShare*float64(c.r.Window.Tokens)/c.factor), c.s.Target/3)
	c.s.Kept = Keep(c.s.Transcript, c.s.Edits, c.s.Meter, c.settings.KeepMessages, tail)
	if c.settings.Pin != "" {
		c.s.Kept.Match(c.s.Transcript, regexp.MustCompile(c.settings.Pin)) // Validate compiled it before
	}
	l := ladder{s: &c.s, gate: c.m.o.Gate, now: c.m.o.Now}
	start := c.s
	err := l.climb(ctx, rungs)
	c.steps, c.edits = append(c.steps, l.steps...), l.edits
	if err == nil && fits && c.worthless(start.Used) {
		c.s, c.edits = start, nil
		return nil
	}
	c.view, c.repairs = c.s.Repair(messagesOf(c.s.Units))
	if a, ok := c.m.o.Gate.(Auditor); ok && len(c.edits) > 0 {
		r := a.Audit(&c.s, c.edits)
		c.retained = &r
	}
	after := c.size(c.s.Used, c.view)
	if err == nil && float64(after.Tokens) > c.decision.Allowed {
		c.outcome = "does not fit: nothing is left to cut"
		return errOverBudget(c.decision, after.Overhead, after.Tokens)
	}
	c.outcome = fmt.Sprintf("reduced from %d to %d tokens by %s", c.before.Tokens, after.Tokens, edits(len(c.edits)))
	if len(c.edits) == 0 {
		c.outcome = "left alone: no rung found anything to reduce"
		if start.Excess() <= 0 {
			c.outcome = fmt.Sprintf("left alone: %d tokens are within the target of %d", c.before.Tokens, c.decision.Target)
		}
	}
	return err
}

func usesModel(s Strategy) bool { _, ok := s.(UsesModel); return ok }

// without returns the rungs that call no model; the others become steps.
func (c *check) without(rungs []Strategy, code Reason, why string) []Strategy {
	return slices.DeleteFunc(rungs, func(s Strategy) bool {
		if !usesModel(s) {
			return false
		}
		c.steps = append(c.steps, Step{Rung: s.Name(), Outcome: OutcomeSkipped, Code: code, Reason: why, Before: c.s.Used, After: c.s.Used})
		return true
	})
}

func edits(n int) string {
	if n == 1 {
		return "1 edit"
	}
	return fmt.Sprintf("%d edits", n)
}

// worthless reports whether a run that was not needed to fit saved too little
// to be worth a new prompt cache, and says so.
func (c *check) worthless(before int) bool {
	saved := float64(before - c.s.Used)
	if c.r.Manual || c.r.Forced || c.s.Excess() <= 0 || saved >= c.settings.Worth*float64(before) {
		return false
	}
	c.outcome = fmt.Sprintf("left alone: the rungs would save %.0f of %d tokens, less than %.0f %%", saved, before, 100*c.settings.Worth)
	return true
}

// rungs returns the strategies to climb: those the settings name, in their
// order, or all; only those that hide and cut when automatic reduction is off.
func (c *check) rungs() []Strategy {
	all := c.m.o.Strategies
	var out []Strategy
	for _, name := range c.names() {
		i := slices.IndexFunc(all, func(s Strategy) bool { return s.Name() == name })
		if i >= 0 {
			out = append(out, all[i])
			continue
		}
		c.steps = append(c.steps, Step{Rung: name, Outcome: OutcomeSkipped, Code: ReasonUnavailable, Reason: "not available"})
	}
	return out
}

func (c *check) names() []string {
	var names []string
	if c.settings.Rungs == nil {
		for _, s := range c.m.o.Strategies {
			names = append(names, s.Name())
		}
	} else {
		names = slices.Clone(c.settings.Rungs)
	}
	if c.decision.Action == ActionTruncate {
		names = slices.DeleteFunc(names, func(n string) bool { return n != "truncate" && n != "clip" })
	}
	return names
}

// record gives the edits their identity and keeps them.
func (c *check) record(ctx context.Context) error {
	if len(c.edits) == 0 {
		return nil
	}
	conv := c.r.Conversation
	c.stamp()
	had := len(conv.Edits)
	err := c.m.keep(ctx, conv, c.edits...)
	c.edits = c.edits[:len(conv.Edits)-had]
	if err != nil { // what was not recorded is not shown either
		c.s.Edits, c.s.Units = conv.Edits, Units(conv.Transcript, conv.Edits)
		c.view, c.repairs = c.s.Repair(messagesOf(c.s.Units))
		c.s.Used = c.s.Budget.Overhead + c.s.Meter.View(c.view)
		c.outcome = "not recorded: " + err.Error()
	}
	return err
}

// stamp marks the edits as one run of this check.
func (c *check) stamp() {
	for i := range c.edits {
		e := &c.edits[i]
		e.Run, e.Time = c.edits[0].ID, c.started
		e.Report.Trigger = string(c.triggeredBy())
	}
}

func (c *check) triggeredBy() TriggeredBy {
	switch {
	case c.r.Forced:
		return TriggeredForced
	case c.r.Manual:
		return TriggeredManual
	case c.r.Background:
		return TriggeredBackground
	}
	return TriggeredAutomatic
}

func (c *check) result() Result {
	if c.r.DryRun || c.r.Unrecorded {
		c.stamp()
	}
	conv := c.r.Conversation
	return Result{View: c.view, Units: c.s.Units, Edits: c.edits, Report: Report{
		Conversation: conv.ID, Model: conv.Model, Preset: c.settings.Preset,
		Counter: c.m.o.Counter.Name(), Calibration: c.factor, TriggeredBy: c.triggeredBy(),
		Before: c.before, Said: c.said(), After: c.size(c.s.Used, c.view),
		Decision: c.decision, Arithmetic: c.decision.Arithmetic(), Outcome: c.outcome,
		Steps: c.steps, Edits: summarize(c.edits, c.factor), Repairs: c.repairs, Retention: c.retained, Warnings: c.warnings, Status: c.status(),
		Took: c.m.o.Now().Sub(c.started),
	}}
}

// said returns the tokens of everything as it was said.
func (c *check) said() int {
	if c.r.Meter == nil {
		return 0
	}
	return c.size(c.s.Budget.Overhead+c.s.Meter.View(c.s.Transcript.Messages()), nil).Tokens
}

func (c *check) status() Status {
	size := c.size(c.s.Used, c.view)
	s := Status{
		Tokens: size.Tokens, Window: c.r.Window.Tokens, Percent: c.s.Budget.Percent(size.Tokens),
		Messages: c.s.Transcript.Len(), Shown: len(c.view), Action: c.decision.Action,
	}
	s.count(c.s.Edits)
	return s
}
