package gateway

import (
	"context"
	"fmt"
	"slices"

	"precis"
	"precis/preset"
)

// Ways of condensing, see [CondenseOptions].
const (
	ByModel  = "model"  // rungs that call a model are climbed, too
	ByDigest = "digest" // no model is called
)

// CondenseOptions say how to condense. The zero value does what the settings
// say.
type CondenseOptions struct {
	Focus      string // what a summary should pay attention to
	Target     int    // tokens to come down to; 0: by the settings
	Summarizer string // [ByModel], [ByDigest], or "" for what the settings say
	Profile    string // whose manager to use; "": the default one
}

// Condensed says what a run did, or would do.
type Condensed struct {
	Changed bool          `json:"changed"` // edits were made
	Report  precis.Report `json:"report"`
	Status  precis.Status `json:"status"`           // after it
	Prices  []string      `json:"prices,omitempty"` // what models would do and cost; previews call none
	Diff    []ViewChange  `json:"diff,omitempty"`   // of previews
	Notes   []string      `json:"notes,omitempty"`
}

// Condense brings a conversation down now, whatever the threshold. The error is
// [precis.CodeOverBudget] when its view does not fit whatever is cut.
func (g *Gateway) Condense(ctx context.Context, owner, id string, o CondenseOptions) (Condensed, error) {
	return g.condense(ctx, owner, id, o, false)
}

// Preview says what Condense would do. Nothing is changed and no model is called.
func (g *Gateway) Preview(ctx context.Context, owner, id string, o CondenseOptions) (Condensed, error) {
	return g.condense(ctx, owner, id, o, true)
}

func (g *Gateway) condense(ctx context.Context, owner, id string, o CondenseOptions, dry bool) (Condensed, error) {
	if err := o.check(); err != nil {
		return Condensed{}, err
	}
	var out Condensed
	err := g.editing(ctx, owner, id, func(s *subject) (err error) {
		out, err = s.condense(ctx, o, dry)
		return err
	})
	return out, err
}

func (o CondenseOptions) check() error {
	const op = "read options"
	switch {
	case o.Target < 0:
		return precis.Errorf(precis.CodeInvalid, op, "target is %d, want 0 or more", o.Target)
	case !slices.Contains([]string{"", ByModel, ByDigest}, o.Summarizer):
		return precis.Errorf(precis.CodeInvalid, op, "summarizer is %.40q, want %s or %s", o.Summarizer, ByModel, ByDigest)
	case len(o.Focus) > 2000:
		return precis.Errorf(precis.CodeInvalid, op, "focus has %d bytes, at most 2000 are used", len(o.Focus))
	}
	return nil
}

// condense runs the manager, by itself or dry.
func (s *subject) condense(ctx context.Context, o CondenseOptions, dry bool) (Condensed, error) {
	if err := s.choose(ctx, o); err != nil {
		return Condensed{}, err
	}
	var before precis.Status
	if !dry {
		var err error
		if before, err = s.changeable(ctx); err != nil {
			return Condensed{}, err
		}
		release, ok := s.lease(ctx)
		defer release()
		if !ok {
			return Condensed{}, &precis.Error{Code: precis.CodeConflict, Op: "condense conversation", Hint: "another replica is condensing it; try again later"}
		}
	}
	r := s.request(ctx)
	r.Manual, r.DryRun, r.Focus, r.Target = true, dry, o.Focus, o.Target
	was := s.conv.Edits
	res, err := s.mgr.Manage(ctx, r)
	if err != nil && len(s.conv.Edits) == len(was) {
		return Condensed{}, err
	}
	report := res.Report
	report.Retention = nil // see Loss
	out := Condensed{Changed: len(res.Edits) > 0, Report: report, Status: report.Status, Notes: s.notes()}
	if dry {
		out.Prices, out.Diff = pricesOf(report), s.diff(was, res.Edits)
		return out, nil
	}
	if out.Changed {
		if _, took := s.took(ctx, before); took != nil && err == nil {
			err = took
		}
	}
	return out, err
}

// choose finds the manager that the options ask for.
func (s *subject) choose(ctx context.Context, o CondenseOptions) error {
	const op = "choose summarizer"
	own, err := s.g.managerNamed(o.Profile)
	if err != nil {
		return err
	}
	st := s.g.store(s.owner)
	s.mgr = own.With(st)
	if o.Profile != "" {
		s.meter = s.mgr.NewMeter() // it may count in another way
	}
	models := s.mgr.UsesModel(s.window(ctx))
	switch {
	case o.Summarizer == ByModel && !models:
		return &precis.Error{Code: precis.CodeInvalid, Op: op, Err: fmt.Errorf("no model writes summaries for a window of %d tokens", s.window(ctx).Tokens),
			Hint: "configure one, or use digest"}
	case o.Summarizer == ByDigest && models:
		s.mgr, err = s.withoutModels(ctx, st)
	}
	return err
}

// withoutModels returns a manager that counts, decides and records as the
// subject's, and has no rung that calls a model.
func (s *subject) withoutModels(ctx context.Context, st precis.Store) (*precis.Manager, error) {
	r := s.request(ctx)
	r.Watch, r.DryRun = true, true
	res, err := s.mgr.Manage(ctx, r)
	if err != nil {
		return nil, err
	}
	return preset.New(preset.Options{
		Settings: s.mgr.Settings(), Estimate: res.Report.Counter, Calibrator: fixed(res.Report.Calibration), Store: st, Logger: s.g.o.Logger, Now: s.g.o.Now,
	})
}

// fixed is a calibration that is known and does not change.
type fixed float64

// Factor returns the calibration.
func (f fixed) Factor(string) float64 { return float64(f) }

// Observe learns nothing.
func (fixed) Observe(string, int, int) {}

// lease makes sure that no other replica condenses the conversation with a model
// at the same time.
func (s *subject) lease(ctx context.Context) (release func(), ok bool) {
	if s.held == nil || !s.mgr.UsesModel(s.window(ctx)) {
		return func() {}, true
	}
	return s.g.tryLease(ctx, s.held)
}

// pricesOf returns what the rungs that call a model say they would do.
func pricesOf(r precis.Report) []string {
	var out []string
	for _, step := range r.Steps {
		if (step.Rung == "condense" || step.Rung == "selective") && step.Outcome == precis.OutcomeNothing && step.Reason != "" {
			out = append(out, step.Rung+": "+step.Reason)
		}
	}
	return out
}

// What becomes of a part of a view.
const (
	DiffSame     = "unchanged"
	DiffShorter  = "shortened" // blocks of a message are replaced
	DiffReplaced = "replaced"  // a marker, a summary or nothing stands for messages
)

// ViewChange is what becomes of a span of messages between two views. Tokens are
// as counted, not calibrated.
type ViewChange struct {
	Handle precis.Handle   `json:"handle"`
	Change string          `json:"change"` // see [DiffSame]
	Before int             `json:"tokens_before"`
	After  int             `json:"tokens_after"`
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
	Rung   string          `json:"rung,omitempty"`
	Text   string          `json:"text,omitempty"` // of what stands for it, one line
}

// diff compares the views before and after edits.
func (s *subject) diff(before, made []precis.Edit) []ViewChange {
	t := s.conv.Transcript
	after := slices.Concat(before, made)
	rungs := map[string]string{}
	for _, e := range after {
		rungs[e.ID] = e.Report.Rung
	}
	sight := newSight(t, after)
	old := precis.Units(t, before)
	var out []ViewChange
	for _, u := range sight.units {
		n := 0
		for n < len(old) && old[n].From < u.To {
			n++
		}
		c := s.changeOf(old[:n], u)
		old = old[n:]
		if last := len(out) - 1; c.Change == DiffSame && last >= 0 && out[last].Change == DiffSame {
			out[last].Handle.To = c.Handle.To
			out[last].Before, out[last].After = out[last].Before+c.Before, out[last].After+c.After
			continue
		}
		if c.Change != DiffSame {
			_, by := sight.of(u.From)
			c.Kind, c.Rung = sight.kinds[by], rungs[by]
		}
		out = append(out, c)
	}
	return out
}

func (s *subject) changeOf(old []precis.Unit, u precis.Unit) ViewChange {
	c := ViewChange{Handle: precis.SpanHandle(u.From, u.To), Change: DiffReplaced, After: s.meter.View(u.Messages)}
	for _, o := range old {
		c.Before += s.meter.View(o.Messages)
	}
	switch one := len(old) == 1 && old[0].Edit == u.Edit && old[0].To == u.To; {
	case one && c.Before == c.After && slices.Equal(old[0].Index, u.Index):
		c.Change = DiffSame
	case one && u.Original():
		c.Change = DiffShorter
	case len(u.Messages) > 0:
		c.Text = brief(u.Messages[0])
	}
	return c
}
