package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"precis"
	"precis/conversation"
	"precis/gateway/polyfill"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// Options are a gateway's parts. Manager is required, and Upstreams unless Local or
// InProcess is set; every other zero value is a working default.
type Options struct {
	// Upstreams are the model APIs that requests are forwarded to. Of several that
	// speak a dialect the first is used, unless the path names another one.
	Upstreams []Upstream
	// Local: there are no upstreams, and nothing is forwarded. Views are made for
	// clients that send them themselves, see [Gateway.Assemble].
	Local bool
	// InProcess: requests come by [Gateway.RoundTripper], so Upstreams may be empty.
	// ServeHTTP then refuses what it gets.
	InProcess bool
	// Manager decides and reduces. Its store is replaced by Store.
	Manager *precis.Manager
	// Profiles are managers that a request can ask for by X-Precis-Profile.
	Profiles map[string]*precis.Manager
	// Assign returns the arm of an experiment that a conversation belongs to from its
	// first request on, which is the name of a profile as well; "": to none. It must be
	// a function of the ID. What was assigned is kept with the conversation, and counts
	// where a request asks for no profile. Nil: there is no experiment.
	Assign func(conversation string) (arm string)
	// Store keeps conversations; nil: they live in memory, and are forgotten when
	// it is full and when the gateway ends.
	Store precis.Store
	// Shared: other replicas use the store, too. Its edits are asked for with each
	// request.
	Shared bool
	// Patience is how long a request waits for the store, after which it goes on with
	// what memory has; 0 means 3 seconds.
	Patience time.Duration
	// Replica names this gateway among others; "": a random name.
	Replica string

	// Window returns the context window of a model; nil: 128,000 tokens, assumed.
	Window func(ctx context.Context, model string) precis.Window
	// ProfileWindow returns the window, in tokens, that a profile sets for the requests that
	// ask for it; 0: it sets none. Nil: none does.
	ProfileWindow func(profile string) int
	// Probe asks servers for the windows of models that are not configured, once for
	// each, with the credentials of the request, in the background. The first turn of a
	// model waits for the answer for up to a second.
	Probe bool
	// OutputLimit returns a model's output limit in tokens, 0 when unknown; nil:
	// always unknown.
	OutputLimit func(model string) int
	// Cost returns what a request cost in US dollars; nil: nothing is known.
	Cost func(dialect, model string, u precis.Usage) float64

	Auth   Auth
	Limits Limits
	Native Native
	// Summarizer writes the summaries that requests ask for, see [Native]; nil, or
	// when it fails: a digest is made.
	Summarizer precis.Summarizer
	// Recall offers the model a tool to read again what its view hides, and answers
	// its calls. RecallTokens is the most that one answer of it may hold; 0 means
	// 8000, and it is never more than a quarter of the window.
	Recall       bool
	RecallTokens int
	// CondenseTool offers the model a tool to ask for a condensation at a moment that
	// suits its work, and answers its calls. Summaries are written as for any other
	// condensation.
	CondenseTool bool

	// Bridge says what is done when a client condenses a conversation by itself; "":
	// [BridgeMissing].
	Bridge Bridge

	// KeepAlive is how long a streaming request waits for a reduction before its
	// stream is begun and kept alive, and the pause between signs of life; 0 means
	// 5 seconds.
	KeepAlive time.Duration
	// Memory is how many bytes the conversations in memory may use, about; 0 means
	// 256 MB.
	Memory int
	// Transport sends requests upstream; nil: one with HTTP/2, keep-alive and the
	// proxies of the environment.
	Transport http.RoundTripper
	Logger    *slog.Logger     // nil: silent
	Now       func() time.Time // nil: time.Now
	// OnTurn is called for every request that was answered; nil: nothing is. It must
	// return soon.
	OnTurn func(context.Context, Turn)
	// OnHold is called when a request of a conversation is to be held, is held, or is
	// let go; nil: nothing is. It must return soon.
	OnHold func(owner, conversation string)
	// OnReduce is called when the view of a conversation is about to be reduced while
	// its client waits; the [Turn] that follows says what came of it. Nil: nothing is.
	// It must return soon.
	OnReduce func(owner, conversation string)
}

// Upstream is a model API.
type Upstream struct {
	Name string   // in paths: /NAME/v1/…; letters, digits, dashes
	URL  *url.URL // what stands before /v1/…; a final /v1 is dropped
	// Dialects are those it speaks; nil: all.
	Dialects []string
	// Native says what it needs no polyfill for; nil: as Options.Native.
	Native *Native

	whole bool // no version stands between the URL and a path
}

// Native says what an upstream does by itself, see [polyfill.Native].
type Native = polyfill.Native

// NativeOf returns what the API at a host does by itself: that of Anthropic and that of
// OpenAI everything; nil of any other host.
func NativeOf(host string) *Native {
	if host == "api.anthropic.com" || host == "api.openai.com" {
		return &Native{ContextManagement: true, Compact: true}
	}
	return nil
}

// Limits bound what one gateway takes on. Zero values are defaults.
type Limits struct {
	Body        int64 // bytes of a request body; 0 means 64 MB
	Concurrency int   // requests under way; 0 means 512
	Error       int64 // bytes of an error response that are read; 0 means 1 MB
	// Memory is how many bytes all requests under way may use, about: four times
	// their bodies. One for which there is no room waits for some seconds, and is
	// refused as overloaded then. 0 means 1 GB.
	Memory int64
}

// Turn is one answered request, for metrics and logs.
type Turn struct {
	Conversation string
	Owner        string
	Dialect      string
	Model        string
	Upstream     string
	Kind         string    // how it was recognized, or why it was passed through
	Action       string    // what was done: see [Headers]
	Unmanaged    Unmanaged // why it was not managed; "": it was
	Status       int       // of the response
	Stream       bool
	Report       *precis.Report // nil when it was passed through
	// Outlook is how full the window is with what was forwarded; nil when it was passed
	// through.
	Outlook *conversation.Outlook
	Warned  bool // the warn level was crossed: the turn before was below it
	// CondenseError names a condensation that failed, for this request or in the
	// background since the one before: by the names of condense.ErrorName, or by a
	// [precis.Code] when the whole run failed. "": none did.
	CondenseError string
	ByModel       []precis.Report // of condensations that the model asked for meanwhile, by the condense tool
	Usage         precis.Usage
	Input         int // input tokens the upstream reported, cached ones included; 0: none
	CostUSD       float64
	Retries       int           // after overflows
	Overhead      time.Duration // spent before the request was first sent upstream
	FirstByte     time.Duration // until the first byte of the answer was sent on
	Took          time.Duration
	Err           error // why it failed; nil when it did not
}

var dialects = []string{anthropic.Format, chat.Format, responses.Format}

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
		if err := o.Upstreams[i].check(); err != nil {
			return fail("Options.Upstreams[%d]: %w", i, err)
		}
	}
	if o.Window == nil {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: 128_000, Source: precis.SourceAssumed}
		}
	}
	if o.OutputLimit == nil {
		o.OutputLimit = func(string) int { return 0 }
	}
	if o.Cost == nil {
		o.Cost = func(string, string, precis.Usage) float64 { return 0 }
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
	if o.RecallTokens <= 0 {
		o.RecallTokens = 8000
	}
	if o.KeepAlive <= 0 {
		o.KeepAlive = 5 * time.Second
	}
	if o.Limits.Body <= 0 {
		o.Limits.Body = 64 << 20
	}
	if o.Limits.Concurrency <= 0 {
		o.Limits.Concurrency = 512
	}
	if o.Limits.Memory <= 0 {
		o.Limits.Memory = 1 << 30
	}
	if o.Limits.Error <= 0 {
		o.Limits.Error = 1 << 20
	}
	if o.Transport == nil {
		o.Transport = newTransport()
	}
	return o, nil
}

func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
	t.DisableCompression = true // what comes is passed on as it is
	t.WriteBufferSize, t.ReadBufferSize = 64<<10, 32<<10
	return t
}

func (u *Upstream) check() error {
	if u.URL == nil || u.URL.Host == "" || u.URL.Scheme != "http" && u.URL.Scheme != "https" {
		return fmt.Errorf("the URL is no http or https URL")
	}
	if u.URL.User != nil || u.URL.RawQuery != "" || u.URL.Fragment != "" {
		return fmt.Errorf("the URL has more than a host and a path")
	}
	if u.Name == "" || strings.ContainsFunc(u.Name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return fmt.Errorf("the name %q is not made of letters, digits and dashes", u.Name)
	}
	for _, d := range u.Dialects {
		if !slices.Contains(dialects, d) {
			return fmt.Errorf("unknown dialect %q, want one of %v", d, dialects)
		}
	}
	own := *u.URL
	own.Path = strings.TrimSuffix(strings.TrimRight(own.Path, "/"), "/v1")
	u.URL = &own
	return nil
}
