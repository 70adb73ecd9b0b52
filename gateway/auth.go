package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"

	"precis"
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
