package service

import (
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/internal/fair"
)

const (
	loginCookie = "precis_login"
	loginAge    = 12 * time.Hour
	mostLogins  = 1000
)

// logins are the sessions of browsers on the gateway's pages. They end with the process, and with
// the key that was used. The zero value is ready to use.
type logins struct {
	mu  sync.Mutex
	all []login // the oldest first
}

// login is one session.
type login struct {
	cookie string // its hash
	owner  string
	key    string // hash of the gateway key
	ends   time.Time
}

// begin returns the cookie of a new login. If there are too many, it ends one of the owner with the
// most.
func (l *logins) begin(owner, key string, now time.Time) string {
	cookie := rand.Text() + rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, func(one login) bool { return now.After(one.ends) })
	l.all = append(l.all, login{accounts.HashKey(cookie), owner, key, now.Add(loginAge)})
	if len(l.all) > mostLogins {
		i := fair.Oldest(l.all, func(one login) string { return one.owner })
		l.all = slices.Delete(l.all, i, i+1)
	}
	return cookie
}

// end forgets the login of a request.
func (l *logins) end(r *http.Request) {
	if k, err := r.Cookie(loginCookie); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		cookie := accounts.HashKey(k.Value)
		l.all = slices.DeleteFunc(l.all, func(one login) bool { return one.cookie == cookie })
	}
}

// key returns the hash of the key used for the login of a request; the key may have been revoked
// since.
func (l *logins) key(r *http.Request) (string, bool) {
	k, err := r.Cookie(loginCookie)
	if err != nil {
		return "", false
	}
	cookie := accounts.HashKey(k.Value)
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.all, func(one login) bool { return one.cookie == cookie })
	if i < 0 || time.Now().After(l.all[i].ends) {
		return "", false
	}
	return l.all[i].key, true
}

// login checks a gateway key and sets the cookie of a login.
func (s *Service) login(w http.ResponseWriter, r *http.Request, key string) error {
	hash := accounts.HashKey(key)
	owner, ok := s.keys.ownerOf(hash)
	if !ok {
		return precis.Errorf(precis.CodeInvalid, "log in", "that is no key of this gateway")
	}
	setLogin(w, r, s.logins.begin(owner, hash, time.Now()), loginAge)
	return nil
}

// logout ends the login of a request.
func (s *Service) logout(w http.ResponseWriter, r *http.Request) {
	s.logins.end(r)
	setLogin(w, r, "", -time.Second)
}

func setLogin(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie, Value: value, Path: "/precis/", MaxAge: int(age.Seconds()), HttpOnly: true,
		Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}
