package gateway

import (
	"context"
	"net/http"
)

// Credentials are what a request proves itself with at its upstream. They live
// as long as the request, and the summary that is made for it.
type Credentials struct {
	Upstream Upstream
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

func (t *turn) credentialsOf() Credentials {
	h := http.Header{}
	for _, name := range credentialHeaders {
		if v := t.r.Header.Values(name); v != nil {
			h[name] = v
		}
	}
	return Credentials{Upstream: *t.upstream, Header: h}
}

func (t *turn) credentials(ctx context.Context) context.Context {
	return withCredentials(ctx, t.credentialsOf())
}

// rideHeaders are what an answer depends on beside the body.
func (t *turn) rideHeaders() http.Header {
	h := http.Header{}
	for _, name := range []string{headerBeta, "Anthropic-Version", "Openai-Beta"} {
		if v := t.r.Header.Values(name); v != nil {
			h[name] = v
		}
	}
	return h
}
