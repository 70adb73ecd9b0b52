package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/registry"
	"github.com/precis-dev/precis/provider/providertest"
)

// inProcess returns a gateway without upstreams.
func inProcess(t testing.TB, change func(*gateway.Options)) *gateway.Gateway {
	t.Helper()
	o := gateway.Options{InProcess: true, Manager: frugal(t)}
	if change != nil {
		change(&o)
	}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil { // ends what a test left behind
			t.Error(err)
		}
	})
	return g
}

// transport is a function that sends requests.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func directPost(t testing.TB, ctx context.Context, c *http.Client, url, body string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	return c.Do(req)
}

func TestInProcessAConversationNeverPassesItsWindow(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			s := providertest.New(t, providertest.Options{Window: 20_000})
			g := inProcess(t, window(20_000))
			client := &http.Client{Transport: g.RoundTripper(nil)}
			ctx := gateway.WithName(t.Context(), "ticket 4711")
			a := newAgent(dialect, "Read the files one by one. Never write to the disk.")
			ids := map[string]bool{}
			for n := 1; n <= 30; n++ {
				a.read(n, words(60, n))
				res, err := directPost(t, ctx, client, s.URL+a.path(), a.body(n%2 == 0))
				if err != nil {
					t.Fatal(err)
				}
				out, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s %v %v", n, res.StatusCode, out, err, s.Problems())
				}
				if err := res.Body.Close(); err != nil {
					t.Error(err)
				}
				ids[res.Header.Get("X-Precis-Conversation")] = true
			}
			if len(ids) != 1 {
				t.Errorf("%d conversations", len(ids))
			}
			for id := range ids {
				d, err := conversation.Status(t.Context(), g.Home(""), id)
				if err != nil || d.Edits.InForce == 0 || d.Hints[registry.NameHint] != "ticket 4711" {
					t.Errorf("%+v %v", d, err)
				}
			}
			for _, r := range s.Requests() {
				if r.Header.Get("X-Precis-Conversation") != "" {
					t.Fatal("the name went to the upstream")
				}
			}
		})
	}
}

// What is no request to a model goes to the transport as the very same request.
func TestInProcessOtherRequestsAreNotTouched(t *testing.T) {
	t.Parallel()
	g := inProcess(t, nil)
	tests := []struct {
		method, url string
		model       bool
	}{
		{"POST", "https://api.anthropic.com/v1/messages", true},
		{"POST", "https://api.anthropic.com/v1/messages?beta=true", true},
		{"POST", "https://api.anthropic.com/v1/messages/count_tokens", true},
		{"POST", "https://api.anthropic.com/v1/messages/batches", false},
		{"GET", "https://api.anthropic.com/v1/messages", false},
		{"POST", "https://api.openai.com/v1/chat/completions", true},
		{"POST", "https://openrouter.ai/api/v1/chat/completions", true},
		{"POST", "https://api.deepseek.com/chat/completions", true},
		{"POST", "https://me.openai.azure.com/openai/deployments/d/chat/completions?api-version=1", true},
		{"POST", "https://me.openai.azure.com/openai/responses", true},
		{"POST", "https://api.openai.com/v1/responses", true},
		{"POST", "https://api.openai.com/v1/responses/r_1/cancel", false},
		{"POST", "https://api.openai.com/v1/threads/t/messages", false},
		{"POST", "https://forms.example.com/survey/responses", false},
		{"POST", "https://chat.example.com/rooms/1/messages", false},
		{"POST", "https://api.openai.com/v1/embeddings", false},
		{"GET", "https://api.openai.com/v1/models", false},
	}
	for _, tt := range tests {
		body := `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"input":"hi"}`
		req, err := http.NewRequestWithContext(gateway.WithName(t.Context(), "n"), tt.method, tt.url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer key")
		var got *http.Request
		rt := g.RoundTripper(transport(func(r *http.Request) (*http.Response, error) {
			got = r
			if b, err := io.ReadAll(r.Body); err != nil || string(b) != body {
				t.Errorf("%s: body %s %v", tt.url, b, err)
			}
			return &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody}, nil
		}))
		res, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(res.Body)
		_ = res.Body.Close()
		if same := got == req; same == tt.model {
			t.Errorf("%s %s: taken for a request to a model: %v", tt.method, tt.url, !same)
		}
		if got.URL.String() != tt.url || got.Header.Get("Authorization") != "Bearer key" || got.Host != req.Host {
			t.Errorf("%s went to %s as %v", tt.url, got.URL, got.Header)
		}
		if got.Header.Get("X-Precis-Conversation") != "" {
			t.Errorf("%s: the name is sent", tt.url)
		}
	}
}

// slow serves a stream whose pieces come when the test says so.
func slow(t *testing.T) (url string, next chan string, gone chan struct{}) {
	next, gone = make(chan string), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case piece, ok := <-next:
				if !ok {
					return
				}
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, next, gone
}

const streamed = `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t","input_schema":{"type":"object"}}]}`

func piece(n int) string {
	return fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%d\"}}\n\n", n)
}

// Each piece of a stream is read before the next one is there; closing the body, or
// the end of the context, ends the request upstream.
func TestInProcessStreams(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"whole", "close", "cancel", "gateway"} {
		t.Run(ending, func(t *testing.T) {
			url, next, gone := slow(t)
			g := inProcess(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { next <- piece(0) }()
			res, err := directPost(t, ctx, &http.Client{Transport: g.RoundTripper(nil)}, url+"/v1/messages", streamed)
			if err != nil {
				t.Fatal(err)
			}
			read := func(want string) {
				t.Helper()
				got := make([]byte, len(want))
				if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != want {
					t.Fatalf("%q %v", got, err)
				}
			}
			read(piece(0))
			next <- piece(1)
			read(piece(1))
			switch ending {
			case "whole":
				close(next)
				if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
					t.Errorf("%q %v", rest, err)
				}
			case "close":
				if err := res.Body.Close(); err != nil {
					t.Error(err)
				}
				if _, err := res.Body.Read(make([]byte, 1)); err == nil {
					t.Error("a closed body can be read")
				}
			case "cancel":
				cancel()
				if _, err := io.ReadAll(res.Body); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
			case "gateway":
				if err := g.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := io.ReadAll(res.Body); err == nil {
					t.Error("the stream seems whole")
				}
			}
			<-gone
			_ = res.Body.Close()
			if err := g.Close(t.Context()); err != nil { // waits for all that is under way
				t.Error(err)
			}
			if g.Active() != 0 {
				t.Errorf("%d requests are under way", g.Active())
			}
			_, err = directPost(t, t.Context(), &http.Client{Transport: g.RoundTripper(nil)}, url+"/v1/messages", streamed)
			if precis.CodeOf(err) != precis.CodeCanceled {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// A context that ends before there is a response is the error.
func TestInProcessCanceledBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	g := inProcess(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	rt := g.RoundTripper(transport(func(r *http.Request) (*http.Response, error) {
		cancel()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}))
	if _, err := directPost(t, ctx, &http.Client{Transport: rt}, "http://up.example/v1/messages", streamed); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A program sees the errors of its own transport.
func TestInProcessUnreachable(t *testing.T) {
	t.Parallel()
	g := inProcess(t, nil)
	errDown := errors.New("down")
	rt := g.RoundTripper(transport(func(*http.Request) (*http.Response, error) { return nil, errDown }))
	if _, err := directPost(t, t.Context(), &http.Client{Transport: rt}, "http://up.example/v1/messages", streamed); !errors.Is(err, errDown) {
		t.Errorf("%v", err)
	}
}

// A gateway without upstreams serves nobody over a port.
func TestInProcessServesNoPort(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	inProcess(t, nil).ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", strings.NewReader(streamed)))
	if w.Code != http.StatusBadGateway {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, err := gateway.New(gateway.Options{Manager: frugal(t)}); precis.CodeOf(err) != precis.CodeInvalid {
		t.Errorf("%v", err)
	}
}
