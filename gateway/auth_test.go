package gateway_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"precis/gateway"
	"precis/provider/providertest"
	"precis/store/memory"
)

// doorkeeper is an upstream that checks tokens: those that end with ".real" are its
// own.
func doorkeeper() http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		key := r.Header.Get("X-Api-Key")
		if key == "" {
			key = r.Header.Get("Authorization")
		}
		if !strings.HasSuffix(key, ".real") {
			return &http.Response{StatusCode: 401, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody, Request: r}, nil
		}
		return http.DefaultTransport.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A token names an account only after its upstream has accepted that very token;
// a gateway that begins anew still knows which it has.
func TestAnAccountIsNotWhatATokenSays(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	st := memory.New()
	options := func(o *gateway.Options) {
		window(8000)(o)
		o.Store, o.Transport = st, doorkeeper()
	}
	base, g := start(t, s.URL, options)
	a := newAgent("anthropic", "Read the files.")
	a.read(0, words(30, 0))
	ask := func(base, authorization string) (id, match string, status int) {
		res, _ := post(t, base+a.path(), a.body(false), "Authorization", "Bearer "+authorization)
		return res.Header.Get("X-Precis-Conversation"), res.Header.Get("X-Precis-Match"), res.StatusCode
	}
	token := func(n int, signature string) string {
		return strings.TrimSuffix(jwt("alice", n), "sig") + signature
	}
	ask(base, token(1, "real")) // is accepted
	own, match, _ := ask(base, token(1, "real"))
	if match != "new" {
		t.Fatalf("alice's request with a known token is %s", match)
	}
	if id, match, _ := ask(base, token(1, "real")); id != own || match != "repeated" {
		t.Fatalf("her next request is %s, %s", id, match)
	}
	for range 2 {
		if id, match, status := ask(base, token(1, "forged")); id == own || status != 401 || match == "repeated" && id == own {
			t.Errorf("a forged token: %s %s, %d", id, match, status)
		}
	}
	ask(base, token(2, "real"))
	if id, match, _ := ask(base, token(2, "real")); id != own || match != "repeated" {
		t.Errorf("a renewed token: %s, %s, want her conversation", id, match)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, _ := start(t, s.URL, options)
	if id, match, _ := ask(again, token(2, "real")); id != own {
		t.Errorf("another process: %s, %s", id, match)
	}
	if id, _, _ := ask(again, token(3, "forged")); id == own {
		t.Error("another process believes a forged token")
	}
}

// What the upstream does not see decides nothing.
func TestCredentialsThatAreTakenAwayAreRefused(t *testing.T) {
	var asked atomic.Int32
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			return http.DefaultTransport.RoundTrip(r)
		})
	})
	a := newAgent("anthropic", "Read the files.")
	for _, name := range []string{"authorization", "X-API-Key", "close, api-key ", "x-goog-api-key", "chatgpt-account-id"} {
		res, body := post(t, base+a.path(), a.body(false), "X-Api-Key", "sk-mine", "Authorization", "Bearer "+jwt("alice", 1), "Connection", name)
		if res.StatusCode != 401 || !strings.Contains(body, "Connection") {
			t.Errorf("Connection: %s: %d %s", name, res.StatusCode, body)
		}
	}
	if asked.Load() > 0 {
		t.Errorf("the upstream was asked %d times", asked.Load())
	}
}

// Each header that can hold a key, and the query, says whose a request is.
func TestEveryCredentialNamesItsOwner(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	seen := map[string]string{}
	for _, c := range [][]string{
		{"", ""}, {"X-Api-Key", "one"}, {"X-Api-Key", "two"}, {"Api-Key", "three"}, {"X-Goog-Api-Key", "four"}, {"Authorization", "Bearer five"}, {"?key=six", ""},
		{"X-Api-Key", "one", "Authorization", "Bearer " + jwt("alice", 1)}, {"X-Api-Key", "one", "Openai-Organization", "o"},
	} {
		url := base + a.path()
		headers := c
		if strings.HasPrefix(c[0], "?") || c[0] == "" {
			url, headers = url+c[0], nil
		}
		res, _ := post(t, url, a.body(false), headers...)
		id := res.Header.Get("X-Precis-Conversation")
		if was, ok := seen[id]; ok {
			t.Errorf("%v shares the conversation of %s", c, was)
		}
		seen[id] = strings.Join(c, " ")
	}
	if res, _ := post(t, base+a.path(), a.body(false), "Authorization", "Bearer one"); seen[res.Header.Get("X-Precis-Conversation")] != "X-Api-Key one" {
		t.Error("the same key in another header is another owner's")
	}
	for _, r := range s.Requests() {
		if bytes.Contains(r.Body, []byte("one")) {
			t.Error("a key is in a body")
		}
	}
}
