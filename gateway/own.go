package gateway

import (
	"context"
	"net/http"
	"sync"

	"precis"
	"precis/models"
	"precis/provider"
)

// OwnModels asks the model of the conversation itself for summaries: at the
// upstream of the request, with what the client proves itself with. Nothing of
// that is kept. The zero value knows no windows and prices. It is safe for
// concurrent use.
type OwnModels struct {
	// Catalogue tells windows, limits and prices; nil: unknown.
	Catalogue *models.Catalogue
	// Config holds the timeouts, retries and breaker of the calls; its other
	// fields are set for each model.
	Config provider.Config
	// Transport sends the requests; nil: the default.
	Transport http.RoundTripper

	mu      sync.Mutex
	clients map[[3]string]*provider.Client
}

// Model returns the model of a live request, for a summary writer; nil
// when ctx has no [Credentials] or there is no live request.
func (o *OwnModels) Model(ctx context.Context, l *precis.Live) precis.Model {
	creds, ok := CredentialsFrom(ctx)
	if !ok || l == nil {
		return nil
	}
	key := [3]string{creds.Upstream.Name, l.Dialect, l.Model}
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
		o.clients = map[[3]string]*provider.Client{}
	}
	o.clients[key] = c
	return c
}

func (o *OwnModels) config(up Upstream, l *precis.Live) provider.Config {
	c := o.Config
	c.Dialect, c.Model, c.BaseURL = l.Dialect, l.Model, up.join("/v1", "").String()
	c.Info = precis.ModelInfo{Provider: up.Name}
	next := o.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.HTTPClient = &http.Client{Transport: lent{next}}
	if o.Catalogue == nil {
		return c
	}
	if m, ok := o.Catalogue.Find(l.Model); ok {
		c.Info.MaxOutput, c.Prices = m.MaxOutput.Tokens, m.Prices
		c.Info.Window = o.Catalogue.Window(l.Model)
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
