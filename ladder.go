package precis

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Outcome says how a rung ended.
type Outcome string

// The outcomes of a rung.
const (
	OutcomeAccepted Outcome = "accepted"
	OutcomeNothing  Outcome = "nothing" // the rung found nothing to do
	OutcomeRefused  Outcome = "refused" // its edit broke a rule
	OutcomeFailed   Outcome = "failed"  // it returned an error
	OutcomeSkipped  Outcome = "skipped" // it was not tried
)

// Step is what happened on one rung.
type Step struct {
	Rung    string        `json:"rung"`
	Outcome Outcome       `json:"outcome"`
	Code    Reason        `json:"code,omitempty"` // "" when accepted
	Reason  string        `json:"reason,omitempty"`
	Call    *CallReport   `json:"call,omitempty"` // what its model calls cost; nil when it made none
	Before  int           `json:"tokens_before"`
	After   int           `json:"tokens_after"`
	Took    time.Duration `json:"took_ns"`
}

// ladder runs strategies, least loss first, until the view is at or under the
// target. It changes the situation as edits are accepted.
type ladder struct {
	s     *Situation
	gate  Gate // nil: none
	now   func() time.Time
	edits []Edit
	steps []Step
}

// climb tries each strategy in turn. It returns an error only when the context
// ends; a rung that fails is a step, and the next one is tried.
func (l *ladder) climb(ctx context.Context, rungs []Strategy) error {
	for _, rung := range rungs {
		if err := ctx.Err(); err != nil {
			return &Error{Code: CodeCanceled, Op: "climb the ladder", Err: context.Cause(ctx)}
		}
		if l.s.Excess() <= 0 {
			return nil
		}
		if _, last := rung.(LastResort); last && l.s.fits() {
			l.steps = append(l.steps, Step{Rung: rung.Name(), Outcome: OutcomeSkipped, Before: l.s.Used, After: l.s.Used, Code: ReasonFits,
				Reason: "the view fits; what is left is kept whole"})
			continue
		}
		started, had := l.now(), len(l.edits)
		step := l.try(ctx, rung)
		step.Took = l.now().Sub(started)
		for i := range l.edits[had:] {
			l.edits[had+i].Report.Took = step.Took
		}
		l.steps = append(l.steps, step)
	}
	return nil
}

func (l *ladder) try(ctx context.Context, rung Strategy) Step {
	step := Step{Rung: rung.Name(), Outcome: OutcomeSkipped, Before: l.s.Used, After: l.s.Used}
	if _, model := rung.(UsesModel); model && l.s.Budget.Window.Tokens < l.s.Settings.MinModel {
		step.Code = ReasonSmallWindow
		step.Reason = fmt.Sprintf("windows under %d tokens get no model summary", l.s.Settings.MinModel)
		return step
	}
	e, err := rung.Propose(ctx, l.s)
	step.Call = e.Report.Call
	if err == nil && l.gate != nil && len(e.Replace) > 0 {
		e, err = l.gate.Check(ctx, l.s, e)
	}
	if err != nil {
		step.Outcome, step.Reason = OutcomeFailed, err.Error()
		code, call := reasonOf(err)
		if step.Code = code; call != nil {
			step.Call = call
		}
		return step
	}
	if len(e.Replace) == 0 {
		step.Outcome, step.Code, step.Reason = OutcomeNothing, e.Report.Code, e.Report.Reason
		if step.Code == "" {
			step.Code = ReasonNothing
		}
		return step
	}
	if err := l.accept(rung, e); err != nil {
		step.Outcome, step.Code, step.Reason = OutcomeRefused, ReasonBrokeRule, err.Error()
		if code, _ := reasonOf(err); code != ReasonFailed {
			step.Code = code
		}
		return step
	}
	step.Outcome, step.Reason, step.After = OutcomeAccepted, e.Report.Reason, l.s.Used
	return step
}

// accept adds the edit if the view with it keeps the rules: smaller, no new
// breach, nothing kept is touched. Reasoning that was bound to what the edit
// replaced leaves the view with it.
func (l *ladder) accept(rung Strategy, e Edit) error {
	s := l.s
	if err := e.Identify(s.Transcript); err != nil {
		return err
	}
	e.ID = unused(s.Edits, e.ID)
	if err := CheckEdit(s.Transcript, s.Edits, e); err != nil {
		return err
	}
	batch := []Edit{e}
	next := append(s.Edits[:len(s.Edits):len(s.Edits)], e)
	units := Units(s.Transcript, next)
	if t := unbind(s.Transcript, units, s.reasoning); len(t.Replace) > 0 {
		if err := t.Identify(s.Transcript); err != nil {
			return err
		}
		t.ID = unused(next, t.ID)
		batch, next = append(batch, t), append(next, t)
		units = Units(s.Transcript, next)
	}
	if _, last := rung.(LastResort); !last {
		if err := touched(s, units); err != nil {
			return err
		}
	}
	if broken := parted(s.Units, units); broken != "" {
		return Errorf(CodeInvalid, "check view", "%s", broken)
	}
	used := s.Used - s.tokens(s.Units) + s.tokens(units)
	if used >= s.Used {
		return &RungError{Reason: ReasonGrew, Err: Errorf(CodeInvalid, "check view", "the view would grow from %d to %d tokens", s.Used, used)}
	}
	for i := range batch {
		batch[i].Report.Rung = rung.Name()
		batch[i].Report.TokensBefore, batch[i].Report.TokensAfter = s.Used, used
		batch[i].Report.count(batch[i])
	}
	if len(batch) == 2 {
		mid := s.Used - s.tokens(s.Units) + s.tokens(Units(s.Transcript, next[:len(next)-1]))
		batch[0].Report.TokensAfter, batch[1].Report.TokensBefore = mid, mid
	}
	s.Edits = append(s.Edits[:len(s.Edits):len(s.Edits)], batch...)
	s.Units, s.Used = units, used
	l.edits = append(l.edits, batch...)
	return nil
}

// parted returns what an edit broke: a kind of breach the view before did not
// have. [Repair] would mend it, but an edit must not rely on that.
func parted(before, after []Unit) string {
	was := map[string]bool{}
	for _, b := range Check(messagesOf(before)) {
		was[b.Rule+b.Detail] = true
	}
	for _, b := range Check(messagesOf(after)) {
		if b.Rule == "pairing" && !was[b.Rule+b.Detail] {
			return b.String()
		}
	}
	return ""
}

// tokens counts the view as it is sent, repairs included.
func (s *Situation) tokens(units []Unit) int {
	view, _ := s.Repair(messagesOf(units))
	return s.Meter.View(view)
}

func (r *EditReport) count(e Edit) {
	r.Messages, r.Blocks = 0, 0
	for _, p := range e.Replace {
		if p.Block != nil {
			r.Blocks++
		} else {
			r.Messages += p.To - p.From
		}
	}
}

// touched returns an error when a kept message or pinned block that the view
// showed whole is changed or gone.
func touched(s *Situation, units []Unit) error {
	whole := map[int]bool{}
	for _, u := range s.Units {
		whole[u.From] = u.Original() && !u.Changed
	}
	for _, u := range units {
		for i := u.From; i < u.To; i++ {
			if !whole[i] || !s.Kept.Message(i) || u.Original() && (!u.Changed || onlyThinking(s.Transcript.At(i), u)) {
				continue
			}
			return Errorf(CodeInvalid, "check view", "message %d must be kept", i)
		}
	}
	return s.Kept.lost(s.Transcript, s.Units, units)
}

// lost returns an error when a pinned block that the view before showed is not
// in the view after.
func (k *Kept) lost(t *Transcript, before, after []Unit) error {
	if len(k.blocks) == 0 {
		return nil
	}
	was, is := shownBlocks(before), shownBlocks(after)
	for at := range k.blocks {
		if at[0] >= t.Len() || at[1] >= len(t.At(at[0]).Content) {
			continue
		}
		key := shownBlock{at[0], HashBlock(t.At(at[0]).Content[at[1]])}
		if was[key] && !is[key] {
			return Errorf(CodeInvalid, "check view", "block %s is pinned", BlockHandle(at[0], at[1]))
		}
	}
	return nil
}

type shownBlock struct {
	message int
	hash    Fingerprint
}

func shownBlocks(units []Unit) map[shownBlock]bool {
	out := map[shownBlock]bool{}
	for _, u := range units {
		if !u.Original() {
			continue
		}
		for _, m := range u.Messages {
			for _, b := range m.Content {
				out[shownBlock{u.From, HashBlock(b)}] = true
			}
		}
	}
	return out
}

// onlyThinking reports whether the unit differs from m in left-out reasoning
// alone.
func onlyThinking(m Message, u Unit) bool {
	var kept []Block
	for _, b := range m.Content {
		if !isThinking(b) {
			kept = append(kept, b)
		}
	}
	var shown []Block
	for _, msg := range u.Messages {
		for _, b := range msg.Content {
			if !isThinking(b) {
				shown = append(shown, b)
			}
		}
	}
	if len(kept) != len(shown) {
		return false
	}
	for i := range kept {
		if HashBlock(kept[i]) != HashBlock(shown[i]) {
			return false
		}
	}
	return true
}

// formatResponses is [Message.Format] of items of the Responses API.
const formatResponses = "responses"

func isThinking(b Block) bool {
	switch b.(type) {
	case Thinking, RedactedThinking:
		return true
	}
	return false
}

// unbind returns the edit that leaves out reasoning whose signature binds it to
// messages the view no longer shows as they were: all signed reasoning after
// the first change that the rule does not let stay. Providers refuse it
// otherwise. That of the Responses API is bound to nothing but its own item.
func unbind(t *Transcript, units []Unit, rule Reasoning) Edit {
	e := Edit{Kind: KindThinking, Report: EditReport{Reason: "its signature binds it to messages that are no longer shown as they were"}}
	if rule == ReasoningStays {
		return e
	}
	changed := false
	loop := openLoop(units, rule)
	for k, u := range units {
		if k >= loop {
			break
		}
		if !u.Original() || len(u.Messages) == 0 {
			changed = true
			continue
		}
		if changed {
			e.Replace = append(e.Replace, signed(t, u)...)
		}
		changed = changed || u.Changed
	}
	return e
}

// openLoop returns the first unit whose reasoning stays: that after the last
// user turn. Words beside a tool result go on with the turn.
func openLoop(units []Unit, rule Reasoning) int {
	if rule != ReasoningLoop {
		return len(units)
	}
	for k := len(units) - 1; k >= 0; k-- {
		for _, m := range units[k].Messages {
			if m.IsUserTurn() && !m.HasToolResult() {
				return k
			}
		}
	}
	return len(units)
}

func signed(t *Transcript, u Unit) []Replacement {
	if t.At(u.From).Format == formatResponses {
		return nil
	}
	var out []Replacement
	shown := map[Fingerprint]bool{}
	for _, b := range u.Messages[0].Content {
		if isThinking(b) {
			shown[HashBlock(b)] = true
		}
	}
	if len(shown) == 0 {
		return nil
	}
	for i, b := range t.At(u.From).Content {
		th, isText := b.(Thinking)
		if !isThinking(b) || isText && th.Signature == "" || !shown[HashBlock(b)] {
			continue
		}
		out = append(out, ReplaceBlock(t, u.From, i, nil))
	}
	return out
}

// errOverBudget returns the error for a view that does not fit whatever is cut.
func errOverBudget(d Decision, overhead, used int) error {
	return &Error{
		Code: CodeOverBudget, Op: "fit the view",
		Hint: "use a larger window, ask for less output, or shorten the system prompt and tools",
		Err: fmt.Errorf("%d tokens are left when everything that may be cut is cut (%d of them system prompt and tools); %s",
			used, overhead, d.Arithmetic()),
	}
}

// IsOverBudget reports whether err says that nothing is left to cut.
func IsOverBudget(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeOverBudget
}
