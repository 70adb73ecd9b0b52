package gateway

import (
	"context"
	"net/http"

	"github.com/precis-dev/precis/gateway/accounts"
)

// Credentials authenticate a request at its upstream. They live as long as the request, and the
// summary that is made for it.
type Credentials struct {
	Upstream Upstream
	Owner    string // of the request
	Header   http.Header

	query string // of the request
}

// BaseURL returns the base URL of the upstream as SDKs want it, with its version.
func (c Credentials) BaseURL() string { return c.Upstream.Join("/v1", "").String() }

type credentialsKey struct{}

// CredentialsFrom returns the credentials of the request that ctx belongs to.
func CredentialsFrom(ctx context.Context) (Credentials, bool) {
	c, ok := ctx.Value(credentialsKey{}).(Credentials)
	return c, ok
}

// WithCredentials returns a context for work that authenticates with c.
func WithCredentials(ctx context.Context, c Credentials) context.Context {
	return context.WithValue(ctx, credentialsKey{}, c)
}

func (x *exchange) credentialsOf() Credentials {
	h := http.Header{}
	for _, name := range accounts.Headers {
		if v := x.r.Header.Values(name); v != nil {
			h[name] = v
		}
	}
	return Credentials{Upstream: *x.Upstream, Owner: x.owner, Header: h}
}

// rideHeaders returns the headers that affect an answer.
func rideHeaders(from http.Header) http.Header {
	h := http.Header{}
	for _, name := range []string{headerBeta, "Anthropic-Version", "Openai-Beta"} {
		if v := from.Values(name); v != nil {
			h[name] = v
		}
	}
	return h
}
