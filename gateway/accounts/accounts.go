// Package accounts answers: whose is a request? [Auth] names its owner by its key of the gateway.
// [Accounts] names the owner of a request without such a key by its credential for the upstream, and
// may ask the upstream about a token.
package accounts

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/upstream"
	"github.com/precis-dev/precis/store"
)

// Accounts resolves the owner of a request without a gateway key from its upstream credential. A
// request with a JSON web token belongs to the account named in the token, which survives token
// renewal. That holds only if the request's upstream has accepted this very token and refuses
// invalid ones, because anyone can write a token that names somebody else. The upstream is asked
// once per token, before the token's first request is placed. In all other cases, and with any
// other credential, a request belongs to whoever sends the same credential.
type Accounts struct {
	o    Options
	auth keyed
	kept store.Summaries // persists accepted tokens beyond the process; nil: not persisted

	mu    sync.Mutex
	known map[precis.Fingerprint]*tokenState // state of tokens at upstreams, by hash
	// upstreams that accept an invalid token, and since when we know
	credulous map[string]time.Time
	former    map[string]bool             // former owner names: whether data is stored under them
	proven    map[precis.Fingerprint]bool // credentials: whether the newest answer accepted them
}

// tokenState is the state of a token at an upstream.
type tokenState struct {
	accepted bool
	asked    time.Time     // when the upstream was last asked; zero: never
	done     chan struct{} // closed when the upstream has answered; nil: no question is pending
}

const (
	acceptFor  = 3 * time.Second  // time limit for asking about a token
	askedAgain = time.Minute      // when an upstream is asked again about a token it did not accept
	trustAgain = 10 * time.Minute // when an upstream that accepted an invalid token is asked again
	mostTokens = 10_000           // bounds the remembered tokens, because anyone can create them
)

// Options are the parts of the accounts of a gateway. MAC and Now are required.
type Options struct {
	MAC       func(text string) []byte // a hash, keyed with the secret of the gateway
	Upstreams []upstream.API
	Main      []string // names of the upstreams that are used without being named in a path
	Transport http.RoundTripper
	// keeps accepted tokens and has former owner names; nil: nothing is kept beyond the process
	Store    precis.Store
	Patience time.Duration // time limit for the store; 0: 3 seconds
	Now      func() time.Time
	Work     func(func(context.Context)) bool // runs work that the request does not wait for
}

// New returns the accounts of a gateway, which has asked no upstream yet.
func New(o Options) *Accounts {
	if o.Patience <= 0 {
		o.Patience = 3 * time.Second
	}
	a := &Accounts{
		o: o, auth: o.MAC, known: map[precis.Fingerprint]*tokenState{}, credulous: map[string]time.Time{},
		former: map[string]bool{}, proven: map[precis.Fingerprint]bool{},
	}
	a.kept, _ = o.Store.(store.Summaries)
	return a
}

// upstreamName names the upstream of an account: the first configured one with the same host.
func (a *Accounts) upstreamName(u *upstream.API) string {
	for i := range a.o.Upstreams {
		if a.o.Upstreams[i].URL.Scheme == u.URL.Scheme && a.o.Upstreams[i].URL.Host == u.URL.Host {
			return a.o.Upstreams[i].Name
		}
	}
	return u.Name
}

var errHidden = precis.Errorf(precis.CodeInvalid, "check credentials",
	"the Connection header takes a credential away")

// Owner returns the owner of a request to a path of an upstream; "" when the request has no
// credential. Up is nil when there is no upstream. Path "" means the upstream is not asked. The
// error is [precis.CodeInvalid] for a credential that its upstream would not see.
func (a *Accounts) Owner(r *http.Request, up *upstream.API, path string) (string, error) {
	for _, field := range r.Header["Connection"] {
		for name := range strings.SplitSeq(field, ",") {
			if slices.Contains(identityHeaders, http.CanonicalHeaderKey(strings.TrimSpace(name))) {
				return "", errHidden
			}
		}
	}
	c := credentialOf(r)
	if u := a.accepting(r, c, up, path); u != nil {
		former := ""
		if slices.Contains(a.o.Main, u.Name) {
			former = c.formerAccount(a.auth)
		}
		return a.ownerName(r.Context(), a.auth.name(c.account(a.upstreamName(u))), former), nil
	}
	return a.ownerName(r.Context(), a.auth.name(c.parts()), c.formerName(a.auth)), nil
}

// accepting returns the upstream where the request's token identifies its account; nil when no
// upstream has accepted the token.
func (a *Accounts) accepting(r *http.Request, c credential, up *upstream.API, path string) *upstream.API {
	if c.claims.subject == "" || !c.claims.signed ||
		!c.claims.expires.IsZero() && !a.o.Now().Before(c.claims.expires) {
		return nil
	}
	if up != nil {
		if a.accepted(r.Context(), c, up) || path != "" && a.ask(r, c, up, path) {
			return up
		}
		return nil
	}
	for i := range a.o.Upstreams {
		if u := &a.o.Upstreams[i]; slices.Contains(a.o.Main, u.Name) && a.accepted(r.Context(), c, u) {
			return u
		}
	}
	return nil
}

// ownerName returns the owner name to use: the former one if data is stored under it, else name.
func (a *Accounts) ownerName(ctx context.Context, name, former string) string {
	scoper, ok := a.o.Store.(store.Scoper)
	if !ok || former == "" || name == "" {
		return name
	}
	a.mu.Lock()
	has, known := a.former[former]
	a.mu.Unlock()
	if known {
		if has {
			return former
		}
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, a.o.Patience)
	defer cancel()
	list, ok := scoper.Scope(former).(store.Lister)
	if !ok {
		return name
	}
	found, err := list.Conversations(ctx, store.Query{Limit: 1})
	if err != nil {
		return name // the store is asked again next time
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	makeRoomFor(a.former)
	a.former[former] = len(found) > 0
	if len(found) > 0 {
		return former
	}
	return name
}

// makeRoomFor makes room for one more entry.
func makeRoomFor[K comparable, V any](m map[K]V) {
	for k := range m {
		if len(m) < mostTokens {
			return
		}
		delete(m, k)
	}
}

// key returns the key under which a credential at an upstream is remembered.
func (a *Accounts) key(use string, c credential, up *upstream.API) precis.Fingerprint {
	parts := []part{{"use", use}, {"upstream", a.upstreamName(up)}}
	return precis.Fingerprint(a.auth(encode(append(parts, c.parts()...)...)))
}

// accepted reports whether an upstream is known to have accepted a token.
func (a *Accounts) accepted(ctx context.Context, c credential, up *upstream.API) bool {
	key := a.key("accepted", c, up)
	a.mu.Lock()
	s := a.known[key]
	a.mu.Unlock()
	if s != nil {
		return s.accepted
	}
	if a.kept == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, a.o.Patience)
	defer cancel()
	if _, err := a.kept.Summary(ctx, key); err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.known[key]; s != nil {
		return s.accepted // meanwhile
	}
	makeRoomFor(a.known)
	a.known[key] = &tokenState{accepted: true}
	return true
}

// ask asks an upstream about a token, unless it was asked recently, and reports whether the token
// is accepted.
func (a *Accounts) ask(r *http.Request, c credential, up *upstream.API, path string) bool {
	key, realm := a.key("accepted", c, up), a.upstreamName(up)
	a.mu.Lock()
	s := a.known[key]
	since, credulous := a.credulous[realm]
	switch {
	case s != nil && s.done != nil: // another request is asking
		done := s.done
		a.mu.Unlock()
		select {
		case <-done:
		case <-r.Context().Done():
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return s.accepted
	case credulous && a.o.Now().Sub(since) < trustAgain,
		s != nil && !s.asked.IsZero() && a.o.Now().Sub(s.asked) < askedAgain:
		a.mu.Unlock()
		return false
	}
	if s == nil {
		makeRoomFor(a.known)
		s = &tokenState{}
		a.known[key] = s
	}
	done := make(chan struct{})
	s.done = done
	a.mu.Unlock()

	refuses, accepts := a.probeToken(r, c, up, path)
	a.mu.Lock()
	s.accepted, s.asked, s.done = accepts, a.o.Now(), nil
	if refuses == no {
		a.credulous[realm] = a.o.Now()
	}
	a.mu.Unlock()
	close(done)
	if accepts {
		a.persist(key)
	}
	return accepts
}

// persist persists an accepted token beyond the process.
func (a *Accounts) persist(key precis.Fingerprint) {
	if a.kept == nil {
		return
	}
	a.o.Work(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, a.o.Patience)
		defer cancel()
		_ = a.kept.KeepSummary(ctx, key, "accepted") // on failure, the next process asks once more
	})
}

// verdict is an upstream's answer about a token.
type verdict int

const (
	unknown verdict = iota // no answer, or an answer unrelated to the token
	no
	yes
)

// probeToken reports whether an upstream refuses a token with a wrong signature, and whether it accepts
// the request's own token. It sends requests that use no model: the list of models and, if that is
// public, an empty request to the path of the request.
func (a *Accounts) probeToken(r *http.Request, c credential, up *upstream.API,
	path string) (refuses verdict, accepts bool) {
	ctx, cancel := context.WithTimeout(r.Context(), acceptFor)
	defer cancel()
	own, wrong := c.tokens[0], withBadSignature(c.tokens[0])
	for _, q := range []struct{ method, path, body string }{{http.MethodGet, "/v1/models", ""},
		{http.MethodPost, path, "{}"}} {
		switch a.present(ctx, r, up, q.method, q.path, q.body, own, wrong) {
		case no:
			return yes, a.present(ctx, r, up, q.method, q.path, q.body, own, own) == yes
		case yes:
			refuses = no
		}
	}
	return refuses, false
}

// present sends a request upstream with token instead of the request's own token.
func (a *Accounts) present(ctx context.Context, r *http.Request, up *upstream.API,
	method, path, body, own, token string) verdict {
	req, err := http.NewRequestWithContext(ctx, method, up.At(path).String(), strings.NewReader(body))
	if err != nil {
		return unknown
	}
	for _, name := range Headers {
		for _, v := range r.Header.Values(name) {
			req.Header.Add(name, strings.ReplaceAll(v, own, token))
		}
	}
	if r.URL.Query().Has("key") {
		req.URL.RawQuery = "key=" + token
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := a.o.Transport.RoundTrip(req)
	if err != nil {
		return unknown
	}
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // lets the connection be reused
	_ = res.Body.Close()
	switch {
	case IsRefusal(res.StatusCode):
		return no
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests ||
		res.StatusCode == http.StatusRequestTimeout:
		return unknown
	}
	return yes
}

// IsRefusal reports whether a status means that a credential was refused.
func IsRefusal(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// withBadSignature returns the token with an invalid signature.
func withBadSignature(token string) string {
	i := strings.LastIndexByte(token, '.') + 1
	if i >= len(token) {
		return token + "A"
	}
	first := byte('A')
	if token[i] == first {
		first = 'B'
	}
	return token[:i] + string(first) + token[i+1:]
}

// RecordStatus records an upstream's answer to a request. A refusal revokes the acceptance of its
// token.
func (a *Accounts) RecordStatus(r *http.Request, up *upstream.API, status int) {
	if status >= 300 && !IsRefusal(status) {
		return
	}
	c := credentialOf(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	key := a.key("proven", c, up)
	if was, known := a.proven[key]; !known || was != (status < 300) {
		makeRoomFor(a.proven)
		a.proven[key] = status < 300
	}
	if s := a.known[a.key("accepted", c, up)]; s != nil && IsRefusal(status) {
		s.accepted = false
	}
}

// IsProven reports whether the newest answer to a request with the same credential was a success. A
// request without a credential is proven unless one without a credential was refused.
func (a *Accounts) IsProven(r *http.Request, up *upstream.API) bool {
	c := credentialOf(r)
	key := a.key("proven", c, up)
	a.mu.Lock()
	defer a.mu.Unlock()
	proven, known := a.proven[key]
	return proven || !known && len(c.tokens) == 0
}
