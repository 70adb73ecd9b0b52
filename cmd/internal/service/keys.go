package service

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"precis/gateway"
)

// keyring holds the keys that clients must send. They can be replaced while the
// gateway runs: the gateway itself knows each owner by a key that never leaves
// this process, and what a client sends is translated.
type keyring struct {
	mu     sync.RWMutex
	owners map[string]string // by the hash of a client's key
	admins map[string]bool   // owners that see everybody's conversations
	live   map[*attendance]bool
	inner  map[string]string // by owner, fixed when the gateway is made
}

// attendance is a request that goes on with the authority of a key. It ends when that
// authority changes: a stream of events would go on hearing, and a request that is held
// would still be sent.
type attendance struct {
	hash  string // of the key
	owner string
	admin bool // it may hear of everybody
	pages bool // it asks for pages, the API or metrics, which admins see more of
	end   context.CancelCauseFunc
}

// errRevoked is why the context of a request ends whose key does not hold any more.
var errRevoked = errors.New("the key of the request was taken back, or what it may see has changed")

// newKeyring returns a keyring of owners by the hashes of their keys.
func newKeyring(owners map[string]string, admins map[string]bool) *keyring {
	k := &keyring{owners: owners, admins: admins, inner: map[string]string{}, live: map[*attendance]bool{}}
	for _, owner := range owners {
		if k.inner[owner] == "" {
			k.inner[owner] = rand.Text()
		}
	}
	return k
}

// auth is what the gateway is made with.
func (k *keyring) auth() map[string]string {
	if len(k.inner) == 0 {
		return nil
	}
	out := map[string]string{}
	for owner, key := range k.inner {
		out[gateway.HashKey(key)] = owner
	}
	return out
}

// any reports whether keys are asked for.
func (k *keyring) any() bool { return len(k.inner) > 0 }

// attend returns a request with the key of its owner, by the hash of the client's, and with
// a context that ends when the key is taken back or, where pages is set, when its owner
// becomes an admin or ceases to be one. Leave is to be called when the request is done; ok is
// false for no key of this gateway. The hash is looked up, not the key: how long that takes
// reveals nothing about it.
func (k *keyring) attend(r *http.Request, hash string, pages bool) (out *http.Request, leave func(), ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	owner, ok := k.owners[hash]
	if !ok {
		return r, func() {}, false
	}
	ctx, end := context.WithCancelCause(r.Context())
	a := &attendance{hash: hash, owner: owner, admin: k.admins[owner], pages: pages, end: end}
	k.live[a] = true
	out = r.WithContext(ctx)
	out.Header.Set(HeaderKey, k.inner[owner])
	return out, func() {
		k.mu.Lock()
		delete(k.live, a)
		k.mu.Unlock()
		end(context.Canceled)
	}, true
}

// ownerOf returns whose a key is, by its hash.
func (k *keyring) ownerOf(hash string) (string, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	owner, ok := k.owners[hash]
	return owner, ok
}

// admits reports whether a request carries a key, translated already.
func (k *keyring) admits(r *http.Request) bool {
	key := r.Header.Get(HeaderKey)
	for _, inner := range k.inner {
		if key == inner {
			return true
		}
	}
	return false
}

// replace takes over other keys, and ends what goes on by an authority that is none any
// more. It returns the owners that are new, which the gateway does not know until it
// begins again.
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
	for a := range k.live {
		if kept[a.hash] != a.owner || a.pages && admins[a.owner] != a.admin {
			a.end(errRevoked)
		}
	}
	return slices.Compact(unknown)
}

// translateKey puts the gateway's own key of the owner in the place of the
// client's, see [keyring.attend]. A key that is none is taken away: the gateway then says
// so itself, in the way of the dialect.
func (s *Service) translateKey(r *http.Request) (out *http.Request, leave func()) {
	if !s.keys.any() {
		return r, func() {}
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && r.URL.Path == "/metrics" && r.Header.Get(HeaderKey) == "" {
		r.Header.Set(HeaderKey, token) // what collects metrics knows no other header
	}
	if key := r.Header.Get(HeaderKey); key != "" {
		if out, leave, ok := s.keys.attend(r, gateway.HashKey(key), ours(r.URL.Path)); ok {
			return out, leave
		}
	}
	r.Header.Del(HeaderKey)
	return r, func() {}
}

// ours reports whether a path is one of the gateway's own pages and operations.
func ours(path string) bool { return strings.HasPrefix(path, "/precis/") || path == "/metrics" }
