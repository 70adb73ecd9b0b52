package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/gateway/accounts"
)

// keyring holds the keys that clients must send. They can be replaced while the gateway runs: the
// gateway itself identifies each owner by a key that never leaves this process, and a client's key
// is translated to it.
type keyring struct {
	mu         sync.RWMutex
	owners     map[string]string // by the hash of a client's key
	admins     map[string]bool   // owners that may see all conversations
	inProgress map[*authorizedRequest]bool
	inner      map[string]string // by owner, fixed when the gateway is made
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

// newKeyring returns a keyring of owners by the hashes of their keys.
func newKeyring(owners map[string]string, admins map[string]bool) *keyring {
	k := &keyring{owners: owners, admins: admins, inner: map[string]string{},
		inProgress: map[*authorizedRequest]bool{}}
	for _, owner := range owners {
		if k.inner[owner] == "" {
			k.inner[owner] = rand.Text()
		}
	}
	return k
}

// auth returns the keys for the gateway's options.
func (k *keyring) auth() map[string]string {
	if len(k.inner) == 0 {
		return nil
	}
	out := map[string]string{}
	for owner, key := range k.inner {
		out[accounts.HashKey(key)] = owner
	}
	return out
}

// any reports whether keys are required.
func (k *keyring) any() bool { return len(k.inner) > 0 }

// withInnerKey returns a request with the inner key of its owner, looked up by the hash of the client's
// key. The context of the request ends when the key is revoked or, with pages, when its owner
// becomes or stops being an admin. Call leave when the request is done; ok is false for an unknown
// key. Looking up the hash, not the key, makes the lookup time independent of the key.
func (k *keyring) withInnerKey(r *http.Request, hash string,
	pages bool) (out *http.Request, leave func(), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	owner, ok := k.owners[hash]
	if !ok {
		return r, func() {}, false
	}
	ctx, end := context.WithCancelCause(r.Context())
	a := &authorizedRequest{hash: hash, owner: owner, admin: k.admins[owner], pages: pages, end: end}
	k.inProgress[a] = true
	out = r.WithContext(ctx)
	out.Header.Set(HeaderKey, k.inner[owner])
	return out, func() {
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

// holder returns the owner of the translated key that a request carries; "": it carries none.
func (k *keyring) holder(r *http.Request) string {
	key := r.Header.Get(HeaderKey)
	for owner, inner := range k.inner {
		if key == inner {
			return owner
		}
	}
	return ""
}

// replace replaces the keys, and ends requests under an authority that no longer exists. It returns
// the new owners, which the gateway does not know until it is restarted.
func (k *keyring) replace(owners map[string]string, admins map[string]bool) (unknown []string) {
	kept := map[string]string{}
	for hash, owner := range owners {
		if k.inner[owner] == "" {
			unknown = append(unknown, owner)
			continue
		}
		kept[hash] = owner
	}
	slices.Sort(unknown)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owners, k.admins = kept, admins
	for a := range k.inProgress {
		if kept[a.hash] != a.owner || a.pages && admins[a.owner] != a.admin {
			a.end(errRevoked)
		}
	}
	return slices.Compact(unknown)
}

// translateKey replaces the client's key by the gateway's own key of the owner, see
// [keyring.withInnerKey]. An unknown key is removed: the gateway then answers with an error in the
// dialect.
func (s *Service) translateKey(r *http.Request) (out *http.Request, leave func()) {
	if !s.keys.any() {
		return r, func() {}
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && r.URL.Path == "/metrics" && r.Header.Get(HeaderKey) == "" {
		r.Header.Set(HeaderKey, token) // metrics collectors support no other header
	}
	if key := r.Header.Get(HeaderKey); key != "" {
		if out, leave, ok := s.keys.withInnerKey(r, accounts.HashKey(key), ours(r.URL.Path)); ok {
			return out, leave
		}
	}
	r.Header.Del(HeaderKey)
	return r, func() {}
}

// ours reports whether a path belongs to the gateway's own pages and API.
func ours(path string) bool { return strings.HasPrefix(path, "/precis/") || path == "/metrics" }
