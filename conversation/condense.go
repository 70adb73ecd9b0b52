package conversation

import (
	"context"
	"fmt"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/diff"
	"github.com/precis-dev/precis/policy"
)

// Ways of condensing, see [CondenseOptions].
const (
	ByModel  = "model"  // the ladder includes rungs that call a model
	ByDigest = "digest" // no model is called
)

// CondenseOptions say how to condense. The zero value follows the settings.
type CondenseOptions struct {
	Focus  string        // the subject that a summary should pay attention to
	Target policy.Tokens // size to come down to; 0: use Share
	Share  policy.Share  // share of the window to come down to; 0: use the settings
	// hide exactly messages [From,To) with one text, see [WholeRange]; To 0: follow the settings
	From, To   int
	Summarizer string // [ByModel], [ByDigest], or "" to follow the settings
	Profile    string // the profile with the manager to use; "": the default
	Force      bool   // accept a total loss of content, see [LossError]
	// the model asked, not a user: the cap on runs applies, and a run that saves too little is dropped
	RequestedByModel bool
}

// Condensed reports a run or a preview of one.
type Condensed struct {
	Changed bool          `json:"changed"` // edits were made
	Report  policy.Report `json:"report"`
	Status  policy.Status `json:"status"` // after it
	// the model calls a run would make, and their cost; previews make none
	Prices []string      `json:"prices,omitempty"`
	Diff   []diff.Change `json:"diff,omitempty"` // for previews
	Notes  []string      `json:"notes,omitempty"`
	// Loses is content that the view would lose altogether; nil: none. Previews and drafts report
	// it. Putting them in force then requires Force.
	Loses *policy.Loss `json:"would_lose,omitempty"`

	// Result is the manager's result: the edits, the view, and the report with its retention.
	Result policy.Result `json:"-"`
}

// Made returns the edits that were made; nil: no change.
func (c Condensed) Made() (out []EditInfo) {
	if !c.Changed {
		return nil
	}
	for _, e := range c.Result.Edits {
		out = append(out, EditInfo{ID: e.ID, Run: e.Run, Kind: e.Kind, InForce: true, Report: e.Report})
	}
	return out
}

// Condense reduces a conversation now, whatever the threshold. On an error no edit is recorded:
// [precis.CodeOverBudget] when no reduction makes the view fit; [precis.CodeWouldLose] when content
// would be lost altogether and Force is not set; [precis.CodeConflict] when another run holds the
// lease or has made crossing edits. Condense works on a snapshot, so turns and other verbs do not
// wait for a model.
func Condense(ctx context.Context, h Home, id string, o CondenseOptions) (Condensed, error) {
	if err := renew(ctx, h, id); err != nil {
		return Condensed{}, err
	}
	r, err := o.prepare(ctx, h, id)
	if err == nil {
		err = r.s.editable()
	}
	if err != nil {
		return Condensed{}, err
	}
	release, ok := r.lease(ctx)
	defer release()
	if !ok {
		return Condensed{}, errCondensing()
	}
	out, err := r.manage(ctx)
	if err != nil || !out.Changed {
		return out, err
	}
	if !o.Force {
		if err := Guard("condense conversation", r.s.Conversation, out.Result.Edits,
			r.ask.Meter); err != nil {
			return Condensed{}, err
		}
	}
	if err := record(ctx, h, id, out.Result); err != nil {
		return Condensed{}, err
	}
	return out, nil
}

// Renewer is a [Home] that may lack the newest edits of its file or store. Renew loads them. Verbs
// call it before they pay a model, so that the resulting edit can be recorded.
type Renewer interface {
	Renew(ctx context.Context, id string) error
}

func renew(ctx context.Context, h Home, id string) error {
	if r, ok := h.(Renewer); ok {
		return r.Renew(ctx, id)
	}
	return nil
}

func errCondensing() error {
	return &precis.Error{Code: precis.CodeConflict, Op: "condense conversation",
		Hint: "another replica is condensing it; try again later"}
}

// Preview reports the result that [Condense] would have. It records no edit and calls no model.
func Preview(ctx context.Context, h Home, id string, o CondenseOptions) (Condensed, error) {
	r, err := o.prepare(ctx, h, id)
	if err != nil {
		return Condensed{}, err
	}
	r.ask.DryRun, r.s.Manager = true, r.s.Manager.WithoutRecording()
	out, err := r.manage(ctx)
	if err == nil {
		out.Loses = r.loses(out)
		out.Prices, out.Diff = pricesOf(out.Report), diff.Changes(r.s.meter(), r.s.Conversation,
			out.Result.Edits)
	}
	return out, err
}

// Diff lists, block by block, the changes that the edits of a run would make to the view of a
// conversation. Counted tokens are multiplied by factor; for a report pass its calibration.
func Diff(ctx context.Context, h Home, id string, made []precis.Edit, factor float64) ([]diff.Part, error) {
	return look(ctx, h, id, func(s *Subject) ([]diff.Part, error) {
		return diff.Parts(s.meter(), s.Conversation, made, factor), nil
	})
}

// WholeRange returns the smallest range of messages that holds [from,to) and that can be
// condensed by itself, see [precis.WholeRange].
func WholeRange(ctx context.Context, h Home, id string, from, to int) (int, int, error) {
	_, err := look(ctx, h, id, func(s *Subject) (struct{}, error) {
		from, to = precis.WholeRange(s.Conversation.Transcript, from, to)
		return struct{}{}, nil
	})
	return from, to, err
}

// Check returns an error of [precis.CodeInvalid] for invalid options.
func (o CondenseOptions) Check() error {
	const op = "read options"
	switch {
	case o.From < 0 || o.To < 0 || o.To > 0 && o.From >= o.To || o.To == 0 && o.From > 0:
		return precis.Errorf(precis.CodeInvalid, op, "the messages from %d to %d are no range", o.From, o.To)
	case o.To > 0 && (o.Target != 0 || o.Share != 0):
		return precis.Errorf(precis.CodeInvalid, op,
			"a range is hidden as a whole: a target cannot be given with it")
	case o.Target < 0:
		return precis.Errorf(precis.CodeInvalid, op, "target is %d, want 0 or more", o.Target)
	case !(o.Share >= 0 && o.Share <= 1):
		return precis.Errorf(precis.CodeInvalid, op, "target is a share of %g, want 0 to 1", o.Share)
	case !slices.Contains([]string{"", ByModel, ByDigest}, o.Summarizer):
		return precis.Errorf(precis.CodeInvalid, op, "summarizer is %.40q, want %s or %s", o.Summarizer,
			ByModel, ByDigest)
	}
	return checkFocus(op, o.Focus)
}

// run is one condensation of a snapshot.
type run struct {
	s   Subject
	ask policy.Request
}

// prepare takes a snapshot and builds the request for the manager from the options.
func (o CondenseOptions) prepare(ctx context.Context, h Home, id string) (*run, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s, err := snapshot(ctx, h, id)
	if err != nil {
		return nil, err
	}
	if n := s.Conversation.Transcript.Len(); o.To > n {
		return nil, precis.Errorf(precis.CodeNotFound, "choose messages",
			"message %d: the conversation has %d", o.To-1, n)
	}
	if o.Profile != "" {
		if s.Manager, err = s.profile(o.Profile); err != nil {
			return nil, err
		}
	}
	s.Template.Meter = s.Manager.NewMeter() // outside of Look the home's meter must not be used
	r := &run{s: s, ask: s.request()}
	r.ask.TriggeredBy = precis.TriggeredManual
	if o.RequestedByModel {
		r.ask.TriggeredBy = precis.TriggeredModel
	}
	r.ask.From, r.ask.To = o.From, o.To
	r.ask.Focus, r.ask.WithoutModels = o.Focus, o.Summarizer == ByDigest
	if t := o.target().In(r.ask.Window.Tokens); t > 0 {
		r.ask.Target = t
	}
	if o.Summarizer == ByModel && !s.Manager.UsesModel(r.ask.Window) {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "choose summarizer",
			Err:  fmt.Errorf("no model writes summaries for a window of %d tokens", r.ask.Window.Tokens),
			Hint: "configure one, or use digest"}
	}
	return r, nil
}

// target returns the target of the run; tokens take precedence over a share.
func (o CondenseOptions) target() policy.Target {
	if o.Target > 0 {
		return policy.Target{Tokens: o.Target}
	}
	return policy.Target{Share: o.Share}
}

// loses returns the content that a run would remove from the view altogether; nil: none.
func (r *run) loses(c Condensed) *policy.Loss {
	if g := contentRemoved(r.s.Conversation, c.Result.Edits, r.ask.Meter); !g.Empty() {
		return &g
	}
	return nil
}

// profile returns the manager of a named profile.
func (s *Subject) profile(name string) (*policy.Manager, error) {
	if s.Profile == nil {
		return nil, precis.Errorf(precis.CodeNotFound, "choose profile", "there is no profile %.60q", name)
	}
	return s.Profile(name)
}

// lease takes the lease for condensing with a model if the run may call one.
func (r *run) lease(ctx context.Context) (release func(), ok bool) {
	if r.s.Lease == nil || r.ask.WithoutModels || !r.s.Manager.UsesModel(r.ask.Window) {
		return func() {}, true
	}
	return r.s.Lease(ctx)
}

func (r *run) manage(ctx context.Context) (Condensed, error) {
	res, err := r.s.Manager.Manage(ctx, r.ask)
	if err != nil {
		return Condensed{}, err
	}
	report := res.Report
	report.Retention = nil // see Loss
	return Condensed{Changed: len(res.Edits) > 0, Report: report, Status: report.Status, Notes: r.s.notes(),
		Result: res}, nil
}

// record puts the edits of a run in force: all or none.
func record(ctx context.Context, h Home, id string, res policy.Result) error {
	return h.Edit(ctx, id, func(s *Subject) error {
		edits := slices.Clip(s.Conversation.Edits)
		for _, e := range res.Edits {
			if err := precis.CheckEdit(s.Conversation.Transcript, edits, e); err != nil {
				return precis.Errorf(precis.CodeConflict, "record edits",
					"the conversation was edited meanwhile: %w", err)
			}
			edits = append(edits, e)
		}
		if err := s.Manager.Record(ctx, s.Conversation, res.Edits...); err != nil {
			return err
		}
		s.resize(res.Report.After.Tokens)
		return nil
	})
}

// pricesOf returns the announcements of the rungs that call a model.
func pricesOf(r policy.Report) []string {
	var out []string
	for _, step := range r.Steps {
		if (step.Rung == "condense" || step.Rung == "selective") && step.Outcome == precis.OutcomeNothing &&
			step.Reason != "" {
			out = append(out, step.Rung+": "+step.Reason)
		}
	}
	return out
}
