// Package ownmodel has the model of a conversation write its summaries in a gateway. Use [Models].
// It is separate from package gateway because it needs the SDKs of the model APIs, which a gateway
// that condenses without a model does not need.
package ownmodel

import (
	"context"
	"net/http"
	"sync"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider"
)

// Models calls the model of the conversation itself for summaries: at the upstream of the request,
// with the client's credentials, which are not kept, and within the window of the request. The zero
// value knows no limits and prices. It is safe for concurrent use.
type Models struct {
	// Catalog has limits and prices; nil: they are unknown.
	Catalog *models.Catalog
	// Config holds the timeouts, retries and breaker of the calls; its other
	// fields are set for each model.
	Config provider.Config
	// Transport sends the requests; nil: the default.
	Transport http.RoundTripper

	mu      sync.Mutex
	clients map[ownKey]*provider.Client
}

// mostModels bounds the remembered models, because clients choose their names.
const mostModels = 4096

// ownKey identifies a client. Each has a circuit breaker, and one owner's used-up quota must not
// open the breaker of another owner.
type ownKey struct{ owner, upstream, dialect, model string }

// Model returns the model of a live request, for a summary writer; nil when ctx has no
// [gateway.Credentials] or l is nil.
func (o *Models) Model(ctx context.Context, l *policy.LiveRequest) model.Model {
	creds, ok := gateway.CredentialsFrom(ctx)
	if !ok || l == nil {
		return nil
	}
	key := ownKey{creds.Owner, creds.Upstream.Name, l.Dialect, l.Model}
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clients[key]; c != nil {
		return c
	}
	c, err := provider.New(o.config(creds, l))
	if err != nil {
		return nil
	}
	if o.clients == nil || len(o.clients) >= mostModels {
		o.clients = map[ownKey]*provider.Client{}
	}
	o.clients[key] = c
	return c
}

func (o *Models) config(creds gateway.Credentials, l *policy.LiveRequest) provider.Config {
	c := o.Config
	c.Dialect, c.Model, c.BaseURL = l.Dialect, l.Model, creds.BaseURL()
	c.Info = model.Info{Provider: creds.Upstream.Name}
	next := o.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.HTTPClient = &http.Client{Transport: credentialsTransport{next}}
	if o.Catalog == nil {
		return c
	}
	if m, ok := o.Catalog.Find(l.Model); ok {
		c.Info.MaxOutput, c.Prices = m.MaxOutput.Tokens, m.Prices
	}
	return c
}

// credentialsTransport adds the credentials in a request's context to the request.
type credentialsTransport struct{ next http.RoundTripper }

func (l credentialsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	creds, ok := gateway.CredentialsFrom(r.Context())
	if ok {
		r = r.Clone(r.Context())
		for name, values := range creds.Header {
			r.Header[name] = values
		}
	}
	return l.next.RoundTrip(r)
}
