package service

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/gateway"
)

const (
	loginCookie = "precis_login"
	loginAge    = 12 * time.Hour
	mostLogins  = 1000
)

// logins are who has logged in to the pages of the gateway. They end with the process,
// and with the key that was used. The zero value is ready to use.
type logins struct {
	mu  sync.Mutex
	all map[string]login // by the hash of the cookie
}

// login is one of them.
type login struct {
	key  string // hash of the gateway key
	ends time.Time
}

// begin returns the cookie of a new login.
func (l *logins) begin(key string, now time.Time) string {
	cookie := rand.Text() + rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, one := range l.all {
		if now.After(one.ends) || len(l.all) >= mostLogins {
			delete(l.all, name)
		}
	}
	if l.all == nil {
		l.all = map[string]login{}
	}
	l.all[gateway.HashKey(cookie)] = login{key, now.Add(loginAge)}
	return cookie
}

// end forgets the login of a request.
func (l *logins) end(r *http.Request) {
	if k, err := r.Cookie(loginCookie); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, gateway.HashKey(k.Value))
	}
}

// key returns the hash of the key that the login of a request was made with; it may have
// been taken back since.
func (l *logins) key(r *http.Request) (string, bool) {
	k, err := r.Cookie(loginCookie)
	if err != nil {
		return "", false
	}
	l.mu.Lock()
	one, ok := l.all[gateway.HashKey(k.Value)]
	l.mu.Unlock()
	if !ok || time.Now().After(one.ends) {
		return "", false
	}
	return one.key, true
}

// login checks a gateway key and sets the cookie of a login.
func (s *Service) login(w http.ResponseWriter, r *http.Request, key string) error {
	hash := gateway.HashKey(key)
	if _, ok := s.keys.ownerOf(hash); !ok {
		return precis.Errorf(precis.CodeInvalid, "log in", "that is no key of this gateway")
	}
	setLogin(w, r, s.logins.begin(hash, time.Now()), loginAge)
	return nil
}

// logout ends the login of a request.
func (s *Service) logout(w http.ResponseWriter, r *http.Request) {
	s.logins.end(r)
	setLogin(w, r, "", -time.Second)
}

func setLogin(w http.ResponseWriter, r *http.Request, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: loginCookie, Value: value, Path: "/precis/", MaxAge: int(age.Seconds()), HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}
