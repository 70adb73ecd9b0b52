package precis

import (
	"context"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Options are a [Manager]'s parts. Counter is required; every other zero value
// is a working default.
type Options struct {
	Settings   Settings   // zero: DefaultSettings
	Counter    Counter    // required
	Strategies []Strategy // the ladder, least loss first; none: the manager only watches
	Gate       Gate       // nil: edits are accepted as proposed
	Calibrator Calibrator // nil: counts are taken as they are
	Store      Store      // nil: edits live in the Conversation alone
	Ledger     Ledger     // books costs and tells what was spent; nil: Store, if it is one
	Logger     *slog.Logger
	Now        func() time.Time // nil: time.Now

	// OnReport is told of every check, for metrics; nil: nobody. It must return
	// soon.
	OnReport func(context.Context, Report)
	// Alert is told when a limit of Settings.Spend is near or reached, beside the
	// log; nil: nobody else. It must return soon.
	Alert func(context.Context, Alert)
}

// Manager keeps conversations inside their windows. It is safe for concurrent
// use on different conversations; calls on one conversation must not overlap.
type Manager struct {
	o     Options
	purse *purse

	*policy
}

// policy is what managers of one policy share.
type policy struct {
	mu       sync.RWMutex
	settings Settings
}

// NewManager returns a manager. The error is [CodeInvalid] and names the option
// or setting at fault.
func NewManager(o Options) (*Manager, error) {
	if o.Counter == nil {
		return nil, Errorf(CodeInvalid, "make manager", "Options.Counter is nil")
	}
	if reflect.DeepEqual(o.Settings, Settings{}) {
		o.Settings = DefaultSettings()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Manager{o: o, purse: &purse{}, policy: &policy{}}
	return m, m.SetSettings(o.Settings)
}

// With returns a manager that keeps its conversations in another store and
// shares everything else with m, changes of settings and what was spent
// included. A ledger of m's own stays; else st is the ledger, if it is one.
func (m *Manager) With(st Store) *Manager {
	out := *m
	out.o.Store = st
	return &out
}

// Settings returns the settings in force.
func (m *Manager) Settings() Settings {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.settings
}

// SetSettings replaces the settings from the next call on. The error is
// [CodeInvalid]; the old settings then stay.
func (m *Manager) SetSettings(s Settings) error {
	if err := s.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settings = s
	return nil
}

// Request asks for the view of a conversation.
type Request struct {
	Conversation *Conversation
	Window       Window // of the model; Tokens 0 is an error
	MaxOutput    int    // output tokens the client asks for; 0: unknown
	OutputLimit  int    // the model's output limit; 0: unknown
	Profile      string // names a threshold in Settings.Profiles; usually the model or profile
	Reported     int    // input tokens the provider reported for the view as it is now, or for all but what was added since; 0: unknown

	Target     int  // tokens a reduction comes down to, user text and pins notwithstanding; 0: by the settings
	Background bool // reduce now although it is not due yet, so that nobody waits later
	Manual     bool // a user asks for a reduction now, whatever the threshold
	Forced     bool // the provider refused the view as too long
	Retry      int  // with Forced: how many reduced views of this request were refused before, see MaxForced
	DryRun     bool // change nothing and call no model; report what would be done
	Watch      bool // reduce nothing, whatever is due: the caller does so by another call

	Unrecorded  bool   // make the edits but leave recording them to the caller
	Focus       string // for this run, what a summary should pay attention to; may be empty
	Environment string // the client's surroundings (open files, time …), put beside a summary on automatic runs
	Live        *Live  // the client's request, for a summary request to ride on; nil: none

	Meter     *Meter    // counted earlier views of the conversation, so that nothing is counted twice; nil: a new one
	Dialect   Dialect   // whose rules the view must keep; nil: the strictest, those of Check
	Reasoning Reasoning // which signed reasoning stays when what came before it changes
}

// Result is the answer to a [Request].
type Result struct {
	View   []Message // valid, to be sent now
	Units  []Unit    // View in pieces, before it was repaired; not to be changed
	Edits  []Edit    // made by this call; in the Conversation already, unless DryRun, Unrecorded or over budget
	Report Report
}

// Manage returns the view of the conversation, reduced when the decision says
// so, and appends the edits it made to the conversation. Whatever fails on the
// way, the result holds the best view there is. The error is [CodeOverBudget]
// when it does not fit, [CodeCanceled] when ctx ended, [CodeInvalid] for a bad
// request, and the store's own when an edit could not be recorded.
func (m *Manager) Manage(ctx context.Context, r Request) (Result, error) {
	c, err := m.begin(r)
	if err != nil {
		return Result{}, err
	}
	err = c.reduce(ctx)
	var kept []Edit
	if err == nil && !r.DryRun && !r.Unrecorded {
		err = c.record(ctx)
		kept = c.edits
	}
	m.bookCalls(context.WithoutCancel(ctx), c, kept)
	if len(c.steps) > 0 {
		c.s.Meter.settle(r.Conversation, c.s.Edits, c.s.Units)
	}
	res := c.result()
	if r.Watch && c.outcome == leftToCaller { // who reports what is done about it
		return res, err
	}
	m.log(ctx, res.Report)
	if m.o.OnReport != nil {
		m.o.OnReport(ctx, res.Report)
	}
	return res, err
}

// Status returns the conversation at a glance and what would be done now,
// without doing it.
func (m *Manager) Status(r Request) (Status, error) {
	c, err := m.begin(r)
	if err != nil {
		return Status{}, err
	}
	return c.status(), nil
}

// WillManage reports what [Manager.Manage] would decide for a view of so many
// tokens. It counts nothing and is cheap enough for an indicator that is drawn
// on each key press.
func (m *Manager) WillManage(load Load, w Window, maxOutput, outputLimit int, profile string) Decision {
	s := m.Settings()
	return Plan(load, m.budget(s, w, maxOutput, outputLimit, 0), s, profile)
}

func (m *Manager) budget(s Settings, w Window, maxOutput, limit, overhead int) Budget {
	reserve := ReserveFor(w.Tokens, maxOutput, limit)
	if s.ExactReserve {
		reserve = ReserveFor(math.MaxInt32, maxOutput, limit)
	}
	return Budget{Window: w, Reserve: reserve, Overhead: overhead, Buffer: s.Buffer}
}

// NewMeter returns a meter that counts as the manager does, for
// [Request.Meter].
func (m *Manager) NewMeter() *Meter { return NewMeter(m.o.Counter) }

// UsesModel reports whether a reduction in such a window may call a model.
func (m *Manager) UsesModel(w Window) bool {
	s := m.Settings()
	return w.Tokens >= s.MinModel && slices.ContainsFunc(m.o.Strategies, func(st Strategy) bool {
		return usesModel(st) && (s.Rungs == nil || slices.Contains(s.Rungs, st.Name()))
	})
}

// log writes the one line per check: total, window, usage, messages, action.
func (m *Manager) log(ctx context.Context, r Report) {
	m.o.Logger.LogAttrs(ctx, slog.LevelInfo, "context check",
		slog.String("conversation", r.Conversation),
		slog.Int("total_tokens", r.Before.Tokens),
		slog.Int("window", r.Decision.Window.Tokens),
		slog.String("window_source", string(r.Decision.Window.Source)),
		slog.Float64("usage_percent", r.Decision.Percent),
		slog.Int("messages", r.Before.Messages),
		slog.String("action", string(r.Decision.Action)),
		slog.Int("tokens_after", r.After.Tokens),
		slog.Int("edits", len(r.Edits)),
	)
	for _, e := range r.Edits {
		m.logEdit(ctx, r, e)
	}
	for _, s := range r.Steps {
		if s.Outcome == OutcomeFailed {
			m.o.Logger.LogAttrs(ctx, slog.LevelWarn, "rung failed", slog.String("conversation", r.Conversation), slog.String("rung", s.Rung),
				slog.String("code", string(s.Code)), slog.Float64("cost_usd", s.cost()), slog.Duration("took", s.Took))
		}
	}
}

// logEdit writes the metrics of one edit.
func (m *Manager) logEdit(ctx context.Context, r Report, e EditSummary) {
	attrs := []slog.Attr{
		slog.String("conversation", r.Conversation), slog.String("edit", e.ID), slog.String("kind", string(e.Kind)), slog.String("rung", e.Rung),
		slog.String("trigger", string(r.TriggeredBy)), slog.Int("tokens_saved", e.Saved), slog.Int("messages", e.Spans), slog.Int("blocks", e.Blocks), slog.Duration("took", e.Took),
	}
	if c := e.Call; c != nil {
		attrs = append(attrs, slog.String("model", c.Model), slog.Int("calls", c.Calls), slog.Float64("cost_usd", c.CostUSD), slog.String("form", c.Form),
			slog.Bool("custom_prompt", c.Custom), slog.Bool("separate_profile", c.Separate))
	}
	m.o.Logger.LogAttrs(ctx, slog.LevelInfo, "view reduced", attrs...)
}
