package service_test

import (
	"bufio"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/service"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
)

// browser is a browser without a script.
type browser struct {
	*testing.T
	base string
	http.Client
}

func browse(t *testing.T, s *setup) *browser {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t, server.URL, http.Client{Jar: jar}}
	if s.gateway.KeysFile == "" {
		at, err := service.PagesURL(s.gateway, strings.TrimPrefix(server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		b.page(200, strings.TrimPrefix(at, server.URL))
	}
	return b
}

func (b *browser) page(status int, path string) string {
	b.Helper()
	res, err := b.Get(b.base + path)
	return b.read(status, res, err)
}

func (b *browser) read(status int, res *http.Response, err error) string {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		b.Fatalf("%s: status %d, want %d: %v\n%.400s", res.Request.URL, res.StatusCode, status, err, body)
	}
	return string(body)
}

// send sends a form with the token of the pages.
func (b *browser) send(status int, path string, v url.Values) string {
	b.Helper()
	found := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(b.page(200, "/precis/"))
	if found == nil {
		b.Fatal("the page has no form")
	}
	v.Set("token", html.UnescapeString(found[1]))
	res, err := b.PostForm(b.base+path, v)
	return b.read(status, res, err)
}

func TestTheDashboardShowsAndEdits(t *testing.T) {
	s := open(t, plain)
	if got := s.ask("POST", "/v1/messages", hello(4)); got.Code != 200 {
		t.Fatal(got.Body)
	}
	b := browse(t, s)
	one := regexp.MustCompile(`/precis/c/[\w-]+`).FindString(b.page(200, "/precis/"))
	if one == "" {
		t.Fatal("no conversation is listed")
	}
	for path, want := range map[string]string{one: "and again", one + "/time": "What the model saw", one + "/compare": "frugal", "/precis/settings": "Apply", "/precis/costs": "paid for requests", "/precis/search?q=hello": "m1"} {
		if page := b.page(200, path); !strings.Contains(page, want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+"/precis/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	live, err := b.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Body.Close()
	lines := bufio.NewScanner(live.Body)
	lines.Scan() // it listens now
	if page := b.send(200, one+"/do/pin", url.Values{"handle": {"m1"}}); !strings.Contains(page, "Done: pin") {
		t.Error("the page does not say what was done")
	}
	for lines.Scan() && !strings.Contains(lines.Text(), one[len("/precis/c/"):]) {
	}
	if !strings.Contains(lines.Text(), "edits") {
		t.Errorf("the live event is %q", lines.Text())
	}
	if got := s.ask("POST", "/v1/messages", hello(6)); got.Code != 200 {
		t.Fatal(got.Body)
	}
	for lines.Scan() && !strings.Contains(lines.Text(), `"kind":"turn"`) {
	}
	if !strings.Contains(lines.Text(), one[len("/precis/c/"):]) {
		t.Errorf("after a turn, the live event is %q", lines.Text())
	}
	edits, err := conversation.Edits(t.Context(), s.Gateway.Home(gateway.AllOwners), one[len("/precis/c/"):])
	if err != nil || len(edits.Items) != 1 {
		t.Errorf("edits %+v, %v", edits, err)
	}
	b.send(200, "/precis/settings", url.Values{"percent": {"61"}})
	if v, err := s.Gateway.Profiles().Settings(""); err != nil || v.Percent != 61 {
		t.Errorf("the threshold is %g, %v", v.Percent, err)
	}
	if page := b.send(200, one+"/do/branch", url.Values{"messages": {"3"}}); !strings.Contains(page, "3 messages") {
		t.Error("a branch is not shown")
	}
}

func TestTheDashboardIsForThisMachineOrForKeys(t *testing.T) {
	s := open(t, plain)
	if got := s.ask("GET", "/precis/", "", "From", "10.0.0.9:1"); got.Code != 401 {
		t.Errorf("from elsewhere: %d", got.Code)
	}
	if got := s.ask("GET", "/precis/", "", "Host", "evil.example"); got.Code != 403 || !strings.Contains(got.Body.String(), "gateway.hosts") {
		t.Errorf("by another name: %d", got.Code)
	}
	keys := filepath.Join(t.TempDir(), "keys")
	lines := "anna " + accounts.HashKey("key-anna") + "\nben " + accounts.HashKey("key-ben") + "\n"
	if err := os.WriteFile(keys, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	keyed := open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: "+keys+"}\n")
	if got := keyed.ask("POST", "/v1/messages", hello(2), "X-Precis-Key", "key-anna"); got.Code != 200 {
		t.Fatal(got.Body)
	}
	anna, ben := browse(t, keyed), browse(t, keyed)
	if page := anna.page(200, "/precis/"); !strings.Contains(page, "Gateway key") {
		t.Fatal("nobody is asked for a key")
	}
	anna.send(403, "/precis/login", url.Values{"key": {"guess"}})
	page := anna.send(200, "/precis/login", url.Values{"key": {"key-anna"}, "back": {"/precis/"}})
	one := regexp.MustCompile(`/precis/c/[\w-]+`).FindString(page)
	if one == "" || !strings.Contains(anna.page(200, one), "and again") {
		t.Fatal("who has logged in does not see her conversation")
	}
	if page := ben.send(200, "/precis/login", url.Values{"key": {"key-ben"}, "back": {"/precis/"}}); strings.Contains(page, one) {
		t.Error("another owner sees it listed")
	}
	ben.page(404, one)
	anna.send(200, "/precis/logout", url.Values{})
	if page := anna.page(200, one); !strings.Contains(page, "Gateway key") {
		t.Error("the login outlives logging out")
	}
	// The cookie of the pages opens nothing else.
	anna.send(200, "/precis/login", url.Values{"key": {"key-anna"}})
	anna.page(401, "/precis/api/v1/conversations")
}
