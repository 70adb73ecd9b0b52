package gateway_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
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
	t.Parallel()
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
	own, match, _ := ask(base, token(1, "real"))
	if match != "new" {
		t.Fatalf("alice's first request is %s", match)
	}
	if id, match, _ := ask(base, token(1, "real")); id != own || match != "repeated" {
		t.Fatalf("her next request is %s, %s", id, match)
	}
	for range 2 {
		if id, match, status := ask(base, token(1, "forged")); id == own || status != 401 || match == "repeated" && id == own {
			t.Errorf("a forged token: %s %s, %d", id, match, status)
		}
	}
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
	t.Parallel()
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
	t.Parallel()
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

// picky is an upstream that answers those alone whose token ends with ".real", on some
// paths or on all.
func picky(guarded func(path string) bool) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if guarded(r.URL.Path) && !strings.HasSuffix(r.Header.Get("Authorization"), ".real") {
			return &http.Response{StatusCode: 401, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody, Request: r}, nil
		}
		return http.DefaultTransport.RoundTrip(r)
	})
}

// alice begins a conversation with a token of hers and returns its ID.
func alice(t *testing.T, base string) (own string, a *agent) {
	t.Helper()
	a = newAgent("anthropic", "Read the files.")
	a.read(0, words(30, 0))
	res, _ := post(t, base+a.path(), a.body(false), "Authorization", "Bearer "+real("alice", 1))
	if own = res.Header.Get("X-Precis-Conversation"); own == "" || res.StatusCode != 200 {
		t.Fatalf("alice's request: %d %q", res.StatusCode, own)
	}
	return own, a
}

func real(subject string, n int) string { return strings.TrimSuffix(jwt(subject, n), "sig") + "real" }

// A renewed token comes home at its first request, whichever path it is that the
// upstream guards.
func TestARenewedTokenComesHomeAtOnce(t *testing.T) {
	t.Parallel()
	for name, guarded := range map[string]func(string) bool{
		"everything":    func(string) bool { return true },
		"messages only": func(path string) bool { return path == "/v1/messages" },
	} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{})
			base, _ := start(t, s.URL, func(o *gateway.Options) { o.Transport = picky(guarded) })
			own, a := alice(t, base)
			a.read(1, words(30, 1))
			res, _ := post(t, base+a.path(), a.body(false), "Authorization", "Bearer "+real("alice", 2))
			if id, match := res.Header.Get("X-Precis-Conversation"), res.Header.Get("X-Precis-Match"); id != own || match != "extended" {
				t.Errorf("%s %s, want %s", id, match, own)
			}
		})
	}
}

// Nobody gets into an account by knowing names.
func TestNamesOpenNoAccount(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	open := providertest.New(t, providertest.Options{})
	u, err := url.Parse(open.URL)
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		o.Store = st
		o.Upstreams[0].Dialects = []string{"anthropic"}
		o.Upstreams = append(o.Upstreams, gateway.Upstream{Name: "local", URL: u})
		main := o.Upstreams[0].URL.Host
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != main {
				return http.DefaultTransport.RoundTrip(r) // it takes every token
			}
			return doorkeeper().RoundTrip(r)
		})
	})
	own, a := alice(t, base)
	forged := jwt("alice", 7)
	none := strings.TrimSuffix(strings.Replace(jwt("alice", 8), "e30.", encode(`{"alg":"none"}`)+".", 1), "sig")
	for name, c := range map[string]struct {
		path    string
		headers []string
	}{
		"the words of the name":        {a.path(), []string{"Authorization", "subject x alice"}},
		"with another issuer":          {a.path(), []string{"Authorization", "subject  x alice"}},
		"in two headers":               {a.path(), []string{"Authorization", "subject", "X-Api-Key", "x alice"}},
		"in three":                     {a.path(), []string{"Authorization", "subject", "X-Api-Key", "x", "Api-Key", "alice"}},
		"in the query":                 {a.path() + "?key=subject+x+alice", nil},
		"a forged token":               {a.path(), []string{"Authorization", "Bearer " + forged}},
		"one that was taken elsewhere": {a.path(), []string{"Authorization", "Bearer " + forged}},
		"at another upstream":          {"/local" + a.path(), []string{"Authorization", "Bearer " + forged}},
		"an unsigned token":            {a.path(), []string{"Authorization", "Bearer " + none}},
		"a real one there":             {"/local" + a.path(), []string{"Authorization", "Bearer " + real("alice", 9)}},
	} {
		post(t, base+"/local"+a.path(), a.body(false), "Authorization", "Bearer "+forged)
		for range 2 {
			res, _ := post(t, base+c.path, a.body(false), c.headers...)
			if id := res.Header.Get("X-Precis-Conversation"); id == own {
				t.Errorf("%s: in alice's conversation, status %d", name, res.StatusCode)
			}
		}
	}
	res, _ := post(t, base+a.path(), a.body(false), "Authorization", "Bearer "+real("alice", 2))
	if id := res.Header.Get("X-Precis-Conversation"); id != own {
		t.Errorf("alice herself: %s, want %s", id, own)
	}
}

// Nothing of a request that is refused is stored, or stays in memory; what a credential
// does that is accepted is.
func TestWhatIsRefusedIsNotStored(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		s := providertest.New(t, providertest.Options{})
		st := memory.New()
		refuse := true
		base, g := start(t, s.URL, func(o *gateway.Options) {
			window(12_000)(o)
			o.Store = st
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				if refuse {
					return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody, Request: r}, nil
				}
				return http.DefaultTransport.RoundTrip(r)
			})
		})
		_, a := full("anthropic") // is reduced: its edits are made before it is sent
		for range 2 {
			if res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", "wrong"); res.StatusCode != status {
				t.Fatalf("%d", res.StatusCode)
			}
		}
		if scopes, err := st.Scopes(t.Context()); err != nil || len(scopes) > 0 || g.Status(gateway.AllOwners).Memory.Lines != 0 {
			t.Errorf("%d: stored for %v (%v), %d lines in memory", status, scopes, err, g.Status(gateway.AllOwners).Memory.Lines)
		}
		refuse = false
		if res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", "wrong"); res.StatusCode != 200 {
			t.Fatalf("%d", res.StatusCode)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if scopes, err := st.Scopes(t.Context()); err != nil || len(scopes) != 1 {
			t.Errorf("%d: what was accepted is stored for %v (%v)", status, scopes, err)
		}
	}
}
