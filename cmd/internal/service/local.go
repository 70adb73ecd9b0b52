package service

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"precis"
	"precis/cmd/internal/config"
	"precis/gateway/control"
	"precis/internal/localsecret"
)

// Without keys whoever is on this machine may look at what the gateway holds. Only who
// can read the files of its user may change it: programs of precis send the secret of
// [LocalSecret] as [HeaderLocal], and a browser has a cookie that it is given at the
// address of [PagesURL].

const (
	localQuery  = "local" // of an address of the pages: the secret
	localCookie = "precis_local"
	localAge    = 180 * 24 * time.Hour
)

// PagesURL returns the address of the pages of a gateway without keys at which a browser
// is given its cookie.
func PagesURL(g config.Gateway, listens string) (string, error) {
	secret, err := LocalSecret(g)
	if err != nil {
		return "", err
	}
	return pagesAt(g, listens) + "?" + url.Values{localQuery: {secret}}.Encode(), nil
}

func pagesAt(g config.Gateway, address string) string {
	scheme := "http"
	if g.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + address + "/precis/"
}

// cookieOf returns the cookie that stands for a secret. It opens the pages alone.
func cookieOf(secret string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("cookie of the pages"))
	return hex.EncodeToString(m.Sum(nil))
}

var errLocal = &precis.Error{Code: precis.CodeInvalid, Op: "check caller", Err: errors.New("without keys only programs of this account change something here: " +
	"send the content of the file " + localsecret.Name + " in the gateway's data folder as " + HeaderLocal + ", or open the address in your browser that precis gateway pages prints")}

// mayChange reports whether a request may change what the gateway holds: with keys
// everybody whose key is good; else who knows the secret.
func (s *Service) mayChange(r *http.Request) bool {
	if s.keys.any() {
		return true
	}
	sent := r.Header.Get(HeaderLocal)
	if sent == "" {
		return false
	}
	secret, err := LocalSecret(s.config().Gateway)
	return err == nil && localsecret.Equal(sent, secret)
}

// changing lets requests to the control API pass that change nothing, or may.
func (s *Service) changing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if control.Changes(r) && !s.mayChange(r) {
			refuse(w, http.StatusForbidden, errLocal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admitted reports whether a visitor of the pages of a gateway without keys may have
// what they ask for; else it has answered.
func (s *Service) admitted(w http.ResponseWriter, r *http.Request) bool {
	secret, err := LocalSecret(s.config().Gateway)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err)
		return false
	}
	q := r.URL.Query()
	if sent := q.Get(localQuery); sent != "" && r.Method == http.MethodGet {
		if !localsecret.Equal(sent, secret) {
			refuse(w, http.StatusForbidden, errLocal)
			return false
		}
		http.SetCookie(w, &http.Cookie{
			Name: localCookie, Value: cookieOf(secret), Path: "/precis/", MaxAge: int(localAge.Seconds()), HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
		})
		q.Del(localQuery)
		to := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		return false
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/prefs") { // preferences are cookies of the browser's own
		return true
	}
	if s.mayEdit(r) {
		return true
	}
	refuse(w, http.StatusForbidden, errLocal)
	return false
}

// mayEdit reports whether a visitor of the pages may change what the gateway holds: by [Service.mayChange], or
// by the cookie.
func (s *Service) mayEdit(r *http.Request) bool {
	if s.mayChange(r) {
		return true
	}
	k, err := r.Cookie(localCookie)
	if err != nil {
		return false
	}
	secret, err := LocalSecret(s.config().Gateway)
	return err == nil && localsecret.Equal(k.Value, cookieOf(secret))
}
