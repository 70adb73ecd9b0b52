package service

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// However often one owner logs in, the logins of others stay.
func TestLoginsOfOthersStay(t *testing.T) {
	var l logins
	now := time.Now()
	with := func(cookie string) *http.Request {
		r := httptest.NewRequest("GET", "/precis/", nil)
		r.AddCookie(&http.Cookie{Name: loginCookie, Value: cookie})
		return r
	}
	hers := l.begin("alice", "key of alice", now)
	first := l.begin("bob", "key of bob", now)
	var last string
	for i := range 2 * mostLogins {
		last = l.begin("bob", fmt.Sprint("key ", i%2, " of bob"), now)
	}
	if key, ok := l.key(with(hers)); !ok || key != "key of alice" {
		t.Errorf("alice's login: %q %v", key, ok)
	}
	if _, ok := l.key(with(first)); ok {
		t.Error("bob's first login holds")
	}
	if _, ok := l.key(with(last)); !ok || len(l.all) != mostLogins {
		t.Errorf("bob's last login: %v, of %d", ok, len(l.all))
	}
	l.end(with(hers))
	if _, ok := l.key(with(hers)); ok {
		t.Error("a login that has ended holds")
	}
	l.begin("bob", "k", now.Add(2*loginAge))
	if len(l.all) != 1 {
		t.Errorf("%d logins that are too old are kept", len(l.all)-1)
	}
}
