package provider

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/provider/providertest"
)

func TestFreshRequests(t *testing.T) {
	want := map[string]string{
		"anthropic": `{"model":"model-1","max_tokens":16000,"stream":true,"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"Sum up."}]}]}`,
		"chat":      `{"model":"model-1","max_tokens":16000,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Sum up."}]}`,
		"responses": `{"model":"model-1","max_output_tokens":16000,"reasoning":{"effort":"low"},"store":false,"stream":true,"instructions":"Be brief.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Sum up."}]}]}`,
	}
	paths := map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses"}
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{Key: testKey})
		c := dial(t, s, dialect, func(c *Config) {
			c.Effort = "low"
			c.Headers = map[string][]string{"x-team": {"a", "b"}, "User-Agent": {"precis"}}
		})
		if _, err := c.Generate(context.Background(), ask("Sum up.")); err != nil {
			t.Fatalf("%s: %v %v", dialect, err, s.Problems())
		}
		r := s.Requests()[0]
		if string(r.Body) != want[dialect] || r.Path != paths[dialect] {
			t.Errorf("%s: %s\n got %s\nwant %s", dialect, r.Path, r.Body, want[dialect])
		}
		if got := r.Header["X-Team"]; len(got) != 2 || r.Header.Get("User-Agent") != "precis" || !r.HasKey {
			t.Errorf("%s: headers %v", dialect, r.Header)
		}
	}
}

// A conversation of one dialect can be summarized in another, tools and
// reasoning included, as long as the dialect allows tools without declarations.
func TestFreshRequestsOfOtherDialects(t *testing.T) {
	for from, live := range liveBodies {
		for _, dialect := range dialects {
			s := providertest.New(t, providertest.Options{})
			r := riding(t, from, live)
			r.Body = nil
			_, err := dial(t, s, dialect, nil).Generate(context.Background(), r)
			if dialect == "anthropic" {
				if !isFault(err, model.FaultRequest) {
					t.Errorf("%s to %s: %v", from, dialect, err)
				}
			} else if err != nil {
				t.Errorf("%s to %s: %v %v\n%s", from, dialect, err, s.Problems(), s.Requests()[0].Body)
			}
		}
	}
}

func TestOutputLimit(t *testing.T) {
	for _, tt := range []struct{ asked, most, want int }{
		{0, 0, 8192}, {0, 5000, 5000}, {0, 64_000, 64_000}, {100, 0, 100}, {100, 50, 50}, {100, 500, 100},
	} {
		c := &Client{config: Config{Info: model.Info{MaxOutput: tt.most}}}
		if got := c.outputLimit(model.Request{MaxTokens: tt.asked}); got != tt.want {
			t.Errorf("asked %d, at most %d: %d, want %d", tt.asked, tt.most, got, tt.want)
		}
	}
}

func TestNameOfTheOutputLimit(t *testing.T) {
	for _, tt := range []struct{ base, model, want string }{
		{"", "gpt-4o", newerLimit},
		{"https://api.openai.com/v1/", "gpt-4o", newerLimit},
		{"https://openrouter.ai/api/v1", "openai/gpt-5.1", newerLimit},
		{"https://host/v1", "o3-mini", newerLimit},
		{"https://host/v1", "gpt-4o", olderLimit},
		{"https://host/v1", "gpt-oss-20b", olderLimit},
		{"https://host/v1", "olmo", olderLimit},
		{"https://host/v1", "org/", olderLimit},
	} {
		c, err := New(Config{Dialect: "chat", BaseURL: tt.base, Model: tt.model})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.chatLimit(); got != tt.want {
			t.Errorf("%s at %q: %s", tt.model, tt.base, got)
		}
	}
}

func TestNameOfTheOutputLimitIsLearned(t *testing.T) {
	for _, tt := range []struct{ model, known string }{{"gpt-5", olderLimit}, {"llama", newerLimit}} {
		s := providertest.New(t, providertest.Options{ChatLimit: tt.known})
		c := dial(t, s, "chat", func(c *Config) { c.Model, c.Retries = tt.model, -1 })
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := c.Generate(context.Background(), ask("a")); err != nil || got.Attempts > 2 {
					t.Errorf("%s: %d attempts, %v", tt.known, got.Attempts, err)
				}
			})
		}
		all.Wait()
		got, err := c.Generate(context.Background(), ask("a"))
		if err != nil || got.Attempts != 1 {
			t.Errorf("%s: %d attempts once it is known, %v", tt.known, got.Attempts, err)
		}
	}
}

func TestNameOfTheOutputLimitIsNotAlwaysAtFault(t *testing.T) {
	own := model.Request{
		Body:     []byte(`{"model":"m","max_tokens":10,"messages":[]}`),
		Messages: ask("a").Messages, MaxTokens: 5,
	}
	tests := []struct {
		name  string
		reply providertest.Reply
		r     model.Request
	}{
		{"another value", providertest.Respond(400, "application/json", `{"error":{"message":"max_tokens is too large: 16000. This model supports at most 4096.","param":"max_tokens"}}`), ask("a")},
		{"another field", providertest.Respond(400, "application/json", `{"error":{"message":"Unsupported parameter: stream"}}`), ask("a")},
		{"another status", providertest.Respond(403, "application/json", `{"error":{"message":"Unsupported parameter: max_tokens"}}`), ask("a")},
		{"the client's own", providertest.Respond(400, "application/json", `{"error":{"message":"Unsupported parameter: max_tokens"}}`), own},
	}
	for _, tt := range tests {
		s := providertest.New(t, providertest.Options{})
		s.Enqueue(tt.reply)
		c := dial(t, s, "chat", nil)
		got, err := c.Generate(context.Background(), tt.r)
		if err == nil || got.Attempts != 1 || c.chatLimit() != olderLimit {
			t.Errorf("%s: %d attempts, then %s, %v", tt.name, got.Attempts, c.chatLimit(), err)
		}
	}
}

func TestEmptySystemAndMessages(t *testing.T) {
	for _, dialect := range dialects {
		s := providertest.New(t, providertest.Options{})
		c := dial(t, s, dialect, nil)
		if _, err := c.Generate(context.Background(), model.Request{System: ask("").System}); !isFault(err, model.FaultRequest) {
			t.Errorf("%s: no messages: %v", dialect, err)
		}
		r := ask("a")
		r.System = precis.NewText(precis.RoleSystem, " \n")
		if _, err := c.Generate(context.Background(), r); err != nil {
			t.Errorf("%s: %v %v", dialect, err, s.Problems())
		}
		if body := string(s.Requests()[0].Body); strings.Contains(body, "system") || strings.Contains(body, "instructions") {
			t.Errorf("%s: an empty system prompt was sent: %s", dialect, body)
		}
	}
}
