package entry_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/entry"
)

func TestOnlyTheSecretLetsIn(t *testing.T) {
	served := 0
	d := entry.New("s3cret", "/precis/", "1")
	h := d.Handler(func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, err.Error(), http.StatusUnauthorized)
	},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if served++; strings.Contains(r.URL.RawQuery, "s3cret") {
				t.Error("the page sees the secret in its address")
			}
		}))
	ask := func(method, path string, change func(*http.Request)) *http.Response {
		r := httptest.NewRequest(method, path, nil)
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	cookie := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: name, Value: value}) }
	}
	for name, res := range map[string]*http.Response{
		"nothing":             ask("GET", "/precis/", nil),
		"another key":         ask("GET", "/precis/?key=s3cre", nil),
		"an empty key":        ask("GET", "/precis/?key=", nil),
		"another cookie":      ask("GET", "/precis/", cookie("precis_entry_1", "x")),
		"that of another one": ask("GET", "/precis/", cookie("precis_entry_2", "s3cret")),
		"an empty cookie":     ask("GET", "/precis/", cookie("precis_entry_1", "")),
		"a form with the key": ask("POST", "/precis/c/x/do/pin?key=s3cret", nil),
		"another header":      ask("GET", "/precis/", func(r *http.Request) { r.Header.Set("X-Precis-Key", "x") }),
	} {
		if res.StatusCode != http.StatusUnauthorized || len(res.Cookies()) > 0 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	if served != 0 {
		t.Fatalf("%d requests came through", served)
	}
	res := ask("GET", "/precis/c/a%2Fb?key=s3cret&from=3", nil)
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/precis/c/a%2Fb?from=3" || len(res.Cookies()) != 1 {
		t.Fatalf("%d %q %v", res.StatusCode, res.Header.Get("Location"), res.Cookies())
	}
	k := res.Cookies()[0]
	if !k.HttpOnly || k.Path != "/precis/" || k.SameSite != http.SameSiteLaxMode || k.MaxAge != 0 {
		t.Errorf("%+v", k)
	}
	for name, res := range map[string]*http.Response{
		"the cookie": ask("GET", "/precis/c/x", cookie(k.Name, k.Value)), "a form": ask("POST", "/precis/c/x/do/pin", cookie(k.Name, k.Value)),
		"a header": ask("GET", "/precis/", func(r *http.Request) { r.Header.Set("X-Precis-Key", "s3cret") }),
	} {
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	none := entry.New("", "/precis/", "1").Handler(func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(401) }, http.NotFoundHandler())
	w := httptest.NewRecorder()
	if none.ServeHTTP(w, httptest.NewRequest("GET", "/precis/?key=", nil)); w.Code != 401 {
		t.Error("without a secret everybody gets in")
	}
}
