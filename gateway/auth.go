package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"precis"
)

// Auth says who may use a gateway, and to whom a conversation belongs.
type Auth struct {
	// Keys are the keys that clients must send as X-Precis-Key, each hashed by
	// [HashKey], with the name of their owner. None: everybody who can reach the
	// gateway may use it.
	Keys map[string]string
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

// Allows reports whether a request brings what [Auth.Keys] demands.
func (a Auth) Allows(r *http.Request) bool {
	_, ok := a.key(r)
	return ok
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

// owner says whose conversation a request is: that of its gateway key; else that
// of the account its credential names, which stays when tokens are renewed; else
// that of the credential itself.
func (a Auth) owner(r *http.Request) (string, error) {
	owner, ok := a.key(r)
	if !ok {
		return "", errKey
	}
	if owner != "" {
		return "key-" + owner, nil
	}
	return a.name(account(r.Header)), nil
}

func (a Auth) name(account string) string {
	if account == "" {
		return ""
	}
	m := hmac.New(sha256.New, a.Secret)
	m.Write([]byte(account))
	return "p" + hex.EncodeToString(m.Sum(nil)[:10])
}

// strip takes what is meant for the gateway alone out of a request.
func (a Auth) strip(h http.Header) { h.Del(headerKey) }

// account names the account behind a request's credential; "" when it has none.
func account(h http.Header) string {
	var said string
	for _, name := range []string{"Chatgpt-Account-Id", "Openai-Organization"} {
		if v := h.Get(name); v != "" {
			said += name + " " + v + " "
		}
	}
	token := strings.TrimSpace(strings.TrimPrefix(h.Get("Authorization"), "Bearer "))
	if token == "" {
		token = h.Get("X-Api-Key")
	}
	if token == "" {
		token = h.Get("Api-Key")
	}
	if subject := subjectOf(token); subject != "" {
		return said + "subject " + subject
	}
	if token == "" {
		return "" // an account is what a credential proves
	}
	return said + token
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
