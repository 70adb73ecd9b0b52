package provider

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, dialect := range dialects {
		c, err := New(Config{Dialect: dialect, Model: "m", BaseURL: "http://" + address, Key: testKey})
		if err != nil {
			t.Fatal(err)
		}
		c.config.Pause = time.Millisecond
		got, err := c.Generate(context.Background(), ask("a"))
		if !isFault(err, model.FaultConnection) || got.Attempts != 3 || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %d attempts, %v", dialect, got.Attempts, err)
		}
	}
}

// Redirects lead to the same host or nowhere: net/http would carry the header
// that Anthropic's keys travel in anywhere.
func TestRedirects(t *testing.T) {
	stolen := make(chan string, 8)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen <- r.Header.Get("X-Api-Key") + r.Header.Get("Authorization")
	}))
	t.Cleanup(other.Close)
	for _, dialect := range dialects {
		for _, status := range []int{301, 302, 307, 308} {
			s := providertest.New(t, providertest.Options{})
			s.Enqueue(providertest.Reply{Status: status, Header: http.Header{"Location": {other.URL + "/v1/messages"}}})
			got, err := dial(t, s, dialect, nil).Generate(context.Background(), ask("a"))
			if !isFault(err, model.FaultRequest) || got.Attempts != 1 {
				t.Errorf("%s: %d: %d attempts, %v", dialect, status, got.Attempts, err)
			}
			s.Enqueue(providertest.Reply{Status: status, Header: http.Header{"Location": {"/v1" + strings.TrimPrefix(s.Requests()[0].Path, "/v1")}}})
			_, err = dial(t, s, dialect, nil).Generate(context.Background(), ask("a"))
			if follows := status == 307 || status == 308; follows != (err == nil) {
				t.Errorf("%s: %d to the same host: %v", dialect, status, err)
			}
		}
	}
	if len(stolen) > 0 {
		t.Errorf("the key went to another host: %q", <-stolen)
	}
}

func TestCallersHTTPClientIsNotChanged(t *testing.T) {
	own := &http.Client{Timeout: time.Minute}
	if _, err := New(Config{Model: "m", HTTPClient: own}); err != nil || own.CheckRedirect != nil {
		t.Errorf("the client was changed, %v", err)
	}
}

func TestCancel(t *testing.T) {
	for _, dialect := range dialects {
		for name, reply := range map[string]providertest.Reply{
			"before the answer": {Ending: providertest.Silent},
			"in the answer":     {Text: "half a", Ending: providertest.Stuck},
			"between attempts":  providertest.Fail(model.FaultOverloaded),
		} {
			s := providertest.New(t, providertest.Options{})
			ctx, cancel := context.WithCancel(context.Background())
			s.SetDefault(providertest.Reply{Do: func(providertest.Request) providertest.Reply {
				if name == "before the answer" {
					cancel()
				} else {
					time.AfterFunc(10*time.Millisecond, cancel)
				}
				return reply
			}})
			c := dial(t, s, dialect, nil)
			c.config.Pause = time.Hour
			_, err := c.Generate(ctx, ask("a"))
			if precis.CodeOf(err) != precis.CodeCanceled || !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: %v", dialect, name, err)
			}
			// Hanging handlers end when their client is gone; Close waits for them.
			c.config.HTTPClient.CloseIdleConnections()
			s.Close()
			cancel()
		}
	}
	buf := make([]byte, 1<<20)
	stacks := string(buf[:runtime.Stack(buf, true)])
	for _, own := range []string{"provider.(*Client)", "provider.(*exchange)", "http.(*Client)"} {
		if strings.Contains(stacks, own) {
			t.Errorf("%s still runs:\n%s", own, stacks)
		}
	}
}

func TestDeadline(t *testing.T) {
	s := providertest.New(t, providertest.Options{})
	s.SetDefault(providertest.Reply{Ending: providertest.Silent})
	c := dial(t, s, "chat", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Generate(ctx, ask("a")); precis.CodeOf(err) != precis.CodeCanceled || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	// Waiting beyond the deadline is no use: the reason is worth more.
	s.SetDefault(providertest.RateLimited(30 * time.Second))
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if got, err := c.Generate(ctx, ask("a")); !isFault(err, model.FaultRateLimited) || got.Attempts != 1 {
		t.Errorf("%d attempts, %v", got.Attempts, err)
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	wrong := providertest.New(t, providertest.Options{})
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID",
		"OPENAI_PROJECT_ID", "OPENAI_WEBHOOK_SECRET", "ANTHROPIC_PROFILE", "ANTHROPIC_WEBHOOK_SIGNING_KEY",
	} {
		t.Setenv(name, "from-the-environment")
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, wrong.URL)
	}
	for _, name := range []string{"ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"} {
		t.Setenv(name, "X-Environment: from-the-environment")
	}
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{})
		if _, err := dial(t, s, dialect, func(c *Config) { c.Key = "" }).Generate(context.Background(), ask("a")); err != nil {
			t.Errorf("%s: %v", dialect, err)
			continue
		}
		r := s.Requests()[0]
		if r.HasKey {
			t.Errorf("%s: a key was sent", dialect)
		}
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, ""), "from-the-environment") {
				t.Errorf("%s: header %s: %q", dialect, name, values)
			}
		}
	}
	if len(wrong.Requests()) > 0 {
		t.Error("a request went where the environment says")
	}
	if transport := sameHost(nil).Transport.(*http.Transport); transport.Proxy != nil {
		t.Error("the proxy of the environment is used")
	}
}

func TestKeyInAnErrorBodyIsHidden(t *testing.T) {
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(providertest.Respond(401, "application/json", `{"error":{"message":"wrong key `+testKey+`"}}`+strings.Repeat(" ", 10_000)))
		_, err := dial(t, s, dialect, nil).Generate(context.Background(), ask("a"))
		var e *model.Error
		if !errors.As(err, &e) || strings.Contains(string(e.Body), testKey) || !strings.Contains(string(e.Body), "wrong key ***") || len(e.Body) > maxBody {
			t.Errorf("%s: %v %.100q", dialect, err, e.Body)
		}
	}
}
