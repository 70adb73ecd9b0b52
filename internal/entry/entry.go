// Package entry restricts local pages to holders of their secret, because every account of a
// machine can reach a loopback address. The secret is part of the printed address; opening it sets
// a cookie and redirects to the address without the secret. Start with [New].
package entry

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"

	"github.com/precis-dev/precis"
)

// Query is the parameter of an address with the secret.
const Query = "key"

// Header carries the secret in requests of programs.
const Header = "X-Precis-Key"

// Door accepts requests with a secret. It is safe for concurrent use.
type Door struct {
	secret string
	cookie string
	path   string
}

// New returns a door for the pages below path, which ends with a slash. Name distinguishes the
// cookie from the cookies of other servers on the same host, because browsers ignore ports. With an
// empty secret, no request is accepted.
func New(secret, path, name string) *Door {
	return &Door{secret: secret, cookie: "precis_entry_" + name, path: path}
}

// Address returns the address to open: the address of the pages with the secret.
func (d *Door) Address(base string) string {
	return base + d.path + "?" + url.Values{Query: {d.secret}}.Encode()
}

// errClosed is the error of a request without the secret.
var errClosed = &precis.Error{Code: precis.CodeInvalid, Op: "check caller",
	Err:  errors.New("these pages are for who started them"),
	Hint: "open the address that was printed, with its key"}

// Handler passes requests with the secret in a cookie or a header to next. A request with the
// secret in its address gets the cookie, which lasts until the browser is closed, and is redirected
// to the address without it. Other requests are answered by refuse.
func (d *Door) Handler(refuse func(http.ResponseWriter, *http.Request, error),
	next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case q.Has(Query) && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
			d.is(q.Get(Query)):
			h := w.Header()
			h.Set("Cache-Control", "no-store")
			h.Set("Referrer-Policy", "no-referrer")
			// Lax: the address may be opened from a page, such as a web terminal.
			http.SetCookie(w, &http.Cookie{Name: d.cookie, Value: d.secret, Path: d.path, HttpOnly: true,
				Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
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

// is compares a text with the secret in constant time.
func (d *Door) is(text string) bool {
	a, b := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(d.secret))
	return d.secret != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
