package policy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/number"
	"github.com/precis-dev/precis/measure"
)

// Situation is the input of a strategy. It is read only.
type Situation struct {
	Conversation *precis.Conversation
	Transcript   *precis.Transcript
	Edits        []precis.Edit // in force or not, including this run's
	Units        []precis.Unit // the view now
	Kept         *Kept
	Meter        *measure.Meter
	Budget       Budget
	Settings     Settings
	Profile      string
	// the messages to replace, exactly, see [Traits.TakesRange]; To 0: what a strategy chooses
	From, To int
	Used     int // tokens of the view and the overhead, as the Meter counts, without Guessed
	// of Used, in a view that does not fit, the tokens of attachments; see [Situation.IsAttachment]
	Attached  int
	Guessed   int // estimated tokens of such attachments beyond half of the target
	Target    int // tokens to come down to, as the Meter counts
	Limit     int // tokens the view must not pass, as the Meter counts
	Trigger   int // tokens at which the next check would act again
	Forced    bool
	Automatic bool   // no user asked for this run
	DryRun    bool   // make no call that costs money
	Limits    Limits // set if the API refused the view for its images
	Focus     string // what the user asked summaries to pay attention to; may be empty
	// state of the client's program (open files, time) sent with each turn; "" on manual runs
	Environment string
	Live        *LiveRequest     // the request being answered; nil: none
	Sent        []precis.Message // the view before this run, which a prompt cache may hold

	attached  *attachments // nil: none
	maxLoad   int          // messages that are left at most; 0: any number
	dialect   precis.Dialect
	mend      bool
	reasoning precis.ReasoningRule
	shared    map[any]any
}

// Repair returns the messages as they can be sent: unchanged if the conversation's dialect takes
// them, else mended by [precis.Repair]. With a dialect, the messages came from a client, which is
// responsible for their form: only damage by an edit is mended, see [precis.RepairNew].
func (s *Situation) Repair(view []precis.Message) ([]precis.Message, []precis.Breach) {
	if s.dialect != nil && len(s.dialect.Check(view)) == 0 {
		return view, nil
	}
	if s.dialect == nil || s.mend {
		return precis.Repair(view)
	}
	return precis.RepairNew(view,
		s.Once(saidBreaches{}, func() any { return precis.Check(s.Transcript.Messages()) }).([]precis.Breach))
}

// saidBreaches is the key of the breaches that the client's own messages have.
type saidBreaches struct{}

// Once memoizes expensive work for one run of the ladder: it calls work the first
// time and returns the same value for the same key afterwards. Keys should have an
// unexported type, as with contexts.
func (s *Situation) Once(key any, work func() any) any {
	v, ok := s.shared[key]
	if !ok {
		v = work()
		if s.shared == nil {
			s.shared = map[any]any{}
		}
		s.shared[key] = v
	}
	return v
}

// Excess returns the tokens the view is over its target; 0 or less when it is
// not.
func (s *Situation) Excess() int { return s.Used - s.Target }

// ExcessMessages returns how many of the oldest messages of the view must be hidden because the API refuses
// so many, whatever their tokens; 0 for none.
func (s *Situation) ExcessMessages() int {
	if s.maxLoad == 0 {
		return 0
	}
	return max(len(s.Transcript.Render(s.Units))-s.maxLoad, 0)
}

// Fit returns the most tokens, overhead included, of a view that can be sent and would
// not be reduced again at once. Last resorts come down to it where the target would cut
// what nobody has read.
func (s *Situation) Fit() int {
	if s.Trigger > 0 {
		return min(s.Limit, s.Trigger-1)
	}
	return s.Limit
}

// fits reports whether the view can be sent and would not be reduced again at
// once.
func (s *Situation) fits() bool { return s.Used <= s.Limit && s.Used < s.Trigger }

// onlyUnread reports whether a view that fits exceeds its target only because of the newest
// message, which no model has read. Further hiding would only make room for that message.
func (s *Situation) onlyUnread() bool {
	n := len(s.Units)
	return s.Automatic && n > 0 && s.fits() && s.ExcessMessages() == 0 &&
		s.Used-s.Meter.View(s.Units[n-1].Messages) <= s.Target
}

// EachOriginal calls f for each original message still shown, with its unit.
func (s *Situation) EachOriginal(f func(i int, m precis.Message, u precis.Unit)) {
	for _, u := range s.Units {
		if u.Original() && len(u.Messages) > 0 {
			f(u.From, u.Messages[0], u)
		}
	}
}

// Group returns the index in Units after the last unit of the group of unit i, and whether the
// group may be hidden: it contains no kept message. A summary of hidden messages may be replaced
// even if some of them are pinned.
func (s *Situation) Group(i int) (end int, free bool) { return s.group(i, s.Kept.Message) }

// GroupToQuote is Group for an edit that quotes [Situation.LastWords] word for word, so that the
// last user turn need not be kept.
func (s *Situation) GroupToQuote(i int) (end int, free bool) {
	if s.LastWords() == "" {
		return s.Group(i)
	}
	return s.group(i, s.Kept.isKept)
}

// LastWords returns the words of the last user turn that the view shows; "" for none.
func (s *Situation) LastWords() string {
	if s.Kept.LastUser < 0 {
		return ""
	}
	return s.Transcript.Speech().AllWords(s.Kept.LastUser)
}

func (s *Situation) group(i int, kept func(message int) bool) (end int, free bool) {
	u := s.Units[i]
	end, free = i+1, true
	if u.Original() {
		_, to := s.Kept.Group(u.From)
		for end < len(s.Units) && s.Units[end].Original() && s.Units[end].From < to {
			end++
		}
	}
	for _, u := range s.Units[i:end] {
		for k := u.From; k < u.To; k++ {
			if kept(k) && (u.Original() || !s.Kept.pinned[k]) || u.Original() && s.Kept.Pinned(k) {
				free = false
			}
		}
	}
	return end, free
}

// Gate inspects an edit before it is accepted and adds facts that the view would otherwise lose.
// Implementations are safe for concurrent use.
type Gate interface {
	Admit(ctx context.Context, s *Situation, e precis.Edit) (precis.Edit, error)
}

// ladder runs strategies, least loss first, until the view is at or under the
// target. It changes the situation as edits are accepted.
type ladder struct {
	s      *Situation
	gate   Gate // nil: none
	arm    string
	now    func() time.Time
	onStep func(precis.RungResult) // receives each step after its rung ended
	edits  []precis.Edit
	steps  []precis.RungResult

	hooks    Hooks
	trigger  precis.TriggeredBy
	warnings []string // of hooks that failed
}

// climb tries each strategy in turn. It returns an error only when the context
// ends; a rung that fails is a step, and the next one is tried.
func (l *ladder) climb(ctx context.Context, rungs []Strategy) error {
	if len(rungs) > 0 {
		l.showPinned()
	}
	filled := false
	for _, rung := range rungs {
		if err := ctx.Err(); err != nil {
			return &precis.Error{Code: precis.CodeCanceled, Op: "climb the ladder", Err: context.Cause(ctx)}
		}
		if l.s.Excess() <= 0 {
			if l.s.ExcessMessages() == 0 {
				return nil
			}
			if !TraitsOf(rung).HidesMessages {
				continue
			}
		}
		if isLastResort(rung) && l.s.fits() {
			l.steps = append(l.steps, precis.RungResult{Rung: rung.Name(), Outcome: precis.OutcomeSkipped,
				Before: l.s.Used, After: l.s.Used, Code: reasonFits,
				Reason: "the view fits; what is left is kept whole"})
			continue
		}
		if TraitsOf(rung).HidesMessages && filled && l.s.onlyUnread() {
			l.steps = append(l.steps, precis.RungResult{Rung: rung.Name(), Outcome: precis.OutcomeSkipped,
				Before: l.s.Used, After: l.s.Used, Code: reasonFits,
				Reason: "the view fits, and only what nobody has read yet keeps it over its target"})
			continue
		}
		started, had := l.now(), len(l.edits)
		step := l.try(ctx, rung)
		step.Took = l.now().Sub(started)
		for i := range l.edits[had:] {
			l.edits[had+i].Report.Took = step.Took
		}
		l.onStep(step)
		l.steps = append(l.steps, step)
		if TraitsOf(rung).StopsAtLimit {
			filled = step.Outcome == precis.OutcomeAccepted
		}
	}
	for _, rung := range rungs {
		if TraitsOf(rung).StopsAtLimit && l.s.Excess() > 0 && l.s.Used < l.s.Fit() {
			l.refill(ctx, rung)
		}
	}
	return nil
}

// refill climbs a rung again to replace its edit of this run, if a later rung left room. It has no
// effect unless the new edit shows more than the one before.
func (l *ladder) refill(ctx context.Context, rung Strategy) {
	at := slices.IndexFunc(l.edits, func(e precis.Edit) bool { return e.Report.Rung == rung.Name() })
	if at < 0 || at == len(l.edits)-1 {
		return
	}
	was, edits, id := *l.s, l.edits, l.edits[at].ID
	without := func(edits []precis.Edit) []precis.Edit {
		return slices.DeleteFunc(slices.Clone(edits), func(e precis.Edit) bool { return e.ID == id })
	}
	s := l.s
	s.Edits, l.edits = without(s.Edits), without(edits)
	s.Units = precis.Units(s.Transcript, s.Edits)
	s.Used = s.Budget.Overhead + s.tokens(s.Units)
	for i := at; i < len(l.edits); i++ { // their place in the list has changed
		r := &l.edits[i].Report
		r.TokensBefore, r.TokensAfter = r.TokensBefore+s.Used-was.Used, r.TokensAfter+s.Used-was.Used
		s.Edits[len(s.Edits)-len(l.edits)+i].Report = *r
	}
	started := l.now()
	step := l.try(ctx, rung)
	step.Took = l.now().Sub(started)
	if step.Outcome != precis.OutcomeAccepted || !s.fits() || s.Used <= was.Used {
		*s, l.edits = was, edits
		return
	}
	step.Reason += ", again with the room that later rungs left"
	l.onStep(step)
	l.steps = append(l.steps, step)
}

// pinsRung is the name of the step that shows pinned messages again.
const pinsRung = "pins"

// showPinned shows pinned messages again that earlier reductions hide, newest first, in at most a
// third of the target. A later rung rewrites the summaries that covered them.
func (l *ladder) showPinned() {
	s := l.s
	e := precis.Edit{Kind: precis.KindRestore,
		Report: precis.EditReport{Rung: pinsRung, Reason: "pinned messages are shown again"}}
	for _, span := range s.unmetPins() {
		e.Replace = append(e.Replace, precis.Replacement{From: span[0], To: span[1], Restore: true})
	}
	if len(e.Replace) == 0 || e.Identify(s.Transcript) != nil {
		return
	}
	e.ID = unused(s.Edits, e.ID)
	if precis.CheckEdit(s.Transcript, s.Edits, e) != nil {
		return
	}
	edits := append(s.Edits[:len(s.Edits):len(s.Edits)], e)
	units := precis.Units(s.Transcript, edits)
	used := s.Budget.Overhead + s.tokens(units)
	e.Report.TokensBefore, e.Report.TokensAfter = s.Used, used
	countReplaced(&e)
	edits[len(edits)-1] = e
	l.steps = append(l.steps, precis.RungResult{Rung: pinsRung, Outcome: precis.OutcomeAccepted,
		Reason: e.Report.Reason, Before: s.Used, After: used})
	s.Edits, s.Units, s.Used = edits, units, used
	l.edits = append(l.edits, e)
}

// unmetPins returns the groups with pinned messages that a reduction hides and that may be shown
// again, newest first.
func (s *Situation) unmetPins() (spans [][2]int) {
	room := s.Target / 3
	for _, span := range slices.Backward(s.hiddenPins()) {
		if room -= s.Meter.View(s.Transcript.Messages()[span[0]:span[1]]); room < 0 {
			break
		}
		spans = append(spans, span)
	}
	return spans
}

// hiddenPins returns the groups with pinned messages that a reduction hides, in order; messages
// hidden by a rewind stay hidden.
func (s *Situation) hiddenPins() (spans [][2]int) {
	if len(s.Kept.pinned)+len(s.Kept.blocks) == 0 {
		return nil
	}
	rewinds := map[string]bool{}
	for _, e := range s.Edits {
		rewinds[e.Name()] = e.Kind == precis.KindRewind
	}
	for _, u := range s.Units {
		if u.Original() || rewinds[u.Edit] {
			continue
		}
		for i := u.From; i < u.To; i++ {
			if !s.Kept.pinned[i] && !s.Kept.partly[i] {
				continue
			}
			from, to := s.Kept.Group(i)
			if n := len(spans); n == 0 || spans[n-1][0] != from {
				spans = append(spans, [2]int{from, to})
			}
			i = max(i, to-1)
		}
	}
	return spans
}

func (l *ladder) try(ctx context.Context, rung Strategy) precis.RungResult {
	step := precis.RungResult{Rung: rung.Name(), Outcome: precis.OutcomeSkipped, Before: l.s.Used,
		After: l.s.Used}
	if usesModel(rung) && l.s.Budget.Window.Tokens < l.s.Settings.MinModelWindow {
		step.Code = reasonSmallWindow
		step.Reason = fmt.Sprintf("windows under %d tokens get no model summary", l.s.Settings.MinModelWindow)
		return step
	}
	if err := l.before(ctx, rung); err != nil {
		step.Code, step.Reason = ReasonVetoed, err.Error()
		return step
	}
	e, err := rung.Propose(ctx, l.s)
	step.Call = e.Report.Call
	if err == nil {
		if e, err = l.runAfterHook(ctx, rung, e); err != nil {
			step.Outcome, step.Code, step.Reason = precis.OutcomeRefused, ReasonVetoed, err.Error()
			return step
		}
	}
	if err == nil && !omitsOnly(rung) && l.gate != nil && len(e.Replace) > 0 {
		e, err = l.gate.Admit(ctx, l.s, e)
	}
	if err != nil {
		step.Outcome, step.Reason = precis.OutcomeFailed, err.Error()
		code, call := reasonOf(err)
		if step.Code = code; call != nil {
			step.Call = call
		}
		return step
	}
	if len(e.Replace) == 0 {
		step.Outcome, step.Code, step.Reason = precis.OutcomeNothing, e.Report.Code, e.Report.Reason
		if step.Code == "" {
			step.Code = ReasonNothing
		}
		return step
	}
	if err := l.accept(rung, e); err != nil {
		step.Outcome, step.Code, step.Reason = precis.OutcomeRefused, reasonBrokeRule, err.Error()
		if code, _ := reasonOf(err); code != reasonFailed {
			step.Code = code
		}
		return step
	}
	step.Outcome, step.Reason, step.After = precis.OutcomeAccepted, e.Report.Reason, l.s.Used
	return step
}

// accept adds the edit if the view with it keeps the rules: it is smaller, has no new breach, and
// shows all kept content. Reasoning bound to replaced content is dropped with it.
func (l *ladder) accept(rung Strategy, e precis.Edit) error {
	s := l.s
	bare := omitsOnly(rung)
	if !bare {
		e = oneMessagePerSpan(rung, s.Carry(e))
	}
	if err := e.Identify(s.Transcript); err != nil {
		return err
	}
	e.ID = unused(s.Edits, e.ID)
	if err := precis.CheckEdit(s.Transcript, s.Edits, e); err != nil {
		return err
	}
	batch := []precis.Edit{e}
	next := append(s.Edits[:len(s.Edits):len(s.Edits)], e)
	units := precis.Units(s.Transcript, next)
	if t := precis.Unbind(s.Transcript, units, s.reasoning); !bare && len(t.Replace) > 0 {
		if err := t.Identify(s.Transcript); err != nil {
			return err
		}
		t.ID = unused(next, t.ID)
		batch, next = append(batch, t), append(next, t)
		units = precis.Units(s.Transcript, next)
	}
	switch {
	case isLastResort(rung):
	case TraitsOf(rung).Lossless:
		if err := s.Kept.checkPins(s.Transcript, s.Units, units); err != nil {
			return err
		}
	default:
		if err := checkKept(s, units); err != nil {
			return err
		}
	}
	if broken := newBreach(s.Transcript, s.Units, units); broken != "" && !bare {
		return precis.Errorf(precis.CodeInvalid, "check view", "%s", broken)
	}
	used := s.Budget.Overhead + s.tokens(units)
	if used >= s.Used && s.Limits.Images == 0 { // the number of small images counts
		return &RungError{Reason: ReasonGrew,
			Err: precis.Errorf(precis.CodeInvalid, "check view", "the view would grow from %d to %d tokens",
				s.Used, used)}
	}
	for i := range batch {
		batch[i].Report.Rung = rung.Name()
		batch[i].Report.Variant = cmp.Or(batch[i].Report.Variant, l.arm)
		batch[i].Report.TokensBefore, batch[i].Report.TokensAfter = s.Used, used
		countReplaced(&batch[i])
	}
	if len(batch) == 2 {
		mid := s.Budget.Overhead + s.tokens(precis.Units(s.Transcript, next[:len(next)-1]))
		batch[0].Report.TokensAfter, batch[1].Report.TokensBefore = mid, mid
	}
	s.Edits = append(s.Edits[:len(s.Edits):len(s.Edits)], batch...)
	s.Units, s.Used = units, used
	l.edits = append(l.edits, batch...)
	return nil
}

// newBreach returns the first new breach of pairing or placement in the view after, or "". An edit
// must not rely on [precis.Repair] for pairing, and Repair does not mend placement.
func newBreach(t *precis.Transcript, before, after []precis.Unit) string {
	was, is := t.Render(before), t.Render(after)
	for _, b := range precis.NewBreaches(precis.Check(is), precis.Check(was)) {
		if b.Rule == "pairing" {
			return b.String()
		}
	}
	if n := precis.NewBreaches(precis.CheckPlacement(is), precis.CheckPlacement(was)); len(n) > 0 {
		return n[0].String()
	}
	return ""
}

// tokens counts the view as it is sent, repairs included.
func (s *Situation) tokens(units []precis.Unit) int {
	view, _ := s.Repair(s.Transcript.Render(units))
	return s.Meter.View(view) - s.Guessed
}

func countReplaced(e *precis.Edit) {
	r := &e.Report
	r.Messages, r.Blocks = 0, 0
	for _, p := range e.Replace {
		if p.Block != nil {
			r.Blocks++
		} else {
			r.Messages += p.To - p.From
		}
	}
}

// errOverBudget returns the error for a view that does not fit after all cuts.
func errOverBudget(d Decision, overhead, used int) error {
	return &precis.Error{
		Code: precis.CodeOverBudget, Op: "fit the view",
		Hint: "use a larger window, ask for less output, or shorten the system prompt and tools",
		Err: fmt.Errorf("%s tokens are left when everything that may be cut is cut (%s of them system prompt and tools); %s",
			number.Thousands(used), number.Thousands(overhead), d.Arithmetic()),
	}
}
