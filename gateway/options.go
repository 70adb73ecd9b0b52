package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/gateway/unmanaged"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Options are a gateway's parts. Manager is required, and Upstreams unless Local or InProcess is
// set; zero values of the other fields are working defaults.
type Options struct {
	// Upstreams are the model APIs that requests are forwarded to. The first one that speaks the
	// dialect is used, unless the path names another one.
	Upstreams []Upstream
	// Local: there are no upstreams, and requests are not forwarded. Clients get views and call the
	// model themselves, see [Gateway.Assemble].
	Local bool
	// InProcess: requests come through [Gateway.RoundTripper], so Upstreams may be empty. ServeHTTP
	// then refuses requests.
	InProcess bool
	// Manager decides and reduces. Its store is replaced by Store.
	Manager *policy.Manager
	// Profiles are managers that a request can select by X-Precis-Profile.
	Profiles map[string]*policy.Manager
	// Assign returns the experiment arm, which is also the name of a profile, of a conversation
	// from its first request on; "": no arm. It must be a function of the ID. The arm is stored
	// with the conversation, and applies to requests that select no profile. Nil: there is no
	// experiment.
	Assign func(conversation string) (arm string)
	// Store keeps conversations. Nil: they live in memory, and are dropped when it is full and when
	// the gateway ends.
	Store precis.Store
	// Shared: other replicas use the store, too, so its edits are loaded at each request.
	Shared bool
	// Patience is how long a request waits for the store before it continues with the data in
	// memory; 0 means 3 seconds.
	Patience time.Duration
	// Replica names this gateway among others; "": a random name.
	Replica string

	// Models has windows, output limits and prices; nil: they are unknown.
	Models *models.Catalog
	// Window returns the context window of a model; nil: as Models has it, else 128,000 tokens,
	// assumed.
	Window func(ctx context.Context, model string) precis.Window
	// ProfileWindow returns the window, in tokens, that a profile sets for its requests; 0: the
	// profile sets none. Nil: no profile does.
	ProfileWindow func(profile string) int
	// Probe asks servers for the windows of models that are not configured, once for each, with the
	// credentials of the request, in the background. The first turn of a model waits for the answer
	// for up to a second.
	Probe bool
	// Cost returns the cost of a request in US dollars; nil: by the prices of Models.
	Cost func(dialect, model string, u precis.Usage) float64

	Auth   Auth
	Limits Limits
	Native Native
	// Summarizer writes the summaries that requests ask for, see [Native]. If it is nil or fails, a
	// digest is made.
	Summarizer policy.Summarizer
	// Recall offers the model a tool to read hidden content again, and answers its calls.
	// RecallTokens bounds one answer of it; 0 means 8000, and it is never more than a quarter of
	// the window.
	Recall       bool
	RecallTokens int
	// CondenseTool offers the model a tool to request a condensation at a moment that suits its
	// work, and answers its calls. Summaries are written as for any other condensation.
	CondenseTool bool

	// Bridge selects the action when a client condenses a conversation by itself; "":
	// [BridgeMissing].
	Bridge Bridge

	// KeepAlive is how long a streaming request waits for a reduction before its stream begins with
	// keep-alive bytes, and the pause between them; 0 means 5 seconds.
	KeepAlive time.Duration
	// Memory is roughly how many bytes the conversations in memory may use; 0 means 256 MB.
	Memory int
	// Transport sends requests upstream; nil: a transport with HTTP/2, keep-alive and the proxies
	// of the environment.
	Transport http.RoundTripper
	Logger    *slog.Logger     // nil: silent
	Now       func() time.Time // nil: time.Now
	// OnTurn is called after every answered request; nil: not called. It must return quickly.
	OnTurn func(context.Context, Turn)
	// OnHold is called when a request of a conversation is to be held, is held, or is let go; nil:
	// not called. It must return quickly.
	OnHold func(owner, conversation string)
	// OnReduce is called before a conversation's view is reduced while its client waits; the [Turn]
	// that follows reports the result. Nil: not called. It must return quickly.
	OnReduce func(owner, conversation string)
}

// Upstream is a model API.
type Upstream = upstream.API

// Native lists the features that an upstream has itself, see [polyfill.Native].
type Native = polyfill.Native

// Limits bound the resources of one gateway. Zero values are defaults.
type Limits struct {
	Body        int64 // bytes of a request body; 0 means 64 MB
	Concurrency int   // requests in progress; 0 means 512
	Error       int64 // bytes read of an error response; 0 means 1 MB
	// Memory is roughly how many bytes all requests in progress may use, at four times their
	// bodies. A request without room waits for some seconds, then is refused as overloaded. 0 means
	// 1 GB.
	Memory int64
}

// Turn is one answered request, for metrics and logs.
type Turn struct {
	Conversation string
	Owner        string
	Dialect      string
	Model        string
	Upstream     string
	Kind         string           // how it was recognized, or why it was passed through
	Action       string           // action taken: see headerAction
	Unmanaged    unmanaged.Reason // why it was not managed; "": it was
	Status       int              // of the response
	Stream       bool
	Report       *policy.Report // nil when it was passed through
	// Outlook is how full the window is with the forwarded request; nil when it was passed through.
	Outlook *conversation.Outlook
	Warned  bool // the warn level was crossed: the turn before was below it
	// CondenseError names a condensation that failed, for this request or in the background since
	// the one before: by the names of condense.ErrorName, or by a [precis.Code] when the whole run
	// failed. "": no failure.
	CondenseError string
	// of condensations that the model requested meanwhile with the condense tool
	ByModel   []policy.Report
	Usage     precis.Usage
	Input     int // input tokens the upstream reported, cached ones included; 0: not reported
	CostUSD   float64
	Retries   int           // after overflows
	Overhead  time.Duration // time before the request was first sent upstream
	FirstByte time.Duration // time until the first byte of the answer was relayed
	Took      time.Duration
	Err       error // why it failed; nil on success
}

// complete returns o with its defaults. The error names the field at fault.
func (o Options) complete() (Options, error) {
	fail := func(format string, args ...any) (Options, error) {
		return o, precis.Errorf(precis.CodeInvalid, "make gateway", format, args...)
	}
	if o.Manager == nil {
		return fail("Options.Manager is nil")
	}
	if len(o.Upstreams) == 0 && !o.Local && !o.InProcess {
		return fail("Options.Upstreams is empty")
	}
	switch o.Bridge {
	case "":
		o.Bridge = BridgeMissing
	case BridgeMissing, BridgeDigest, BridgeOff:
	default:
		return fail("Options.Bridge is %q", o.Bridge)
	}
	if o.Local {
		o.Upstreams, o.Probe = nil, false
	}
	o.Upstreams = slices.Clone(o.Upstreams)
	for i := range o.Upstreams {
		if err := o.Upstreams[i].Check(); err != nil {
			return fail("Options.Upstreams[%d]: %w", i, err)
		}
	}
	return o.withDefaults(), nil
}

// withDefaults returns o with defaults in place of zero values.
func (o Options) withDefaults() Options {
	if o.Window == nil {
		var table func(string) precis.Window
		if o.Models != nil {
			table = o.Models.Window
		}
		o.Window = func(_ context.Context, model string) precis.Window {
			return window.Known{Model: model, Table: table}.Window()
		}
	}
	if o.ProfileWindow == nil {
		o.ProfileWindow = func(string) int { return 0 }
	}
	if o.Cost == nil {
		o.Cost = o.price
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnHold == nil {
		o.OnHold = func(string, string) {}
	}
	if o.OnReduce == nil {
		o.OnReduce = func(string, string) {}
	}
	if o.OnTurn == nil {
		o.OnTurn = func(context.Context, Turn) {}
	}
	if o.Transport == nil {
		o.Transport = upstream.NewTransport()
	}
	o.RecallTokens, o.KeepAlive = cmp.Or(max(o.RecallTokens, 0), 8000), cmp.Or(max(o.KeepAlive, 0),
		5*time.Second)
	l := &o.Limits
	l.Body, l.Error = cmp.Or(max(l.Body, 0), 64<<20), cmp.Or(max(l.Error, 0), 1<<20)
	l.Concurrency, l.Memory = cmp.Or(max(l.Concurrency, 0), 512), cmp.Or(max(l.Memory, 0), 1<<30)
	return o
}

// known returns a model of Models; ok is false for an unknown one.
func (o Options) known(model string) (m models.Model, ok bool) {
	if o.Models == nil {
		return m, false
	}
	return o.Models.Find(model)
}

// outputLimit returns a model's output limit in tokens; 0: unknown.
func (o Options) outputLimit(model string) int {
	m, _ := o.known(model)
	return m.MaxOutput.Tokens
}

// price returns the cost of a request by the prices of Models, in US dollars; 0: unknown.
func (o Options) price(dialect, model string, u precis.Usage) float64 {
	m, ok := o.known(model)
	if !ok {
		return 0
	}
	protocol := models.OpenAI
	if dialect == anthropic.Format {
		protocol = models.Anthropic
	}
	return models.Bill(protocol, m, u).USD
}
