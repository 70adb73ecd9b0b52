// Package keeper keeps the conversations of a Go program inside the windows of its
// models, as one object: open a file, and give its HTTP client to an SDK, or hold
// conversations by name.
//
//	k, err := keeper.Open("agent.db", keeper.Options{})
//	if err != nil { … }
//	defer k.Close()
//	client := anthropic.NewClient(option.WithHTTPClient(k.HTTPClient()))
//
// Every request of the client passes the chain of package gateway in this process: it
// goes where it says, with its own key, and with the view of its conversation in the
// place of the messages. Nothing is lost: what the view hides is in the file, and
// [Keeper.Home] has it for the verbs of package conversation.
//
// A program that writes its requests itself asks [Keeper.Conversation] for one by name.
package keeper

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/models"
	"precis/outline"
	"precis/preset"
	"precis/store/sqlite"
	"precis/wire/anthropic"
)

// Options are what a keeper works with. The zero value has the balanced preset, exact
// counting, windows by the names of models, and no model that writes summaries.
type Options struct {
	Settings     precis.Settings                     // thresholds, target, rungs; zero: those of the balanced preset
	Counter      precis.Counter                      // counts tokens; nil: with the vocabulary o200k, and learned from what providers report
	Instead      []precis.Strategy                   // ways of reducing in the places of those of their names, see [preset.Rungs]
	First        []precis.Strategy                   // ways of reducing that are tried before all others
	Writer       *preset.Condensing                  // models that write summaries; nil: summaries are digests, and nothing is asked
	Parser       outline.Parser                      // of files that are outlined; nil: by lines
	Window       func(model string) int              // of a model, in tokens; nil, or 0: what package models knows, else 128,000
	Model        string                              // that conversations by name are held with; "": none is known
	Base         http.RoundTripper                   // sends requests; nil: http.DefaultTransport
	Recall       bool                                // offers the model a tool that brings back what its view hides, and answers it
	CondenseTool bool                                // offers the model a tool by which it asks for a condensation, and answers it
	Logger       *slog.Logger                        // nil: silent; no content and no key is logged
	Now          func() time.Time                    // nil: time.Now
	OnReport     func(precis.Report)                 // called with what each run did, also by several goroutines at once; nil: nothing is. It must return soon.
	OnTurn       func(context.Context, gateway.Turn) // called for each request that was answered; nil: nothing is
}

// Keeper keeps conversations. It is safe for concurrent use.
type Keeper struct {
	o       Options
	gateway *gateway.Gateway
	catalog *models.Catalog
	closing func() error // of the store

	mu    sync.Mutex // guards what follows
	named map[string]*Conversation
}

// Open opens the file at path, an SQLite store, which is made when it is missing; its
// folder must exist. Several programs may have it open, see [Keeper.Conversation]. With the path "" conversations live
// in memory alone. The error is [precis.CodeInvalid] for settings that contradict each
// other and for a file that is no store.
func Open(path string, o Options) (*Keeper, error) {
	catalog, err := models.New(models.Options{})
	if err != nil {
		return nil, err
	}
	k := &Keeper{o: o, catalog: catalog, closing: func() error { return nil }, named: map[string]*Conversation{}}
	options := preset.Options{Settings: o.Settings, Counter: o.Counter, Instead: o.Instead, First: o.First, Condensing: o.Writer, Parser: o.Parser, Logger: o.Logger, Now: o.Now}
	if o.OnReport != nil {
		options.OnReport = func(_ context.Context, r precis.Report) { o.OnReport(r) }
	}
	manager, err := preset.New(options)
	if err != nil {
		return nil, err
	}
	g := gateway.Options{
		Local: true, InProcess: true, Manager: manager, Window: k.window, OutputLimit: k.outputLimit,
		Recall: o.Recall, CondenseTool: o.CondenseTool, Logger: o.Logger, Now: o.Now, OnTurn: o.OnTurn,
		Cost: k.cost, Transport: o.Base,
	}
	if path != "" {
		st, err := sqlite.Open(context.Background(), path, sqlite.Options{})
		if err != nil {
			return nil, err
		}
		g.Store, g.Shared, k.closing = st, true, st.Close
	}
	if k.gateway, err = gateway.New(g); err != nil {
		_ = k.closing() // the first error counts
		return nil, err
	}
	return k, nil
}

// closeTime is how long Close waits for what is to be stored.
const closeTime = 30 * time.Second

// Close stores what is not stored yet, for at most 30 seconds, and closes the file.
// Requests after it fail.
func (k *Keeper) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := k.gateway.Close(ctx)
	return cmp.Or(err, k.closing())
}

// window returns a model's window.
func (k *Keeper) window(_ context.Context, model string) precis.Window {
	if k.o.Window != nil {
		if n := k.o.Window(model); n > 0 {
			return precis.Window{Tokens: n, Source: precis.SourceConfigured}
		}
	}
	return k.catalog.Window(model)
}

func (k *Keeper) outputLimit(model string) int {
	m, _ := k.catalog.Find(model)
	return m.MaxOutput.Tokens
}

// cost is what a request cost by the prices of package models, in US dollars.
func (k *Keeper) cost(dialect, model string, u precis.Usage) float64 {
	m, ok := k.catalog.Find(model)
	if !ok {
		return 0
	}
	protocol := models.OpenAI
	if dialect == anthropic.Format {
		protocol = models.Anthropic
	}
	return models.Bill(protocol, m, u).USD
}

// RoundTripper returns a transport for the HTTP client of an SDK, see
// [gateway.Gateway.RoundTripper].
func (k *Keeper) RoundTripper() http.RoundTripper { return k.gateway.RoundTripper(k.o.Base) }

// HTTPClient returns an HTTP client for an SDK. It has no time limit: answers stream, and
// contexts end them.
func (k *Keeper) HTTPClient() *http.Client { return &http.Client{Transport: k.RoundTripper()} }

// Named returns a context whose requests through the client belong to the conversation
// that the program calls so: it is found by that name later. Which conversation a request
// continues is known by what it says.
func Named(ctx context.Context, name string) context.Context { return gateway.WithName(ctx, name) }

// Home returns the conversations for the verbs of package conversation: search, edits,
// undo, pin, restore, and the rest.
func (k *Keeper) Home() conversation.Home { return k.gateway.Home(gateway.AllOwners) }

// Find returns the ID of the conversation of a name. The error is
// [precis.CodeNotFound] when there is none.
func (k *Keeper) Find(ctx context.Context, name string) (string, error) {
	return k.gateway.Named(ctx, gateway.AllOwners, name)
}
