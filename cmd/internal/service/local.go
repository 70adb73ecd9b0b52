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

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/internal/localsecret"
)

// Without keys, all users of this machine may read the gateway's data. Only callers who can read
// the files of its user may change it: programs of precis send the secret of [LocalSecret] as
// [HeaderLocal], and a browser gets a cookie at the address of [PagesURL].

const (
	localQuery  = "local" // query parameter with the secret
	localCookie = "precis_local"
	localAge    = 180 * 24 * time.Hour
)

// PagesURL returns the address of the pages of a gateway without keys that gives the browser its
// cookie.
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

// cookieOf returns the cookie for a secret. It only gives access to the pages.
func cookieOf(secret string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte("cookie of the pages"))
	return hex.EncodeToString(m.Sum(nil))
}

var errLocal = &precis.Error{Code: precis.CodeInvalid, Op: "check caller",
	Err: errors.New("without keys only programs of this account change something here: " +
		"send the content of the file " + localsecret.Name + " in the gateway's data folder as " +
		HeaderLocal +
		", or open the address in your browser that precis gateway pages prints")}

// mayChange reports whether a request may change the gateway's data: with keys every accepted
// request; else requests with the secret.
func (s *Service) mayChange(r *http.Request) bool {
	if s.keys.asks {
		return true
	}
	sent := r.Header.Get(HeaderLocal)
	if sent == "" {
		return false
	}
	secret, err := LocalSecret(s.config().Gateway)
	return err == nil && localsecret.Equal(sent, secret)
}

// guardChanges passes on requests to the control API that do not change data, or that may.
func (s *Service) guardChanges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if control.Mutates(r) && !s.mayChange(r) {
			refuse(w, http.StatusForbidden, errLocal)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admitted reports whether a visitor of the pages of a gateway without keys is authorized; if not,
// it has answered.
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
			Name: localCookie, Value: cookieOf(secret), Path: "/precis/", MaxAge: int(localAge.Seconds()),
			HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
		})
		q.Del(localQuery)
		to := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
		return false
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead || strings.HasSuffix(r.URL.Path, "/prefs") {
		// preferences are cookies of the browser
		return true
	}
	if s.mayEdit(r) {
		return true
	}
	refuse(w, http.StatusForbidden, errLocal)
	return false
}

// mayEdit reports whether a visitor of the pages may change what the gateway holds: by
// [Service.mayChange], or by the cookie.
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
