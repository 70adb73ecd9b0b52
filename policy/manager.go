// Package policy decides what of a conversation the model sees: when a view must become smaller, by which
// means, how far, and what stays in it whatever happens.
//
// Start with [NewManager] and [Manager.Manage]: give it a [precis.Conversation] and a [precis.Window], send
// the [Result.View] to the model. The package precis/preset assembles a Manager with working parts in one
// call.
//
// [Plan] decides by arithmetic alone, from [Settings] and a [Budget]. The ladder then tries each [Strategy]
// in turn. A strategy proposes a [precis.Edit]; the [Gate] adds to it what it lacks; what stays in every
// view ([Keep]) and what is in force ([ItemSource]) is protected. A [Report] says what happened and why, in
// numbers.
//
// A Manager changes nothing but the list of edits: no message is lost, and a view is never bigger than the
// one it replaces.
package policy

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
)

// Options are a [Manager]'s parts. Counter is required; every other zero value
// is a working default.
type Options struct {
	Settings   Settings          // zero: DefaultSettings
	Counter    precis.Counter    // required
	Strategies []Strategy        // the ladder, least loss first; none: the manager only watches
	Gate       Gate              // nil: edits are accepted as proposed
	ItemSource ItemSource        // nil: only content that the wire shows to be in force is held
	Calibrator precis.Calibrator // nil: counts are taken as they are
	Store      precis.Store      // nil: edits live in the Conversation alone
	Ledger     precis.Ledger     // records and sums costs; nil: Store, if it is one
	Logger     *slog.Logger
	Now        func() time.Time // nil: time.Now

	// Hooks are called around each rung of the ladder.
	Hooks Hooks
	// Variant is the variant in the reports of edits, unless a strategy names another one; "":
	// none. See [precis.EditReport].
	Variant string
	// OnReport receives the report of every pass, for metrics; nil: none. It must return soon.
	// Edits of a pass may never come into force, see OnEdit.
	OnReport func(context.Context, Report)
	// OnEdit receives each edit that comes into force, once; nil: none. It must return soon.
	OnEdit func(context.Context, precis.Edit)
	// Alert receives a warning when a limit of Settings.Spend is near or reached;
	// it is logged in any case. nil: none. It must return soon.
	Alert func(context.Context, Alert)
}

// Manager keeps conversations inside their windows. It is safe for concurrent
// use on different conversations; calls on one conversation must not overlap.
type Manager struct {
	o        Options
	silent   bool // see WithoutRecording
	spending *spendTracker
	shadows  *shadowEdits

	*shared
}

// shared is the state that managers of one policy share.
type shared struct {
	mu       sync.RWMutex
	settings Settings
}

// NewManager returns a manager. The error is [precis.CodeInvalid] and names the option
// or setting at fault.
func NewManager(o Options) (*Manager, error) {
	if o.Counter == nil {
		return nil, precis.Errorf(precis.CodeInvalid, "make manager", "Options.Counter is nil")
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
	m := &Manager{o: o, spending: &spendTracker{}, shadows: &shadowEdits{}, shared: &shared{}}
	return m, m.SetSettings(o.Settings)
}

// WithStore returns a manager with another store for its conversations. It shares everything else with
// m, including later settings and the money spent. A ledger of m's own stays; else st is the
// ledger, if it is one.
func (m *Manager) WithStore(st precis.Store) *Manager {
	out := *m
	out.o.Store = st
	return &out
}

// WithLedger returns a manager that records in another ledger and shares everything else with m.
// Nil: m's own ledger or its store's.
func (m *Manager) WithLedger(l precis.Ledger) *Manager {
	out := *m
	if l != nil {
		out.o.Ledger = l
	}
	return &out
}

// WithoutRecording returns a manager for trial runs and for recorded conversations: it stores and records no
// edit, and reports none. It shares everything else with m.
func (m *Manager) WithoutRecording() *Manager {
	out := *m
	out.silent = true
	out.o.Ledger, out.o.Store, out.o.OnReport, out.o.OnEdit = m.ledger(), nil, nil, nil
	return &out
}

// Settings returns the settings in force.
func (m *Manager) Settings() Settings {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.settings
}

// SetSettings replaces the settings from the next call on. The error is
// [precis.CodeInvalid]; the old settings then stay.
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
	Conversation *precis.Conversation
	Window       precis.Window // of the model; Tokens 0 is an error
	MaxOutput    int           // output tokens the client asks for; 0: unknown
	OutputLimit  int           // the model's output limit; 0: unknown
	Profile      string        // key of a threshold in Settings.Profiles; usually the model or profile
	// input tokens the provider reported for the view now, or before the newest messages; 0: unknown
	Reported int

	// From, To: messages [From,To) are condensed, exactly these, whatever it saves.
	// The newest and the user's last turn may be among them; that turn is then quoted. To 0: what the
	// settings say. Where the messages cannot be condensed by themselves the error is
	// [precis.CodeInvalid], see [precis.WholeRange]. Target does not count then.
	From, To int
	Target   Tokens // that a reduction comes down to, user text and pins notwithstanding; 0: by the settings
	// TriggeredBy says why a reduction is asked for. "" or [precis.TriggeredAutomatic]: it is made when
	// it is due. [precis.TriggeredBackground], [precis.TriggeredManual] and [precis.TriggeredModel]: it
	// is made now, whatever the threshold; a reduction that a model asks for counts against the [Cap], and is dropped
	// when it saves too little. [precis.TriggeredForced]: the provider refused the view as too long.
	TriggeredBy precis.TriggeredBy
	Limits      Limits // come down to these now, and to nothing else: the API has refused the view for them
	// with TriggeredForced: how many reduced views of this request were refused before, see MaxForced
	Retry  int
	DryRun bool // make no edit and call no model; report the edits that would be made
	Watch  bool // make no reduction, even a due one: the caller asks for it by another call

	WithoutModels bool // climb no rung that calls a model

	Unrecorded bool   // make the edits but leave recording them to the caller
	Focus      string // for this run, what a summary should pay attention to; may be empty
	// the client's surroundings (open files, time …), added to a summary on automatic runs
	Environment string
	Live        *LiveRequest // the client's request, for a summary request to ride on; nil: none

	// has counted earlier views of the conversation, so their counts are reused; nil: a new one
	Meter   *measure.Meter
	Dialect precis.Dialect // rules that the view must keep; nil: the strictest rules, see Check
	// with Dialect: also mend breaches of the client's own messages; default: leave them
	Mend      bool
	Reasoning precis.ReasoningRule // which signed reasoning stays when earlier content changes
}

// Result is the answer to a [Request].
type Result struct {
	View  []precis.Message // valid, to be sent now
	Units []precis.Unit    // View in pieces, before it was repaired; read only
	// made by this call; in the Conversation already, unless DryRun, Unrecorded or over budget
	Edits  []precis.Edit
	Report Report
}

// Manage returns the view of the conversation, reduced when the decision requires it, and appends the
// new edits to the conversation. The result holds the best view even with an error. The error is
// [precis.CodeOverBudget] when the view does not fit, [precis.CodeCanceled] when ctx ended,
// [precis.CodeInvalid] for a bad request, and the store's own when an edit could not be recorded.
func (m *Manager) Manage(ctx context.Context, r Request) (Result, error) {
	p, err := m.begin(r)
	if err != nil {
		return Result{}, err
	}
	err = p.reduce(ctx)
	var kept []precis.Edit
	if err == nil && !r.DryRun && !r.Unrecorded {
		err = p.record(ctx)
		kept = p.edits
	}
	p.countLost(kept)
	if len(p.steps) > 0 {
		p.s.Meter.AdoptView(r.Conversation, p.s.Edits, p.s.Units)
	}
	res := p.result()
	res.Report.Shadow = p.shadow(ctx)
	if r.Watch && p.outcome == leftToCaller { // the caller reports the run that follows
		return res, err
	}
	res.Report.log(ctx, m.o.Logger)
	if m.o.OnReport != nil {
		m.o.OnReport(ctx, res.Report)
	}
	return res, err
}

// Status returns the conversation at a glance and the action that Manage would take.
func (m *Manager) Status(r Request) (Status, error) {
	p, err := m.begin(r)
	if err != nil {
		return Status{}, err
	}
	return p.status(), nil
}

// NewMeter returns a meter that counts as the manager does, for
// [Request.Meter].
func (m *Manager) NewMeter() *measure.Meter {
	out := measure.New(m.o.Counter)
	out.Scale(m.factor)
	return out
}

// UsesModel reports whether a reduction in such a window may call a model.
func (m *Manager) UsesModel(w precis.Window) bool {
	s := m.Settings()
	return w.Tokens >= s.MinModelWindow && slices.ContainsFunc(m.o.Strategies, func(st Strategy) bool {
		return usesModel(st) && (s.Rungs == nil || slices.Contains(s.Rungs, st.Name()))
	})
}
