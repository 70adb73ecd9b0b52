package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
)

// clock is a time that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// listed is a window of the catalog.
func listed(n int) func(*gateway.Options) {
	return func(o *gateway.Options) {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: n, Source: precis.SourceCatalog, Detail: "a catalog"}
		}
	}
}

// smallAnswer is a small whole answer of a dialect that reports its input.
func smallAnswer(dialect string, input int) string {
	switch dialect {
	case "anthropic":
		return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":1}}`, input)
	case "chat":
		return fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, input)
	}
	return fmt.Sprintf(`{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":%d,"output_tokens":1}}`, input)
}

// An error without a number, of a request that is small next to the window, says
// nothing about the window; the request is sent once more, smaller.
func TestAnOddErrorMakesNoModelSmall(t *testing.T) {
	sequential(t)
	t.Parallel()
	odd := map[string]struct {
		status int
		body   string
	}{
		"empty 400":      {400, ""},
		"no number":      {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`},
		"in a 413":       {413, `{"error":{"message":"context length exceeded","code":"context_length_exceeded"}}`},
		"in a 500":       {500, `{"error":{"message":"Input is too long for requested model."}}`},
		"in a success":   {200, `{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`},
		"too many bytes": {413, ""},
	}
	for name, o := range odd {
		for _, dialect := range dialects(t) {
			for _, times := range []int{1, 4} {
				t.Run(fmt.Sprint(name, " ", dialect, " ", times), func(t *testing.T) {
					left := times
					base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Type", "application/json")
						body, _ := io.ReadAll(r.Body)
						if left--; left >= 0 {
							w.WriteHeader(o.status)
							_, _ = io.WriteString(w, o.body)
							return
						}
						_, _ = io.WriteString(w, smallAnswer(dialect, len(body)/4))
					}), listed(200_000))
					_, a := full(dialect)
					post(t, base+a.path(), a.body(false))
					for n := range 5 {
						b := newAgent(dialect, fmt.Sprint("Another task ", n))
						b.read(1, words(300, n))
						res, out := post(t, base+b.path(), b.body(false))
						if got := res.Header.Get("X-Precis-Window"); res.StatusCode != 200 || got != "200000 catalog" {
							t.Fatalf("turn %d: status %d, window %s: %s", n, res.StatusCode, got, out)
						}
					}
				})
			}
		}
	}
}

// A server that never says its number is found out all the same: smaller requests are
// answered, larger ones refused again.
func TestAWindowWithoutANumberIsLearned(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			refused := 0
			now := newClock()
			base, g := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body, _ := io.ReadAll(r.Body)
				if len(body) > 60_000 {
					refused++
					w.WriteHeader(400)
					return
				}
				_, _ = io.WriteString(w, smallAnswer(dialect, len(body)/4))
			}), func(o *gateway.Options) { listed(200_000)(o); o.Now = now.Now })
			a := newAgent(dialect, "Read.")
			last := ""
			for n := range 40 {
				a.read(n, words(100, n))
				res, out := post(t, base+a.path(), a.body(false))
				if res.StatusCode != 200 {
					t.Fatalf("turn %d: %d %s", n, res.StatusCode, out)
				}
				last = res.Header.Get("X-Precis-Window")
			}
			if !strings.HasSuffix(last, " learned") || refused > 6 {
				t.Errorf("window %s after %d refusals", last, refused)
			}
			now.add(time.Hour)
			if w := g.Windows().List(t.Context(), gateway.AllOwners); len(w) != 1 || w[0].Window.Source != precis.SourceCatalog || w[0].Refused == 0 {
				t.Errorf("an hour later: %+v", w)
			}
			if n, err := g.Windows().Forget(t.Context(), gateway.AllOwners, "up", ""); err != nil || n != 1 || len(g.Windows().List(t.Context(), gateway.AllOwners)) != 0 {
				t.Errorf("%d forgotten, %v left", n, g.Windows().List(t.Context(), gateway.AllOwners))
			}
		})
	}
}

// beginnings are streams that announce an answer and then fail.
var beginnings = map[string]struct{ announce, content, overflow, answer string }{
	"anthropic": {
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":10}}}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"GOOD\"}}\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long\"}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	"chat": {
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"GOOD\"}}]}\n\n",
		"data: {\"error\":{\"message\":\"Your input exceeds the context window of this model.\",\"code\":\"context_length_exceeded\"}}\n\n",
		"data: [DONE]\n\n",
	},
	"responses": {
		"event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\nevent: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"object\":\"response\",\"status\":\"in_progress\"}}\n\nevent: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"item\":{\"type\":\"reasoning\",\"summary\":[]}}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"GOOD\"}\n\n",
		"event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"object\":\"response\",\"status\":\"failed\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"}}}\n\n",
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"status\":\"completed\"}}\n\n",
	},
}

// An overflow that comes behind an announcement is no concern of the client's, however
// small the request is next to what is known; one that comes behind words is learned
// for the next turn.
func TestALateOverflow(t *testing.T) {
	sequential(t)
	t.Parallel()
	for _, dialect := range dialects(t) {
		for _, spoken := range []bool{false, true} {
			t.Run(fmt.Sprint(dialect, " spoken ", spoken), func(t *testing.T) {
				s := beginnings[dialect]
				base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					streaming(w, s.announce)
					if len(body) > 40_000 {
						if spoken {
							streaming(w, s.content)
						}
						streaming(w, s.overflow)
						return
					}
					streaming(w, s.content+s.answer)
				}), listed(1_000_000))
				a := newAgent(dialect, "Read.")
				seen := 0
				for n := range 20 {
					a.read(n, words(100, n))
					_, out := post(t, base+a.path(), a.body(true))
					if strings.Contains(out, "too long") || strings.Contains(out, "context_length") {
						seen++
					} else if !strings.Contains(out, "GOOD") {
						t.Fatalf("turn %d: %s", n, out)
					}
				}
				if !spoken && seen > 0 || seen > 3 {
					t.Errorf("the client saw it in %d of 20 turns", seen)
				}
			})
		}
	}
}

// While the beginning of an answer is held, the client sees that something is at work.
func TestAHeldBeginningIsKeptAlive(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		t.Run(dialect, func(t *testing.T) {
			s := beginnings[dialect]
			goOn := make(chan struct{})
			base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Upstream", "its own")
				streaming(w, s.announce)
				<-goOn
				streaming(w, s.content+s.answer)
			}), func(o *gateway.Options) { listed(200_000)(o); o.KeepAlive = time.Millisecond })
			a := newAgent(dialect, "Read.")
			a.read(1, "text")
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
			res, err := http.DefaultClient.Do(req) // returns when the head is there, which the answer is not
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != 200 || res.Header.Get("X-Upstream") == "" || res.Header.Get("X-Precis-Window") == "" {
				t.Errorf("%d %v", res.StatusCode, res.Header)
			}
			close(goOn)
			out, err := io.ReadAll(res.Body)
			if got := string(out); err != nil || !strings.HasSuffix(got, s.announce+s.content+s.answer) || strings.HasPrefix(got, s.announce) {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
}

// An answer without content, since the window was full, is an overflow.
func TestAnEmptyAnswerOfAFullWindow(t *testing.T) {
	t.Parallel()
	empty := map[string][]string{
		"anthropic": {
			`{"type":"message","role":"assistant","content":[],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9,"output_tokens":0}}`,
			`{"type":"message","role":"assistant","content":[{"type":"text","text":""}],"stop_reason":"model_context_window_exceeded"}`,
		},
		"chat": {
			`{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":0}}`,
			`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[]},"finish_reason":"length"}]}`,
			`{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"model_length"}]}`,
		},
		"responses": {
			`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_prompt_tokens"},"output":[]}`,
			`{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":9,"output_tokens":0}}`,
		},
	}
	for dialect, answers := range empty {
		for i, answer := range answers {
			t.Run(fmt.Sprint(dialect, i), func(t *testing.T) {
				base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					body, _ := io.ReadAll(r.Body)
					if len(body) > 20_000 {
						_, _ = io.WriteString(w, answer)
						return
					}
					_, _ = io.WriteString(w, smallAnswer(dialect, len(body)/4))
				}), listed(200_000))
				_, a := full(dialect)
				if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 || !strings.Contains(out, "ok") {
					t.Errorf("%d %s", res.StatusCode, out)
				}
			})
		}
	}
}

// An error that a server sends in a field of the stream named "error", or as an event of that
// name without an object around it, is one.
func TestAnErrorByTheNameOfItsEvent(t *testing.T) {
	t.Parallel()
	const problem = `{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":5000}`
	for _, stream := range []string{"error: " + problem + "\n\n", "event: error\ndata: " + problem + "\n\n"} {
		base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			if body, _ := io.ReadAll(r.Body); len(body) > 20_000 {
				_, _ = io.WriteString(w, stream)
				return
			}
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}), listed(200_000))
		_, a := full("chat")
		if res, out := post(t, base+a.path(), a.body(true)); res.StatusCode != 200 || !strings.Contains(out, "ok") || strings.Contains(out, "n_ctx") {
			t.Errorf("%d %s", res.StatusCode, out)
		}
	}
}

// A short answer that was cut has content, and is passed on.
func TestACutAnswerIsAnAnswer(t *testing.T) {
	t.Parallel()
	for dialect, answer := range map[string]string{
		"anthropic": `{"type":"message","role":"assistant","content":[{"type":"text","text":"Once"}],"stop_reason":"max_tokens","usage":{"input_tokens":9,"output_tokens":1}}`,
		"chat":      `{"choices":[{"message":{"role":"assistant","content":null,"reasoning_content":"hm"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`,
		"responses": `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"reasoning","summary":[]}],"usage":{"input_tokens":9,"output_tokens":5}}`,
	} {
		calls := 0
		base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}), listed(200_000))
		_, a := full(dialect)
		if _, out := post(t, base+a.path(), a.body(false)); out != answer || calls != 1 {
			t.Errorf("%s: %d calls, %s", dialect, calls, out)
		}
	}
}

// What the user set counts, and a request that is too long all the same is answered.
func TestAConfiguredWindowWins(t *testing.T) {
	t.Parallel()
	base, g := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" {
			t.Errorf("asked %s", r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		if body, _ := io.ReadAll(r.Body); len(body) > 30_000 {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 12000 tokens > 6000 maximum"}}`)
			return
		}
		_, _ = io.WriteString(w, smallAnswer("anthropic", 3000))
	}), func(o *gateway.Options) { window(100_000)(o); o.Probe = true })
	_, a := full("anthropic")
	if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
		t.Errorf("%d %s", res.StatusCode, out)
	}
	for _, w := range g.Windows().List(t.Context(), gateway.AllOwners) {
		if w.Window.Tokens != 100_000 || !w.Configured || w.Stated != 6000 {
			t.Errorf("%+v", w)
		}
	}
}

// A server is asked once for each model, whether the catalog knows the model or not;
// after the first request was sent to it. The next turn waits for the answer, and no turn waits for a server that is slow.
func TestAServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"less": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"data":[{"id":"claude-sonnet-4-5","max_model_len":32768}]}`)
		}, "32768 server"},
		"more": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"data":[{"id":"claude-sonnet-4-5","max_input_tokens":1000000}]}`)
		}, "1000000 server"},
		"failing":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "200000 catalog"},
		"refusing": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "200000 catalog"},
		"slow":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "200000 catalog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := map[string]int{}
			base, g := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/messages" {
					mu.Lock()
					asked[r.URL.Path]++
					mu.Unlock()
					c.answer(w, r)
					return
				}
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, smallAnswer("anthropic", len(body)/4))
			}), func(o *gateway.Options) { listed(200_000)(o); o.Probe = true })
			for n := range 3 {
				a := newAgent("anthropic", fmt.Sprint("Read ", n))
				a.read(1, words(300, n))
				mu.Lock()
				before := len(asked)
				mu.Unlock()
				res, _ := post(t, base+a.path(), a.body(false))
				want := c.want
				if n == 0 {
					want = "200000 catalog"
				}
				if got := res.Header.Get("X-Precis-Window"); got != want || n == 0 && before > 0 {
					t.Errorf("turn %d: window %s, want %s; %d questions before", n, got, want, before)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for path, n := range asked {
				if n != 1 {
					t.Errorf("%s was asked %d times", path, n)
				}
			}
			if w := g.Windows().List(t.Context(), gateway.AllOwners); name != "slow" && (len(w) != 1 || w[0].Answer == "") {
				t.Errorf("%+v", w)
			}
		})
	}
}

// What one owner's requests have shown is neither seen nor forgotten by another.
func TestWindowsOfOthers(t *testing.T) {
	t.Parallel()
	base, g := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"prompt is too long: 12000 tokens > 6000 maximum"}}`)
	}), func(o *gateway.Options) {
		listed(200_000)(o)
		o.Auth.Keys = map[string]string{accounts.HashKey("a"): "alice", accounts.HashKey("b"): "bob"}
	})
	_, a := full("anthropic")
	post(t, base+a.path(), a.body(false), "X-Precis-Key", "a")
	if w := g.Windows().List(t.Context(), "key-bob"); len(w) != 0 {
		t.Errorf("bob sees %+v", w)
	}
	if n, err := g.Windows().Forget(t.Context(), "key-bob", "", ""); err != nil || n != 0 {
		t.Errorf("bob forgets %d", n)
	}
	if w := g.Windows().List(t.Context(), "key-alice"); len(w) != 1 || w[0].Window.Tokens != 6000 || w[0].Owner != "key-alice" {
		t.Errorf("alice sees %+v", w)
	}
	if n, err := g.Windows().Forget(t.Context(), "key-alice", "", "claude-sonnet-4-5"); err != nil || n != 1 {
		t.Errorf("alice forgets %d", n)
	}
}
