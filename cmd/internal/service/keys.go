package service

import (
	"crypto/rand"
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
	inner  map[string]string // by owner, fixed when the gateway is made
}

// newKeyring returns a keyring of owners by the hashes of their keys.
func newKeyring(owners map[string]string) *keyring {
	k := &keyring{owners: owners, inner: map[string]string{}}
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

func (k *keyring) owner(r *http.Request) (string, bool) {
	key := r.Header.Get(HeaderKey)
	if key == "" {
		return "", false
	}
	// The hash is looked up, not the key: how long that takes reveals nothing about it.
	return k.ownerOf(gateway.HashKey(key))
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

// replace takes over other keys. It returns the owners that are new, which the
// gateway does not know until it begins again.
func (k *keyring) replace(owners map[string]string) (unknown []string) {
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
	k.owners = kept
	return slices.Compact(unknown)
}

// translateKey puts the gateway's own key of the owner in the place of the
// client's. A key that is none is taken away: the gateway then says so itself, in
// the way of the dialect.
func (s *Service) translateKey(r *http.Request) {
	if !s.keys.any() {
		return
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if bearer && r.URL.Path == "/metrics" && r.Header.Get(HeaderKey) == "" {
		r.Header.Set(HeaderKey, token) // what collects metrics knows no other header
	}
	owner, ok := s.keys.owner(r)
	if !ok {
		r.Header.Del(HeaderKey)
		return
	}
	r.Header.Set(HeaderKey, s.keys.inner[owner])
}
