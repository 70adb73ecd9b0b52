package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/internal/origin"
)

// Auth determines who may use a gateway and who owns a conversation.
type Auth struct {
	// Keys are the keys that clients must send as X-Precis-Key, each hashed by
	// [HashKey], with the name of their owner. None: everybody who can reach the
	// gateway may use it.
	Keys map[string]string
	// Admins are the names of owners who may see everybody's conversations through
	// the control API, and change what concerns all. See [Gateway.SetAdmins].
	Admins map[string]bool
	// Secret keys the hashes that name owners and conversations. Replicas must share it, and it
	// must not be kept in the store. Empty: the hashes are unkeyed, so that guessed inputs can be
	// tested.
	Secret []byte
}

// HashKey returns the form of a gateway key in [Auth].
func HashKey(key string) string {
	sum := sha256.Sum256([]byte("precis gateway key " + key))
	return hex.EncodeToString(sum[:])
}

const headerKey = "X-Precis-Key"

var errKey = &precis.Error{
	Code: precis.CodeInvalid, Op: "check gateway key",
	Err: errors.New("this gateway asks for a key of its own beside that of the API: send it in the header " +
		headerKey),
}

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

// owner returns the owner of a request by its gateway key; "" when no keys are required.
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

// mac returns a hash of a text, keyed with the secret.
func (a Auth) mac(text string) []byte {
	m := hmac.New(sha256.New, a.Secret)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// idKey returns the key of the IDs of conversations; nil without a secret.
func (a Auth) idKey() []byte {
	if len(a.Secret) == 0 {
		return nil
	}
	return a.mac("precis: key of conversation IDs")
}

// strip removes headers that are meant only for the gateway.
func (a Auth) strip(h http.Header) { h.Del(headerKey) }

// SameOrigin returns why a request is refused for its Host or Origin; nil when it is accepted. Host
// must be a loopback name, an IP address or an allowed host; this blocks names made to resolve to
// this address (DNS rebinding). Origin, if present, must have the same host and port, or an allowed
// host. Allowed hosts are names without a port, in any case.
func SameOrigin(r *http.Request, allowed []string) error { return origin.Check(r, allowed) }

// Caller returns the owner of the conversations that a request to the control API may see. Without
// gateway keys, and for an admin's key, these are all conversations (all is true); otherwise they
// are the conversations of the key's owner. The error is [precis.CodeInvalid] for a request without
// a key of this gateway.
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

// accountOf describes an upstream for its accounts; nil for nil.
func accountOf(u *Upstream) *accounts.Upstream {
	if u == nil {
		return nil
	}
	return &accounts.Upstream{Name: u.Name, URL: u.URL, At: func(path string) string {
		return u.At(path).String()
	}}
}

// accountUpstreams describes the configured upstreams for their accounts.
func (o Options) accountUpstreams() []accounts.Upstream {
	out := make([]accounts.Upstream, len(o.Upstreams))
	for i := range o.Upstreams {
		out[i] = *accountOf(&o.Upstreams[i])
	}
	return out
}
