package accounts

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/precis-dev/precis"
)

// Auth determines who may use a gateway and who owns a conversation.
type Auth struct {
	// Keys are the keys that clients must send as X-Precis-Key, each hashed by
	// [HashKey], with the name of their owner. None: everybody who can reach the
	// gateway may use it.
	Keys map[string]string
	// Holder returns the name of the holder of a request's key, and whether there is one; it
	// replaces Keys where they change while the gateway runs. Nil: Keys are looked up.
	Holder func(*http.Request) (name string, ok bool)
	// Admins are the names of owners who may see everybody's conversations through
	// the control API, and change what concerns all. See gateway.Gateway.SetAdmins.
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

var (
	errKey = &precis.Error{
		Code: precis.CodeInvalid, Op: "check gateway key",
		Err: errors.New("this gateway asks for a key of its own beside that of the API: send it in the header " +
			headerKey),
	}
	errUnknownKey = &precis.Error{
		Code: precis.CodeInvalid, Op: "check gateway key",
		Err: errors.New("the key in the header " + headerKey + " is none of this gateway, or was taken back"),
	}
)

// Asks reports whether requests need a key of the gateway.
func (a Auth) Asks() bool { return a.Holder != nil || len(a.Keys) > 0 }

// Name returns the name of the owner of the request's gateway key.
func (a Auth) Name(r *http.Request) (owner string, ok bool) {
	switch {
	case a.Holder != nil:
		return a.Holder(r)
	case len(a.Keys) == 0:
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

// Owner returns the owner of a request by its gateway key; "" when no keys are required.
func (a Auth) Owner(r *http.Request) (string, error) {
	owner, ok := a.Name(r)
	switch {
	case !ok && r.Header.Get(headerKey) != "":
		return "", errUnknownKey
	case !ok:
		return "", errKey
	}
	return OwnerNamed(owner), nil
}

// OwnerNamed returns the owner of the conversations of a key's holder; "" for "".
func OwnerNamed(name string) string {
	if name == "" {
		return ""
	}
	return "key-" + name
}

// MAC returns a hash of a text, keyed with the secret.
func (a Auth) MAC(text string) []byte {
	m := hmac.New(sha256.New, a.Secret)
	m.Write([]byte(text))
	return m.Sum(nil)
}

// IDKey returns the key of the IDs of conversations; nil without a secret.
func (a Auth) IDKey() []byte {
	if len(a.Secret) == 0 {
		return nil
	}
	return a.MAC("precis: key of conversation IDs")
}

// Strip removes headers that are meant only for the gateway.
func (a Auth) Strip(h http.Header) { h.Del(headerKey) }
