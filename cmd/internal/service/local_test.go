package service_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/internal/localsecret"
)

// writes are requests to the control API that change what a gateway holds.
func writes(id string) [][3]string {
	one := "/precis/api/v1/conversations/" + id
	return [][3]string{
		{"POST", one + "/pin", `{"handles":["m0"]}`}, {"POST", one + "/exclude", `{"handles":["m0"]}`}, {"POST", one + "/condense", `{}`},
		{"POST", one + "/undo", `{}`}, {"POST", one + "/rewind", `{"messages":1}`}, {"POST", one + "/branch", `{"messages":1}`}, {"POST", one + "/hold", `{}`}, {"POST", one + "/let-go", `{}`},
		{"POST", one + "/reword", `{"edit":"e","text":"t"}`}, {"POST", one + "/restore", `{"handle":"m0"}`}, {"POST", one + "/apply", `{"draft":"d"}`},
		{"PATCH", "/precis/api/v1/settings", `{"percent":5}`}, {"POST", "/precis/api/v1/windows/forget", `{}`}, {"POST", "/precis/api/v1/purge", `{"all":true}`},
	}
}

// Without keys who is on this machine may look, and only who can read the files of the
// gateway's user may change something.
func TestOnlyThisAccountChangesSomething(t *testing.T) {
	s := open(t, plain)
	res := s.ask("POST", "/v1/messages", hello(4))
	id := res.Header().Get("X-Precis-Conversation")
	for name, secret := range map[string]string{"no secret": "", "a wrong one": strings.Repeat("A", 26), "one more letter": s.secret + "A", "one less": s.secret[1:]} {
		for _, q := range writes(id) {
			if got := s.ask(q[0], q[1], q[2], service.HeaderLocal, secret); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), localsecret.Name) {
				t.Errorf("%s: %s %s: %d %s", name, q[0], q[1], got.Code, got.Body)
			}
		}
	}
	if got := s.ask("GET", "/precis/api/v1/conversations/"+id+"/edits", "", service.HeaderLocal, ""); got.Code != 200 || strings.Contains(got.Body.String(), "pin") {
		t.Errorf("looking: %d %s", got.Code, got.Body)
	}
	if got := s.ask("POST", "/precis/api/v1/conversations/"+id+"/preview", `{}`, service.HeaderLocal, ""); got.Code == http.StatusForbidden {
		t.Errorf("a preview, which changes nothing: %d", got.Code)
	}
	if got := s.ask("POST", "/precis/api/v1/gate", `{"summary":"s","messages":[{"role":"user","content":"x"}]}`, service.HeaderLocal, ""); got.Code == http.StatusForbidden {
		t.Errorf("a gate, which changes nothing: %d", got.Code)
	}
	for _, q := range writes(id) {
		if got := s.ask(q[0], q[1], q[2]); got.Code == http.StatusForbidden {
			t.Errorf("with the secret: %s %s: %d %s", q[0], q[1], got.Code, got.Body)
		}
	}
	secret, err := localsecret.Load(filepath.Join(os.Getenv("XDG_DATA_HOME"), "precis"))
	if err != nil || secret != s.secret {
		t.Errorf("the secret of a store in memory is not in the user's data folder: %v", err)
	}
	if strings.Contains(s.log.String(), s.secret) {
		t.Error("the secret is logged")
	}
}

// A browser that opened the address with the secret may use the forms of the pages;
// another one may look.
func TestABrowserIsGivenItsCookieOnce(t *testing.T) {
	s := open(t, plain)
	s.ask("POST", "/v1/messages", hello(4))
	known := browse(t, s)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger := &browser{t, server.URL, http.Client{Jar: jar}}
	for _, path := range []string{"/precis/", "/precis/settings"} {
		if page := stranger.page(200, path); !strings.Contains(page, "Read-only: open the address") || strings.Contains(page, `class="act main"`) {
			t.Errorf("%s offers a stranger what is refused: %.500s", path, page)
		}
		if page := known.page(200, path); strings.Contains(page, "Read-only") {
			t.Errorf("%s is read-only for its user", path)
		}
	}
	stranger.send(403, "/precis/settings", url.Values{"percent": {"61"}})
	stranger.page(403, "/precis/?local="+strings.Repeat("A", 26))
	stranger.send(403, "/precis/settings", url.Values{"percent": {"61"}})
	stranger.send(200, "/precis/prefs", url.Values{"back": {"/precis/"}})
	if v, _ := s.Gateway.Profiles().Settings(""); v.Percent == 61 {
		t.Error("a stranger changed the settings")
	}
	known.send(200, "/precis/settings", url.Values{"percent": {"62"}})
	if v, _ := s.Gateway.Profiles().Settings(""); v.Percent != 62 {
		t.Errorf("the threshold is %g", v.Percent)
	}
	at, err := url.Parse(known.base + "/precis/")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range known.Jar.Cookies(at) {
		if k.Value == s.secret {
			t.Error("the cookie is the secret itself")
		}
		if got := s.ask("PATCH", "/precis/api/v1/settings", `{"percent":5}`, service.HeaderLocal, k.Value); got.Code != 403 {
			t.Errorf("the cookie opens the API: %d", got.Code)
		}
	}
	res := s.ask("GET", "/precis/search?q=x&local="+s.secret, "")
	if res.Code != 303 || res.Header().Get("Location") != "/precis/search?q=x" || !strings.Contains(res.Header().Get("Set-Cookie"), "HttpOnly; SameSite=Strict") {
		t.Errorf("%d %v", res.Code, res.Header())
	}
}
