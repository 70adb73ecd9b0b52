package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"precis"
	"precis/internal/origin"
	"precis/store"
)

// Auth says who may use a gateway, and to whom a conversation belongs.
type Auth struct {
	// Keys are the keys that clients must send as X-Precis-Key, each hashed by
	// [HashKey], with the name of their owner. None: everybody who can reach the
	// gateway may use it.
	Keys map[string]string
	// Admins are the names of owners who may see everybody's conversations through
	// the control API, and change what concerns all. See [Gateway.SetAdmins].
	Admins map[string]bool
	// Secret makes names of owners out of credentials. Replicas must share it, and
	// it belongs elsewhere than the store. Empty: owners are named by a plain hash.
	Secret []byte
}

// HashKey returns how a gateway key is written in [Auth].
func HashKey(key string) string {
	sum := sha256.Sum256([]byte("precis gateway key " + key))
	return hex.EncodeToString(sum[:])
}

const headerKey = "X-Precis-Key"

var errKey = &precis.Error{Code: precis.CodeInvalid, Op: "check gateway key", Hint: "send a key of this gateway as " + headerKey}

// key returns the owner of the request's gateway key.
func (a Auth) key(r *http.Request) (owner string, ok bool) {
	if len(a.Keys) == 0 {
		return "", true
	}
	hash := HashKey(r.Header.Get(headerKey))
	for known, name := range a.Keys {
		if subtle.ConstantTimeCompare([]byte(known), []byte(hash)) == 1 {
			owner, ok = name, true
		}
	}
	return owner, ok
}

// owner returns the owner of a request by its gateway key; "" where none is needed.
func (a Auth) owner(r *http.Request) (string, error) {
	owner, ok := a.key(r)
	if !ok {
		return "", errKey
	}
	if owner != "" {
		return "key-" + owner, nil
	}
	return "", nil
}

// mac returns a hash of a text that nobody without the secret can make.
func (a Auth) mac(text string) []byte {
	m := hmac.New(sha256.New, a.Secret)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// name returns the name of the owner who has an account; "" of none.
func (a Auth) name(account string) string {
	if account == "" {
		return ""
	}
	return "p" + hex.EncodeToString(a.mac(account)[:10])
}

// strip takes what is meant for the gateway alone out of a request.
func (a Auth) strip(h http.Header) { h.Del(headerKey) }

// accounts names the owners of requests without a gateway key, by what they prove
// themselves with at their upstream. A request with a JSON web token belongs to the
// account that the token names, which stays when tokens are renewed, but only after
// an upstream has accepted that very token: anybody can write a token that names
// somebody else. Until then, and with any other credential, a request belongs to
// whoever has the same credential.
type accounts struct {
	auth     Auth
	kept     store.Summaries // remembers accepted tokens beyond the process; nil: nothing does
	patience time.Duration
	work     func(func(context.Context)) bool // runs what a request does not wait for

	mu    sync.Mutex
	known map[precis.Fingerprint]bool // tokens by their hash: accepted, or not yet
}

func newAccounts(o Options, work func(func(context.Context)) bool) *accounts {
	a := &accounts{auth: o.Auth, patience: o.Patience, work: work, known: map[precis.Fingerprint]bool{}}
	if a.patience <= 0 {
		a.patience = 3 * time.Second
	}
	a.kept, _ = o.Store.(store.Summaries)
	return a
}

// identityHeaders are credentials and the accounts they are used for.
var identityHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Chatgpt-Account-Id", "Openai-Organization", "Openai-Project"}

var errHidden = precis.Errorf(precis.CodeInvalid, "check credentials", "the Connection header takes a credential away")

// owner returns the owner of a request; "" when it has no credential. The error
// is [precis.CodeInvalid] for a credential that its upstream would not see.
func (a *accounts) owner(r *http.Request) (string, error) {
	for _, field := range r.Header["Connection"] {
		for name := range strings.SplitSeq(field, ",") {
			if slices.Contains(identityHeaders, http.CanonicalHeaderKey(strings.TrimSpace(name))) {
				return "", errHidden
			}
		}
	}
	c := credentialOf(r)
	if c.subject != "" && a.accepted(r.Context(), c) {
		return a.auth.name(c.of + "subject " + c.subject), nil
	}
	return a.auth.name(c.whole()), nil
}

// accept remembers that an upstream has accepted what a request proved itself with.
func (a *accounts) accept(r *http.Request) {
	c := credentialOf(r)
	if c.subject == "" {
		return
	}
	key := a.key(c)
	a.mu.Lock()
	was := a.known[key]
	a.remember(key, true)
	a.mu.Unlock()
	if was || a.kept == nil {
		return
	}
	a.work(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, a.patience)
		defer cancel()
		_ = a.kept.KeepSummary(ctx, key, "accepted") // or it is accepted once more in the next process
	})
}

func (a *accounts) accepted(ctx context.Context, c credential) bool {
	key := a.key(c)
	a.mu.Lock()
	ok, asked := a.known[key]
	a.mu.Unlock()
	if asked || a.kept == nil {
		return ok
	}
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	_, err := a.kept.Summary(ctx, key)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known[key] {
		return true // meanwhile
	}
	if err == nil || precis.CodeOf(err) == precis.CodeNotFound {
		a.remember(key, err == nil)
	}
	return err == nil
}

// mostTokens bounds how many tokens are remembered, for anybody can make some.
const mostTokens = 10_000

// remember notes whether a token was accepted. The lock must be held.
func (a *accounts) remember(key precis.Fingerprint, accepted bool) {
	if len(a.known) >= mostTokens {
		for old := range a.known {
			delete(a.known, old)
			break
		}
	}
	a.known[key] = accepted
}

func (a *accounts) key(c credential) precis.Fingerprint {
	return precis.Fingerprint(a.auth.mac("accepted " + c.whole()))
}

// credential is what a request proves itself with.
type credential struct {
	of      string   // the account or organization it is used for; "": not said
	tokens  []string // without repetition
	subject string   // of the JSON web token that is the only token; "": there is none
}

// whole returns everything of it; "" without a token: an account is what a token
// proves.
func (c credential) whole() string {
	if len(c.tokens) == 0 {
		return ""
	}
	return c.of + strings.Join(c.tokens, " ")
}

func credentialOf(r *http.Request) credential {
	var c credential
	add := func(tokens ...string) {
		for _, t := range tokens {
			if t = strings.TrimSpace(strings.TrimPrefix(t, "Bearer ")); t != "" && !slices.Contains(c.tokens, t) {
				c.tokens = append(c.tokens, t)
			}
		}
	}
	for _, name := range identityHeaders {
		switch values := r.Header.Values(name); name {
		case "Chatgpt-Account-Id", "Openai-Organization", "Openai-Project":
			if len(values) > 0 {
				c.of += name + " " + strings.Join(values, ", ") + " "
			}
		default:
			add(values...)
		}
	}
	if strings.Contains(r.URL.RawQuery, "key=") {
		add(r.URL.Query()["key"]...)
	}
	if len(c.tokens) == 1 {
		c.subject = subjectOf(c.tokens[0])
	}
	return c
}

// subjectOf returns the issuer and subject of a JSON web token; "" for any other
// credential. The upstream checks it; here it only names.
func subjectOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct{ Iss, Sub string }
	if json.Unmarshal(raw, &claims) != nil || claims.Sub == "" {
		return ""
	}
	return claims.Iss + " " + claims.Sub
}

// SameOrigin returns why a request is refused for its Host or Origin; nil when it is
// not. Host must be a loopback name, an IP address or one of the allowed hosts, which
// keeps out names that were made to resolve to this address (DNS rebinding). Origin,
// when there is one, must have the same host and port, or an allowed host. Allowed
// hosts are names without a port, in any case.
func SameOrigin(r *http.Request, allowed []string) error { return origin.Check(r, allowed) }

// Caller says whose conversations a request to the control API may see: with no
// gateway keys those of everybody, for whoever reaches the gateway is its user;
// for an admin's key those of everybody, too; else those of the key's owner. The
// error is [precis.CodeInvalid] for a request without a key of this gateway.
func (g *Gateway) Caller(r *http.Request) (owner string, all bool, err error) {
	if len(g.o.Auth.Keys) == 0 {
		return AllOwners, true, nil
	}
	if name, ok := g.o.Auth.key(r); ok && (*g.admins.Load())[name] {
		return AllOwners, true, nil
	}
	owner, err = g.o.Auth.owner(r)
	return owner, false, err
}

// SetAdmins replaces the admins, by the names of their keys, from the next request
// on. The map is not to be changed afterwards.
func (g *Gateway) SetAdmins(admins map[string]bool) { g.admins.Store(&admins) }
