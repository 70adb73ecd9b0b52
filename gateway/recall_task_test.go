package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/asked"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/preset"
)

// TestTaskWithRecall has agents read files whose model reads something again
// before each of them, once there is anything hidden: against an upstream that
// refuses broken pairing, reasoning and breakpoints, streamed and not.
func TestTaskWithRecall(t *testing.T) {
	t.Parallel()
	taskWith(t, recall.Name, func(o *gateway.Options) { o.Recall = true })
}

// TestTaskWithTheCondenseTool does the same with a model that asks for a condensation
// before each file.
func TestTaskWithTheCondenseTool(t *testing.T) {
	if testing.Short() {
		t.Skip("short: eight tasks; those with recall go the same way")
	}
	t.Parallel()
	var made atomic.Int64
	taskWith(t, asked.Name, func(o *gateway.Options) {
		o.CondenseTool = true
		o.OnTurn = func(_ context.Context, turn gateway.Turn) {
			made.Add(int64(len(turn.ByModel)))
		}
	})
	t.Cleanup(func() { // the tasks have ended
		if n := made.Load(); n < 8 {
			t.Errorf("%d condensations in 8 tasks", n)
		}
	})
}

// taskWith runs the tasks of models that call a tool of the gateway before each file.
func taskWith(t *testing.T, name string, change func(*gateway.Options)) {
	tests := []struct {
		w  worker
		up upstream.Options
	}{
		{worker{dialect: "anthropic", model: "claude-opus-5-5", extra: `,"thinking":{"type":"adaptive"}`}, upstream.Options{Thinking: true}},
		{worker{dialect: "anthropic", model: "claude-sonnet-4-5", extra: `,"thinking":{"type":"enabled","budget_tokens":2000}`}, upstream.Options{Thinking: true, LegacyThinking: true}},
		{worker{dialect: "chat", model: "deepseek-v4"}, upstream.Options{Thinking: true, ReasoningBack: true}},
		{worker{dialect: "responses", model: "gpt-5", extra: `,"reasoning":{"effort":"high"}`}, upstream.Options{Thinking: true}},
	}
	for _, tt := range tests {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%s/stream=%v", tt.w.dialect, tt.w.model, stream), func(t *testing.T) {
				t.Parallel()
				var recalls atomic.Int64
				options := tt.up // both runs of a case have their own
				tokens := taskWindow()
				options.Files, options.Window, options.Recall = files(t, 14, fileOf(tokens)), tokens, name
				options.Observe = func(_ upstream.Record, _ http.Header, body []byte) {
					if strings.Contains(lastItem(body), "again_r1") {
						recalls.Add(1)
					}
				}
				up, err := upstream.Start(options)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(up.Close)
				base, _ := start(t, up.URL, func(o *gateway.Options) {
					window(tokens)(o)
					settings, _ := preset.Settings(preset.Frugal)
					o.Manager, _ = preset.New(preset.Options{Settings: settings})
					change(o)
				})
				w := tt.w
				if stream {
					w.extra += `,"stream":true`
					if w.dialect == "chat" {
						w.extra += `,"stream_options":{"include_usage":true}`
					}
				}
				w.list = append(w.list, map[string]any{"role": "user", "content": "Read the files one by one. Never write to the disk."})
				path := (&agent{dialect: w.dialect}).path()
				for turns, done := 0, false; !done; turns++ {
					if turns > 20 {
						t.Fatal("the task does not end")
					}
					out := exchange(t, base+path, w.body(t))
					if strings.Contains(string(out), name) {
						t.Fatalf("the client sees the call: %s", out)
					}
					if stream {
						out = assembled(t, w.dialect, out)
					}
					done = w.take(t, out)
				}
				s := up.Stats()
				t.Logf("%d requests, %d calls, %d splices, %d dropped, cache %.3f", s.Requests, recalls.Load(), s.Splices, s.Dropped, s.CacheShare())
				if len(s.Refused) > 0 || s.Overflows > 0 || recalls.Load() < 4 {
					t.Errorf("refused %v", s.Refused)
				}
			})
		}
	}
}

// lastItem returns the last message of a request.
func lastItem(body []byte) string {
	var v struct{ Messages, Input []json.RawMessage }
	_ = json.Unmarshal(body, &v)
	all := append(v.Messages, v.Input...)
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1])
}
