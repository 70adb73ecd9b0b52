package service

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
)

// keyring holds the keys that clients must send. They can be replaced while the gateway runs.
type keyring struct {
	asks       bool // keys are required; fixed when the gateway is made
	mu         sync.RWMutex
	owners     map[string]string // by the hash of a client's key
	admins     map[string]bool   // owners that may see all conversations
	inProgress map[*authorizedRequest]bool
}

// authorizedRequest is a request in progress under the authority of a key. It ends when that authority
// changes; otherwise an event stream would continue, and a held request would still be sent.
type authorizedRequest struct {
	hash  string // of the key
	owner string
	admin bool // it may see all owners' data
	pages bool // it uses pages, the API or metrics, where admins see more
	end   context.CancelCauseFunc
}

// errRevoked is the cause for canceling a request with a revoked key.
var errRevoked = errors.New("the key of the request was taken back, or what it may see has changed")

// newKeyring returns a keyring of owners by the hashes of their keys. Without owners no keys are required.
func newKeyring(owners map[string]string, admins map[string]bool) *keyring {
	return &keyring{asks: len(owners) > 0, owners: owners, admins: admins, inProgress: map[*authorizedRequest]bool{}}
}

// auth returns what the gateway asks about its callers.
func (k *keyring) auth(admins map[string]bool) gateway.Auth {
	a := gateway.Auth{Admins: admins}
	if k.asks {
		a.Holder = func(r *http.Request) (string, bool) {
			name := holder(r)
			return name, name != ""
		}
	}
	return a
}

// identified returns a request that [holder] knows the owner of, looked up by the hash of the client's
// key. The context of the request ends when the key is revoked or, with pages, when its owner
// becomes or stops being an admin. Call leave when the request is done; ok is false for an unknown
// key. Looking up the hash, not the key, makes the lookup time independent of the key.
func (k *keyring) identified(r *http.Request, hash string,
	pages bool) (out *http.Request, leave func(), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	owner, ok := k.owners[hash]
	if !ok {
		return r, func() {}, false
	}
	ctx, end := context.WithCancelCause(context.WithValue(r.Context(), holderKey{}, owner))
	a := &authorizedRequest{hash: hash, owner: owner, admin: k.admins[owner], pages: pages, end: end}
	k.inProgress[a] = true
	return r.WithContext(ctx), func() {
		k.mu.Lock()
		delete(k.inProgress, a)
		k.mu.Unlock()
		end(context.Canceled)
	}, true
}

// ownerOf returns the owner of a key, by its hash.
func (k *keyring) ownerOf(hash string) (string, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	owner, ok := k.owners[hash]
	return owner, ok
}

// holderKey is the key of the holder's name in the context of a request.
type holderKey struct{}

// holder returns the owner of the key that a request was identified by; "": by none.
func holder(r *http.Request) string {
	name, _ := r.Context().Value(holderKey{}).(string)
	return name
}

// replace replaces the keys, and ends requests under an authority that no longer exists.
func (k *keyring) replace(owners map[string]string, admins map[string]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owners, k.admins = owners, admins
	for a := range k.inProgress {
		if owners[a.hash] != a.owner || a.pages && admins[a.owner] != a.admin {
			a.end(errRevoked)
		}
	}
}

// identify finds the owner of the client's key, see [keyring.identified]. To a request with an unknown
// key the gateway answers with an error in the dialect.
func (s *Service) identify(r *http.Request) (out *http.Request, leave func()) {
	if !s.keys.asks {
		return r, func() {}
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && r.URL.Path == "/metrics" && r.Header.Get(HeaderKey) == "" {
		r.Header.Set(HeaderKey, token) // metrics collectors support no other header
	}
	out, leave, _ = s.keys.identified(r, accounts.HashKey(r.Header.Get(HeaderKey)), ours(r.URL.Path))
	return out, leave
}

// ours reports whether a path belongs to the gateway's own pages and API.
func ours(path string) bool { return strings.HasPrefix(path, "/precis/") || path == "/metrics" }
