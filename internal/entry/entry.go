// Package entry lets into local pages who has their secret: on a machine of several
// accounts every one of them reaches a loopback address. The secret stands in the address
// that is printed, becomes a cookie when that is opened, and is gone from the address then.
// Start with [New].
package entry

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	"precis"
)

// Query is the parameter of an address that holds the secret.
const Query = "key"

// Header holds the secret in requests of programs.
const Header = "X-Precis-Key"

// Door lets in requests with a secret. It is safe for concurrent use.
type Door struct {
	secret string
	cookie string
	path   string
}

// New returns a door for the pages below path, which ends with a slash. Name distinguishes
// the cookie from those of other servers on the same host, which a browser keeps together
// whatever their ports. An empty secret lets nobody in.
func New(secret, path, name string) *Door {
	return &Door{secret: secret, cookie: "precis_entry_" + name, path: path}
}

// Address returns the address to open: that of the pages with the secret.
func (d *Door) Address(base string) string {
	return base + d.path + "?" + url.Values{Query: {d.secret}}.Encode()
}

// errClosed is the error of a request without the secret.
var errClosed = &precis.Error{Code: precis.CodeInvalid, Op: "check caller", Err: errors.New("these pages are for who started them"),
	Hint: "open the address that was printed, with its key"}

// Handler hands requests to next that carry the secret in a cookie or a header. One that
// carries it in its address gets the cookie, which lasts until the browser is closed, and is
// led to the address without it. The others are answered by refuse.
func (d *Door) Handler(refuse func(http.ResponseWriter, *http.Request, error), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case q.Has(Query) && (r.Method == http.MethodGet || r.Method == http.MethodHead) && d.is(q.Get(Query)):
			h := w.Header()
			h.Set("Cache-Control", "no-store")
			h.Set("Referrer-Policy", "no-referrer")
			// Lax: the address may be opened from a page, such as that of a terminal.
			http.SetCookie(w, &http.Cookie{Name: d.cookie, Value: d.secret, Path: d.path, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
			q.Del(Query)
			clean := url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
			http.Redirect(w, r, clean.RequestURI(), http.StatusSeeOther)
		case d.admits(r):
			next.ServeHTTP(w, r)
		default:
			refuse(w, r, errClosed)
		}
	})
}

// admits reports whether a request carries the secret.
func (d *Door) admits(r *http.Request) bool {
	if d.is(r.Header.Get(Header)) {
		return true
	}
	for _, k := range r.CookiesNamed(d.cookie) {
		if d.is(k.Value) {
			return true
		}
	}
	return false
}

// is compares a text with the secret, in the same time whatever they have in common.
func (d *Door) is(text string) bool {
	a, b := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(d.secret))
	return d.secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
