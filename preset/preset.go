// Package preset puts the parts of precis together: named policies ([Settings])
// and a [policy.Manager] that has everything a policy needs ([New]).
package preset

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/suggest"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
	"github.com/precis-dev/precis/tokens"
	"github.com/precis-dev/precis/workstate"
)

// The presets.
const (
	Balanced  = "balanced"  // every rung; model rungs when a model is configured
	Frugal    = "frugal"    // every rung that needs no model
	Selective = "selective" // single tool results first
	Roo       = "roo"       // what Roo Code does
	Off       = "off"       // only observe
)

// Names returns the presets, the default first.
func Names() []string { return []string{Balanced, Frugal, Selective, Roo, Off} }

// Settings returns the numbers of a preset; "" is balanced. The error is
// [precis.CodeInvalid] for an unknown name.
func Settings(name string) (policy.Settings, error) {
	s := policy.DefaultSettings()
	s.Preset = name
	switch name {
	case "", Balanced:
		s.Preset, s.Prepare = Balanced, 60
	case Frugal:
	case Selective:
		s.Prepare = 60
		s.Rungs = []string{"dedupe", "fold", "selective", "media", "condense", "digest", "prune", "squeeze",
			"digest-more", "truncate", "clip"}
	case Roo:
		s.Percent, s.Warn, s.Target = 100, 0, 0
		s.KeepMessages, s.KeepHead, s.KeepShare, s.ExactReserve = 0, 0, 0, true
		s.Rungs = []string{"condense", "truncate", "clip"}
	case Off:
		s.Auto, s.Observe, s.Warn = false, true, 0
	default:
		return s, precis.Errorf(precis.CodeInvalid, "choose preset", "unknown preset %q, want one of %v",
			name, Names())
	}
	return s, nil
}

// Options assemble a manager. The zero value gives the balanced preset with
// exact o200k counting.
type Options struct {
	Settings   policy.Settings   // zero: those of the balanced preset
	Estimate   string            // name of the counter, see package tokens; "": o200k
	Counter    precis.Counter    // of your own, in place of Estimate; nil: that one
	Images     tokens.ImageRule  // "": that of each conversation's model
	Calibrator precis.Calibrator // nil: the published factor of the model's family, learned from there
	Store      precis.Store      // nil: none
	Ledger     precis.Ledger     // nil: Store, if it is one
	Gate       policy.Gate       // nil: [digest.Gate]; none in the preset roo without FromStart
	Leave      []int             // messages truncation leaves alone, see [reduce.Truncate]
	// summaries and digests begin at the first message, see [condense.Full]; for tasks of Roo Code
	FromStart bool
	ToFit     bool             // truncation only brings down what cannot be sent, see [reduce.Truncate]
	Parser    outline.Parser   // of the files that are outlined below a summary; nil: see [outline.Of]
	Logger    *slog.Logger     // nil: silent
	Now       func() time.Time // nil: time.Now

	Condensing *Condensing // how models condense; nil: no model does
	// Instead take the places of the rungs of their names; "condense" and
	// "selective" need no Condensing then. An experiment is one.
	Instead []policy.Strategy
	// First are climbed before all others, in their order, whatever the settings name. None has the
	// name of another rung.
	First    []policy.Strategy
	Hooks    policy.Hooks                         // see [policy.Options]
	Variant  string                               // see [policy.Options]
	Alert    func(context.Context, policy.Alert)  // see [policy.Options]
	OnReport func(context.Context, policy.Report) // see [policy.Options]
	OnEdit   func(context.Context, precis.Edit)   // see [policy.Options]
}

// Condensing says how the rungs that call a model work.
type Condensing struct {
	Writer    condense.WriterConfig // asks for whole summaries; its Model or Fallback is needed
	Mode      condense.Mode         // "": keep-recent; fresh-start in the preset roo
	Selective bool                  // have single tool results summarized first, whatever preset and rungs
	Reasoning bool                  // see [condense.Full]
	// Price returns what a call would cost, for dry runs; nil: no cost is reported.
	Price func(input, output int) string
}

// New returns a manager with every part its settings need. The error is
// [precis.CodeInvalid] and names what is wrong.
func New(o Options) (*policy.Manager, error) {
	if reflect.DeepEqual(o.Settings, policy.Settings{}) {
		s, err := Settings(Balanced)
		if err != nil {
			return nil, err
		}
		o.Settings = s
	}
	counter := o.Counter
	if counter == nil {
		var err error
		if counter, err = tokens.New(tokens.Options{Name: o.Estimate, Images: o.Images}); err != nil {
			return nil, err
		}
	}
	if o.Gate == nil && (o.Settings.Preset != Roo || o.FromStart) {
		o.Gate = digest.Gate{}
	}
	if o.Calibrator == nil {
		o.Calibrator = tokens.Calibrator(counter.Name())
	}
	if err := checkRungs(o); err != nil {
		return nil, err
	}
	rungs, err := Strategies(o)
	if err != nil {
		return nil, err
	}
	if rungs, err = replaced(rungs, o.Instead); err != nil {
		return nil, err
	}
	for _, s := range o.First {
		if slices.Contains(Rungs(), s.Name()) {
			return nil, precis.Errorf(precis.CodeInvalid, "place rung",
				"%q is the name of a rung that there is: put it in its place by Instead", s.Name())
		}
	}
	rungs = slices.Concat(o.First, rungs)
	return policy.NewManager(policy.Options{
		Settings: o.Settings, Counter: counter, Strategies: rungs,
		Gate: o.Gate, ItemSource: workstate.ItemSource{}, Calibrator: o.Calibrator, Store: o.Store,
		Ledger: o.Ledger,
		Logger: o.Logger, Now: o.Now, Alert: o.Alert, Variant: o.Variant, OnReport: o.OnReport,
		OnEdit: o.OnEdit, Hooks: o.Hooks,
	})
}

// checkRungs returns an error for a name of the settings that no rung can have.
func checkRungs(o Options) error {
	known := Rungs()
	for _, s := range o.First {
		known = append(known, s.Name())
	}
	for _, name := range o.Settings.Rungs {
		if !slices.Contains(known, name) {
			return &precis.Error{Code: precis.CodeInvalid, Op: "choose rungs",
				Err:  fmt.Errorf("%.40q is none of %s", name, strings.Join(known, ", ")),
				Hint: suggest.DidYouMean(name, known)}
		}
	}
	return nil
}

// replaced returns the rungs with others in their places.
func replaced(rungs, instead []policy.Strategy) ([]policy.Strategy, error) {
	for _, x := range instead {
		place := func(s policy.Strategy) bool { return s.Name() == x.Name() }
		if i := slices.IndexFunc(rungs, place); i >= 0 {
			rungs[i] = x
			continue
		}
		at := slices.Index(Rungs(), x.Name())
		if at < 0 {
			return nil, precis.Errorf(precis.CodeInvalid, "place rung", "there is no rung %q", x.Name())
		}
		before := slices.IndexFunc(rungs,
			func(s policy.Strategy) bool { return slices.Index(Rungs(), s.Name()) > at })
		rungs = slices.Insert(rungs, before, x) // clip is the last of all
	}
	return rungs, nil
}

// Strategies returns the rungs there are, least loss first. The error is
// [precis.CodeInvalid] and names what is wrong with o.Condensing, which may be
// nil.
func Strategies(o Options) ([]policy.Strategy, error) {
	full := fullOf(o)
	models, err := modelRungs(o.Settings, o.Condensing, full)
	if err != nil {
		return nil, err
	}
	var byDigest policy.Strategy = digest.Rung{}
	truncate := reduce.Truncate{Roo: o.Settings.Preset == Roo, Leave: o.Leave, ToFit: o.ToFit}
	if o.FromStart {
		byDigest, truncate.Joined = condense.ByDigest{Full: full}, condense.Joined
	}
	out := append([]policy.Strategy{reduce.Dedupe{}, reduce.Fold{}, reduce.Media{}}, models...)
	return append(out, byDigest, reduce.Prune{}, reduce.Squeeze{}, digest.MoreRung{},
		truncate, reduce.Clip{}), nil
}

// modelRungs returns the rungs that call a model.
func modelRungs(s policy.Settings, c *Condensing, full condense.Full) ([]policy.Strategy, error) {
	if c == nil || s.Preset == Frugal {
		return nil, nil
	}
	if c.Mode != "" && c.Mode != condense.KeepRecent && c.Mode != condense.FreshStart {
		return nil, precis.Errorf(precis.CodeInvalid, "set up condensing", "unknown mode %q, want %s or %s",
			c.Mode, condense.KeepRecent, condense.FreshStart)
	}
	config := c.Writer
	config.Bare = config.Bare || s.Preset == Roo
	w, err := condense.NewWriter(config)
	if err != nil {
		return nil, err
	}
	full.Summarizer = w
	var out []policy.Strategy
	if c.Selective || s.Preset == Selective || slices.Contains(s.Rungs, Selective) {
		out = append(out, condense.Selective{Model: c.Writer.Model, Fallback: c.Writer.Fallback,
			Cache: c.Writer.Cache, Before: c.Writer.Hooks.Before, Price: c.Price})
	}
	return append(out, full), nil
}

// fullOf returns how whole summaries are made, without the part that writes them.
func fullOf(o Options) condense.Full {
	full := condense.Full{Parser: o.Parser, FromStart: o.FromStart}
	if c := o.Condensing; c != nil {
		full.Mode, full.Reasoning, full.Price = c.Mode, c.Reasoning, c.Price
	}
	if o.Settings.Preset == Roo {
		full.LeastNew = 2
		if full.Mode == "" {
			full.Mode = condense.FreshStart
		}
	}
	if o.Settings.Preset == Roo || o.FromStart {
		full.Framing = condense.Plain
	}
	return full
}

// Rungs returns the names of the rungs there can be, in the order they are
// climbed.
func Rungs() []string {
	return []string{"dedupe", "fold", "media", "selective", "condense", "digest", "prune", "squeeze",
		"digest-more", "truncate", "clip"}
}
