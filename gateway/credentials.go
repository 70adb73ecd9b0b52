package gateway

import (
	"context"
	"net/http"
	"sync"

	"precis"
	"precis/model"
	"precis/models"
	"precis/provider"
)

// Credentials are what a request proves itself with at its upstream. They live
// as long as the request, and the summary that is made for it.
type Credentials struct {
	Upstream Upstream
	Owner    string // whose request it is
	Header   http.Header
}

type credentialsKey struct{}

// credentialHeaders hold keys and who they belong to.
var credentialHeaders = []string{
	"Authorization", "X-Api-Key", "Api-Key", "Openai-Organization", "Openai-Project", "Chatgpt-Account-Id", "Anthropic-Version", "X-Goog-Api-Key",
}

// CredentialsFrom returns the credentials of the request for which ctx was made.
func CredentialsFrom(ctx context.Context) (Credentials, bool) {
	c, ok := ctx.Value(credentialsKey{}).(Credentials)
	return c, ok
}

func withCredentials(ctx context.Context, c Credentials) context.Context {
	return context.WithValue(ctx, credentialsKey{}, c)
}

func (x *exchange) credentialsOf() Credentials {
	h := http.Header{}
	for _, name := range credentialHeaders {
		if v := x.r.Header.Values(name); v != nil {
			h[name] = v
		}
	}
	return Credentials{Upstream: *x.upstream, Owner: x.owner, Header: h}
}

// rideHeaders returns the headers that an answer depends on.
func rideHeaders(from http.Header) http.Header {
	h := http.Header{}
	for _, name := range []string{headerBeta, "Anthropic-Version", "Openai-Beta"} {
		if v := from.Values(name); v != nil {
			h[name] = v
		}
	}
	return h
}

// OwnModels asks the model of the conversation itself for summaries: at the
// upstream of the request, with what the client proves itself with. Nothing of
// that is kept. The zero value knows no windows and prices. It is safe for
// concurrent use.
type OwnModels struct {
	// Catalog has windows, limits and prices; nil: they are unknown.
	Catalog *models.Catalog
	// Config holds the timeouts, retries and breaker of the calls; its other
	// fields are set for each model.
	Config provider.Config
	// Transport sends the requests; nil: the default.
	Transport http.RoundTripper

	mu      sync.Mutex
	clients map[ownKey]*provider.Client
}

// ownKey is what clients are kept by. Each has a circuit breaker, and an owner who
// has used up a quota must not open that of another.
type ownKey struct{ owner, upstream, dialect, model string }

// Model returns the model of a live request, for a summary writer; nil
// when ctx has no [Credentials] or there is no live request.
func (o *OwnModels) Model(ctx context.Context, l *precis.Live) model.Model {
	creds, ok := CredentialsFrom(ctx)
	if !ok || l == nil {
		return nil
	}
	key := ownKey{creds.Owner, creds.Upstream.Name, l.Dialect, l.Model}
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clients[key]; c != nil {
		return c
	}
	c, err := provider.New(o.config(creds.Upstream, l))
	if err != nil {
		return nil
	}
	if o.clients == nil || len(o.clients) >= mostWindows {
		o.clients = map[ownKey]*provider.Client{}
	}
	o.clients[key] = c
	return c
}

func (o *OwnModels) config(up Upstream, l *precis.Live) provider.Config {
	c := o.Config
	c.Dialect, c.Model, c.BaseURL = l.Dialect, l.Model, up.join("/v1", "").String()
	c.Info = model.Info{Provider: up.Name}
	next := o.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.HTTPClient = &http.Client{Transport: lent{next}}
	if o.Catalog == nil {
		return c
	}
	if m, ok := o.Catalog.Find(l.Model); ok {
		c.Info.MaxOutput, c.Prices = m.MaxOutput.Tokens, m.Prices
		c.Info.Window = o.Catalog.Window(l.Model)
	}
	return c
}

// lent puts the credentials of the request's context on it.
type lent struct{ next http.RoundTripper }

func (l lent) RoundTrip(r *http.Request) (*http.Response, error) {
	creds, ok := CredentialsFrom(r.Context())
	if ok {
		r = r.Clone(r.Context())
		for name, values := range creds.Header {
			r.Header[name] = values
		}
	}
	return l.next.RoundTrip(r)
}
