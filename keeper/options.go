package keeper

import (
	"context"
	"log/slog"
	"reflect"
	"time"

	"precis"
	"precis/condense"
	"precis/gateway"
	"precis/model"
	"precis/models"
	"precis/outline"
	"precis/preset"
	"precis/store"
)

// Options are the parts of a [Keeper]. The zero value is the balanced preset without a
// model: exact o200k counting, windows of the model catalog.
type Options struct {
	// Preset names a policy, see package preset; "": balanced. Settings are a policy in
	// numbers, in place of a preset; zero: those of Preset.
	Preset   string
	Settings precis.Settings

	// Window returns the context window of a model; nil: that of Catalog, which assumes
	// 128,000 tokens of a model that it does not know. What a server says in an error
	// goes before an assumed window.
	Window func(model string) precis.Window
	// Catalog has windows, output limits and prices; nil: the one of package models.
	Catalog *models.Catalog

	// Counter counts tokens; nil: exactly, with the vocabulary o200k_base. What the
	// model's provider reports corrects any counter.
	Counter precis.Counter
	// Strategies are rungs of your own. One that has the name of a rung of the preset
	// takes its place; the others are climbed before those of the preset, or where
	// Settings.Rungs names them. What they propose is read by the gate, as is all.
	Strategies []precis.Strategy
	// Summarizer is the model that writes summaries; nil: digests are written without
	// a model. Package provider has models. It is paid for with the credentials that it
	// was made with.
	Summarizer model.Model
	// Condensing says in full how a model condenses, in place of Summarizer; nil: as
	// Summarizer.
	Condensing *preset.Condensing
	// Parser reads the files that are outlined below a summary; nil: see [outline.Of].
	Parser outline.Parser

	// Recall offers the model of a request a tool to read again what its view hides,
	// and answers its calls. It concerns requests of [Keeper.HTTPClient].
	Recall bool

	Logger *slog.Logger     // nil: silent; content and keys are never logged
	Now    func() time.Time // nil: time.Now
	// OnReport is called with what each pass over a conversation found and did, OnTurn
	// for each request to a model that was answered; nil: nothing is. They must return
	// soon.
	OnReport func(context.Context, precis.Report)
	OnTurn   func(context.Context, gateway.Turn)
}

const opOpen = "open keeper"

// complete returns o with its defaults. The error names the field at fault.
func (o Options) complete() (Options, error) {
	if o.Summarizer != nil && o.Condensing != nil {
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.Summarizer and Options.Condensing are both set")
	}
	switch numbers := !reflect.DeepEqual(o.Settings, precis.Settings{}); {
	case numbers && o.Preset != "":
		return o, precis.Errorf(precis.CodeInvalid, opOpen, "Options.Preset and Options.Settings are both set")
	case !numbers:
		s, err := preset.Settings(o.Preset)
		if err != nil {
			return o, err
		}
		o.Settings = s
	}
	if o.Catalog == nil {
		o.Catalog = &models.Catalog{}
	}
	if o.Window == nil {
		o.Window = o.Catalog.Window
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnTurn == nil {
		o.OnTurn = func(context.Context, gateway.Turn) {}
	}
	return o, nil
}

// assemble makes the manager and the gateway. Shared: other processes may use the
// store, too.
func (k *Keeper) assemble(shared bool) error {
	o := k.o
	if o.Summarizer != nil {
		cache, _ := k.store.(store.Summaries)
		o.Condensing = &preset.Condensing{Writer: condense.WriterConfig{Model: o.Summarizer, Cache: cache}}
	}
	var err error
	k.manager, err = preset.New(preset.Options{
		Settings: o.Settings, Counter: o.Counter, Rungs: o.Strategies, Condensing: o.Condensing, Parser: o.Parser,
		Logger: o.Logger, Now: o.Now, OnReport: o.OnReport,
	})
	if err != nil {
		return err
	}
	if err := k.manager.With(k.store).LoadCalibration(context.Background()); err != nil {
		return err
	}
	writer, err := k.writer(o.Condensing)
	if err != nil {
		return err
	}
	k.gateway, err = gateway.New(gateway.Options{
		InProcess: true, Manager: k.manager, Store: k.store, Shared: shared, Summarizer: writer, Recall: o.Recall,
		Window:      func(_ context.Context, model string) precis.Window { return o.Window(model) },
		OutputLimit: o.Catalog.OutputLimit, Cost: o.Catalog.Cost, Logger: o.Logger, Now: o.Now, OnTurn: k.turn,
	})
	if err != nil {
		return err
	}
	k.home = home{k.gateway.Home(gateway.AllOwners).(full), k} // a gateway's home can do all of it
	return nil
}

// writer returns what writes the summaries that requests ask for; nil: digests are
// made.
func (k *Keeper) writer(c *preset.Condensing) (precis.Summarizer, error) {
	if c == nil {
		return nil, nil
	}
	return condense.NewWriter(c.Writer)
}

// turn remembers which conversation the name of a request is that of.
func (k *Keeper) turn(ctx context.Context, t gateway.Turn) {
	if name := gateway.NameFrom(ctx); name != "" && t.Conversation != "" && t.Report != nil {
		k.mu.Lock()
		k.named[name] = t.Conversation
		k.mu.Unlock()
	}
	k.o.OnTurn(ctx, t)
}
