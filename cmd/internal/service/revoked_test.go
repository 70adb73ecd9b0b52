package service_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/gateway/accounts"
)

// withKeys opens a service whose keys file says who is an admin, and serves it.
func withKeys(t *testing.T, lines ...string) (s *setup, base string, rewrite func(...string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys")
	put := func(lines ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(lines...)
	s = open(t, "preset: frugal\ngateway: {upstream: UPSTREAM, store: memory, keys_file: "+file+"}\n")
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return s, server.URL, func(lines ...string) {
		t.Helper()
		put(lines...)
		if _, err := s.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func line(name string, more ...string) string {
	return strings.Join(append([]string{name, accounts.HashKey("key-" + name)}, more...), " ")
}

// stream opens a stream of events; its end closes the channel that is returned.
func stream(t *testing.T, client *http.Client, address, key string) <-chan struct{} {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	req, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Precis-Key", key)
	}
	res, err := client.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %v", address, err, res)
	}
	lines := bufio.NewReader(res.Body)
	if first, err := lines.ReadString('\n'); err != nil || !strings.Contains(first, "listening") {
		t.Fatalf("%q %v", first, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, lines)
	}()
	return ended
}

func ends(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Errorf("%s goes on", what)
	}
}

func goesOn(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		t.Errorf("%s has ended", what)
	default:
	}
}

// Who loses a key, or ceases to be an admin, hears nothing any more: not by the stream
// that is open, and not by the pages of a login. Others go on listening.
func TestARevokedKeyStopsHearing(t *testing.T) {
	_, base, rewrite := withKeys(t, line("op", "admin"), line("ann"), line("bob"))
	b := loggedIn(t, base, "key-op")
	events := base + "/precis/api/v1/events"
	op, pages := stream(t, http.DefaultClient, events, "key-op"), stream(t, b, base+"/precis/live", "")
	ann, bob := stream(t, http.DefaultClient, events, "key-ann"), stream(t, http.DefaultClient, events, "key-bob")
	rewrite(line("op"), line("ann"), line("bob"))
	ends(t, "the stream of who is no admin any more", op)
	ends(t, "the page of who is no admin any more", pages)
	goesOn(t, "the stream of another owner", ann)
	op, pages = stream(t, http.DefaultClient, events, "key-op"), stream(t, b, base+"/precis/live", "") // as an owner like the others
	rewrite(line("op"), line("bob"))
	ends(t, "the stream of a key that was taken back", ann)
	goesOn(t, "the stream of another owner", bob)
	goesOn(t, "the stream of an owner", op)
	rewrite(line("bob"))
	ends(t, "the stream of a key that was taken back", op)
	ends(t, "the page of a key that was taken back", pages)
	goesOn(t, "the stream of another owner", bob)
}

// loggedIn returns a browser that has logged in.
func loggedIn(t *testing.T, base, key string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &http.Client{Jar: jar}
	res, err := b.Get(base + "/precis/")
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(res.Body)
	res.Body.Close()
	_, rest, _ := strings.Cut(string(page), `name="token" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	res, err = b.PostForm(base+"/precis/login", url.Values{"token": {token}, "key": {key}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Fatalf("log in: %d", res.StatusCode)
	}
	return b
}

// A request that is held when its key is taken back fails, and is not sent.
func TestAHeldRequestOfARevokedKeyFails(t *testing.T) {
	s, base, rewrite := withKeys(t, line("ann"), line("bob"))
	send := func(method, path, body string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Api-Key", "k")
		req.Header.Set("X-Precis-Key", "key-ann")
		return http.DefaultClient.Do(req)
	}
	res, err := send("POST", "/v1/messages", hello(3))
	if err != nil {
		t.Fatal(err)
	}
	id := res.Header.Get("X-Precis-Conversation")
	if res.Body.Close(); id == "" {
		t.Fatalf("%d: no conversation", res.StatusCode)
	}
	if res, err = send("POST", "/precis/api/v1/conversations/"+id+"/hold", "{}"); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", err, res)
	}
	res.Body.Close()
	asked := len(s.upstream.Requests())
	answered := make(chan bool, 1)
	go func() {
		res, err := send("POST", "/v1/messages", hello(4))
		if err != nil {
			answered <- false
			return
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body) // a status of 200 may have been sent while it was held
		answered <- err == nil && strings.Contains(string(text), `"type":"message"`)
	}()
	waits := func() bool {
		res, err := send("GET", "/precis/api/v1/conversations/"+id+"/hold", "")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return strings.Contains(string(text), `"waiting":true`)
	}
	for deadline := time.Now().Add(20 * time.Second); !waits(); {
		if time.Now().After(deadline) {
			t.Fatal("the request is not held")
		}
	}
	rewrite(line("bob"))
	if <-answered {
		t.Error("it was answered")
	}
	if n := len(s.upstream.Requests()); n != asked {
		t.Errorf("%d requests were sent after it", n-asked)
	}
}
