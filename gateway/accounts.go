package gateway

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"precis"
	"precis/store"
)

// accounts names the owners of requests without a gateway key, by what they prove
// themselves with at their upstream. A request with a JSON web token belongs to the
// account that the token names, which stays when tokens are renewed, but only where the
// upstream of the request has accepted that very token and refuses wrong ones: anybody
// can write a token that names somebody else. The upstream is asked for that once for
// each token, before its first request is placed. In all other cases, and with any
// other credential, a request belongs to whoever has the same credential.
type accounts struct {
	auth      Auth
	upstreams []Upstream
	transport http.RoundTripper
	kept      store.Summaries // remembers accepted tokens beyond the process; nil: nothing does
	store     precis.Store    // where former names are looked up; nil: nowhere
	patience  time.Duration
	now       func() time.Time
	work      func(func(context.Context)) bool // runs what a request does not wait for

	mu        sync.Mutex
	known     map[precis.Fingerprint]*standing // of tokens at upstreams, by their hash
	credulous map[string]time.Time             // upstreams that take a wrong token, since when that is known
	former    map[string]bool                  // names of before: something is stored under them, or not
	proven    map[precis.Fingerprint]bool      // credentials whose newest answer was no refusal
}

// standing is how a token stands at an upstream.
type standing struct {
	accepted bool
	asked    time.Time     // when the upstream was asked; zero: it was not
	done     chan struct{} // closed when an answer is there; nil: nothing is under way
}

const (
	acceptFor  = 3 * time.Second  // that asking for a token may take
	askedAgain = time.Minute      // after which an upstream is asked again about a token it did not accept
	trustAgain = 10 * time.Minute // after which an upstream that took a wrong token is asked again
	mostTokens = 10_000           // bounds how many are remembered, for anybody can make some
)

func newAccounts(o Options, work func(func(context.Context)) bool) *accounts {
	a := &accounts{
		auth: o.Auth, upstreams: o.Upstreams, transport: o.Transport, store: o.Store, patience: o.Patience, now: o.Now, work: work,
		known: map[precis.Fingerprint]*standing{}, credulous: map[string]time.Time{}, former: map[string]bool{}, proven: map[precis.Fingerprint]bool{},
	}
	if a.patience <= 0 {
		a.patience = 3 * time.Second
	}
	a.kept, _ = o.Store.(store.Summaries)
	return a
}

// realm names the upstream of an account: the first one at the same host.
func (a *accounts) realm(u *Upstream) string {
	for i := range a.upstreams {
		if a.upstreams[i].URL.Scheme == u.URL.Scheme && a.upstreams[i].URL.Host == u.URL.Host {
			return a.upstreams[i].Name
		}
	}
	return u.Name
}

// main reports whether an upstream is used without being named in a path.
func (a *accounts) main(u *Upstream) bool {
	for _, d := range dialects {
		i := slices.IndexFunc(a.upstreams, func(u Upstream) bool { return u.speaks(d) })
		if i >= 0 && a.upstreams[i].Name == u.Name {
			return true
		}
	}
	return false
}

var errHidden = precis.Errorf(precis.CodeInvalid, "check credentials", "the Connection header takes a credential away")

// owner returns the owner of a request that goes to a path of an upstream; "" when it
// has no credential. Up nil: it goes to none. Path "": the upstream is not asked. The error is
// [precis.CodeInvalid] for a credential that its upstream would not see.
func (a *accounts) owner(r *http.Request, up *Upstream, path string) (string, error) {
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
		if a.main(u) {
			former = c.formerAccount(a.auth)
		}
		return a.settled(r.Context(), a.auth.name(c.account(a.realm(u))), former), nil
	}
	return a.settled(r.Context(), a.auth.name(c.parts()), c.formerName(a.auth)), nil
}

// accepting returns the upstream at which the request's token stands for its account;
// nil when there is none.
func (a *accounts) accepting(r *http.Request, c credential, up *Upstream, path string) *Upstream {
	if c.claims.subject == "" || !c.claims.signed || !c.claims.expires.IsZero() && !a.now().Before(c.claims.expires) {
		return nil
	}
	if up != nil {
		if a.accepted(r.Context(), c, up) || path != "" && a.ask(r, c, up, path) {
			return up
		}
		return nil
	}
	for i := range a.upstreams {
		if u := &a.upstreams[i]; a.main(u) && a.accepted(r.Context(), c, u) {
			return u
		}
	}
	return nil
}

// settled returns the name of an owner: the former one where something is stored
// under that.
func (a *accounts) settled(ctx context.Context, name, former string) string {
	scoper, ok := a.store.(store.Scoper)
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
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	list, ok := scoper.Scope(former).(store.Lister)
	if !ok {
		return name
	}
	found, err := list.Conversations(ctx, store.Query{Limit: 1})
	if err != nil {
		return name // the store is asked again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	bound(a.former)
	a.former[former] = len(found) > 0
	if len(found) > 0 {
		return former
	}
	return name
}

// bound makes room for one more.
func bound[K comparable, V any](m map[K]V) {
	for k := range m {
		if len(m) < mostTokens {
			return
		}
		delete(m, k)
	}
}

// key is by what a credential at an upstream is remembered.
func (a *accounts) key(use string, c credential, up *Upstream) precis.Fingerprint {
	parts := []part{{"use", use}, {"upstream", a.realm(up)}}
	return precis.Fingerprint(a.auth.mac(encode(append(parts, c.parts()...)...)))
}

// accepted reports whether an upstream is known to have accepted a token.
func (a *accounts) accepted(ctx context.Context, c credential, up *Upstream) bool {
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
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	if _, err := a.kept.Summary(ctx, key); err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.known[key]; s != nil {
		return s.accepted // meanwhile
	}
	bound(a.known)
	a.known[key] = &standing{accepted: true}
	return true
}

// ask asks an upstream about a token, unless that was done a moment ago, and reports
// whether the token is accepted.
func (a *accounts) ask(r *http.Request, c credential, up *Upstream, path string) bool {
	key, realm := a.key("accepted", c, up), a.realm(up)
	a.mu.Lock()
	s := a.known[key]
	since, credulous := a.credulous[realm]
	switch {
	case s != nil && s.done != nil: // somebody else asks
		done := s.done
		a.mu.Unlock()
		select {
		case <-done:
		case <-r.Context().Done():
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		return s.accepted
	case credulous && a.now().Sub(since) < trustAgain, s != nil && !s.asked.IsZero() && a.now().Sub(s.asked) < askedAgain:
		a.mu.Unlock()
		return false
	}
	if s == nil {
		bound(a.known)
		s = &standing{}
		a.known[key] = s
	}
	done := make(chan struct{})
	s.done = done
	a.mu.Unlock()

	refuses, accepts := a.try(r, c, up, path)
	a.mu.Lock()
	s.accepted, s.asked, s.done = accepts, a.now(), nil
	if refuses == no {
		a.credulous[realm] = a.now()
	}
	a.mu.Unlock()
	close(done)
	if accepts {
		a.keep(key)
	}
	return accepts
}

// keep remembers an accepted token beyond the process.
func (a *accounts) keep(key precis.Fingerprint) {
	if a.kept == nil {
		return
	}
	a.work(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, a.patience)
		defer cancel()
		_ = a.kept.KeepSummary(ctx, key, "accepted") // or it is asked for once more in the next process
	})
}

// verdict is what an upstream makes of a token.
type verdict int

const (
	unknown verdict = iota // it did not answer, or not about the token
	no
	yes
)

// try finds out whether an upstream refuses a token with a wrong signature, and accepts
// the request's own. It sends requests that use no model: for the list of models, and,
// where that is for everybody, one without content to the path of the request.
func (a *accounts) try(r *http.Request, c credential, up *Upstream, path string) (refuses verdict, accepts bool) {
	ctx, cancel := context.WithTimeout(r.Context(), acceptFor)
	defer cancel()
	own, wrong := c.tokens[0], broken(c.tokens[0])
	for _, q := range []struct{ method, path, body string }{{http.MethodGet, "/v1/models", ""}, {http.MethodPost, path, "{}"}} {
		switch a.present(ctx, r, up, q.method, q.path, q.body, own, wrong) {
		case no:
			return yes, a.present(ctx, r, up, q.method, q.path, q.body, own, own) == yes
		case yes:
			refuses = no
		}
	}
	return refuses, false
}

// present sends a request upstream with a token in the place of the request's own.
func (a *accounts) present(ctx context.Context, r *http.Request, up *Upstream, method, path, body, own, token string) verdict {
	req, err := http.NewRequestWithContext(ctx, method, (route{upstream: up, path: path, escaped: !isEndpoint(path)}).url("").String(), strings.NewReader(body))
	if err != nil {
		return unknown
	}
	for _, name := range credentialHeaders {
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
	res, err := a.transport.RoundTrip(req)
	if err != nil {
		return unknown
	}
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection is used again
	_ = res.Body.Close()
	switch {
	case refusedBy(res.StatusCode):
		return no
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout:
		return unknown
	}
	return yes
}

// refusedBy reports whether a status says that a credential is not accepted.
func refusedBy(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// broken returns a token with another signature.
func broken(token string) string {
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

// answered takes down what an upstream answered to a request. A refusal takes back that
// its token was accepted.
func (a *accounts) answered(r *http.Request, up *Upstream, status int) {
	if status >= 300 && !refusedBy(status) {
		return
	}
	c := credentialOf(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	key := a.key("proven", c, up)
	if was, known := a.proven[key]; !known || was != (status < 300) {
		bound(a.proven)
		a.proven[key] = status < 300
	}
	if s := a.known[a.key("accepted", c, up)]; s != nil && refusedBy(status) {
		s.accepted = false
	}
}

// isProven reports whether the newest answer of an upstream to a request with the same
// credential was a success. A request without one claims nothing, and is proven as long
// as none was refused.
func (a *accounts) isProven(r *http.Request, up *Upstream) bool {
	c := credentialOf(r)
	key := a.key("proven", c, up)
	a.mu.Lock()
	defer a.mu.Unlock()
	proven, known := a.proven[key]
	return proven || !known && len(c.tokens) == 0
}
