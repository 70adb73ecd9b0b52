// Package keeper keeps the conversations of a Go program inside the windows of its models, with a
// single object: open a file, and give its HTTP client to an SDK, or keep conversations by name.
//
//	k, err := keeper.Open("agent.db", keeper.Options{})
//	if err != nil { … }
//	defer k.Close()
//	client := anthropic.NewClient(option.WithHTTPClient(k.HTTPClient()))
//
// Every request of the client passes through the chain of package gateway in this process: it goes
// to its own URL, with its own key, and with the view of its conversation in place of the messages.
// Hidden content stays in the file, and [Keeper.Home] gives the verbs of package conversation
// access to it.
//
// A program that writes its requests itself uses [Keeper.Conversation] with a name.
package keeper

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store/sqlite"
)

// Options configure a keeper. The zero value has the balanced preset, exact counting, windows by
// the names of models, and no model that writes summaries.
type Options struct {
	Settings policy.Settings // thresholds, target, rungs; zero: the balanced preset
	// counts tokens; nil: o200k, calibrated by the providers' reports
	Counter precis.Counter
	// replace strategies of the same names, see [preset.Rungs]
	Instead []policy.Strategy
	First   []policy.Strategy // strategies that are tried before all others
	// models that write summaries; nil: digests, without a model
	Writer *preset.Condensing
	Parser outline.Parser // parser for outlined files; nil: by lines
	// of a model, in tokens; nil, or 0: by package models, else 128,000
	Window       func(model string) int
	Model        string            // of named conversations; "": unknown
	Base         http.RoundTripper // sends requests; nil: http.DefaultTransport
	Recall       bool              // offers the model a tool to read hidden content again
	CondenseTool bool              // offers the model a tool to request a condensation
	Logger       *slog.Logger      // nil: silent; neither content nor keys are logged
	Now          func() time.Time  // nil: time.Now
	// called after each run, possibly concurrently, must be quick; nil: not called
	OnReport func(policy.Report)
	OnTurn   func(context.Context, gateway.Turn) // called after each answered request; nil: not called
}

// Keeper keeps conversations. It is safe for concurrent use.
type Keeper struct {
	o       Options
	gateway *gateway.Gateway
	closing func() error // of the store

	mu    sync.Mutex // guards the following fields
	named map[string]*Conversation
}

// Open opens the file at path, an SQLite store, and creates it if it is missing; its folder must
// exist. Several programs may open it, see [Keeper.Conversation]. With the path "", conversations
// live only in memory. The error is [precis.CodeInvalid] for contradictory settings and for a file
// that is no store.
func Open(path string, o Options) (*Keeper, error) {
	catalog, err := models.New(models.Options{})
	if err != nil {
		return nil, err
	}
	k := &Keeper{o: o, closing: func() error { return nil }, named: map[string]*Conversation{}}
	options := preset.Options{Settings: o.Settings, Counter: o.Counter, Instead: o.Instead, First: o.First,
		Condensing: o.Writer, Parser: o.Parser, Logger: o.Logger, Now: o.Now}
	if o.OnReport != nil {
		options.OnReport = func(_ context.Context, r policy.Report) { o.OnReport(r) }
	}
	manager, err := preset.New(options)
	if err != nil {
		return nil, err
	}
	g := gateway.Options{
		Local: true, InProcess: true, Manager: manager, Models: catalog, Transport: o.Base,
		Recall: o.Recall, CondenseTool: o.CondenseTool, Logger: o.Logger, Now: o.Now, OnTurn: o.OnTurn,
	}
	if o.Window != nil {
		g.Window = func(_ context.Context, model string) precis.Window {
			return window.Known{Set: o.Window(model), Model: model, Table: catalog.Window}.Window()
		}
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

// closeTime is how long Close waits for pending data to be stored.
const closeTime = 30 * time.Second

// Close stores pending data, for at most 30 seconds, and closes the file. Later requests fail.
func (k *Keeper) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := k.gateway.Close(ctx)
	return cmp.Or(err, k.closing())
}

// RoundTripper returns a transport for the HTTP client of an SDK, see
// [gateway.Gateway.RoundTripper].
func (k *Keeper) RoundTripper() http.RoundTripper { return k.gateway.RoundTripper(k.o.Base) }

// HTTPClient returns an HTTP client for an SDK. It has no time limit: answers are streamed, and
// contexts end them.
func (k *Keeper) HTTPClient() *http.Client { return &http.Client{Transport: k.RoundTripper()} }

// Named returns a context that names the conversation of its requests, so that it can be found by
// the name later. The conversation that a request continues is still recognized by content.
func Named(ctx context.Context, name string) context.Context { return gateway.WithName(ctx, name) }

// Home returns the conversations for the verbs of package conversation: search, edits,
// undo, pin, restore, and the rest.
func (k *Keeper) Home() conversation.Home { return k.gateway.Home(gateway.AllOwners) }

// Find returns the ID of the conversation with a name. The error is [precis.CodeNotFound] when it
// does not exist.
func (k *Keeper) Find(ctx context.Context, name string) (string, error) {
	return k.gateway.Homes().Named(ctx, gateway.AllOwners, name)
}
