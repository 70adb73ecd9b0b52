package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/wire/anthropic"
)

// rooWindow is the window of the model in tokens.
const rooWindow = 24_000

// TestRooThroughTheGateway sends tasks as Roo Code does with the address of a gateway in its settings: request by request, each with all
// messages that Roo would send then. Every request reaches the model within its window and in a valid order, all are one conversation, the
// task and the newest message stand in each, and the model's answers come back as they are.
func TestRooThroughTheGateway(t *testing.T) {
	tasks := map[string][]byte{"made up": madeUpTask(t)}
	if dir := os.Getenv("PRECIS_TRANSCRIPTS"); dir != "" && !testing.Short() {
		paths, err := filepath.Glob(filepath.Join(dir, "roo", "*", "api_conversation_history.json*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			tasks[filepath.Base(filepath.Dir(path))] = content(t, path)
		}
	}
	for name, data := range tasks {
		t.Run(name, func(t *testing.T) {
			var all []json.RawMessage
			if err := json.Unmarshal(data, &all); err != nil {
				t.Fatal(err)
			}
			s := newRooStream(t)
			for n := 1; n <= len(all); n++ {
				var role struct{ Role string }
				if err := json.Unmarshal(all[n-1], &role); err != nil {
					t.Fatal(err)
				}
				if role.Role == "user" && s.requests < mostRooRequests {
					s.send(all[:n])
				}
			}
			t.Logf("%d requests, %d cases of a shorter view", s.requests, s.shortened)
			if name == "made up" && s.shortened == 0 {
				t.Error("nothing was condensed")
			}
		})
	}
}

// mostRooRequests are sent of one task.
const mostRooRequests = 60

// rooStream is a gateway, what stands behind it, and what was sent through it.
type rooStream struct {
	t                   *testing.T
	base                string
	received            []byte
	id                  string
	before              []precis.Message // what was sent before
	requests, shortened int
}

func newRooStream(t *testing.T) *rooStream {
	s := &rooStream{t: t}
	meter := newManager(t, preset.Frugal).NewMeter()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.received = body
		msgs, err := anthropic.DecodeMessages(messagesOf(t, body))
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_%d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Answer %d"}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":5}}`, s.requests, s.requests, meter.View(msgs)+500)
	}))
	t.Cleanup(model.Close)
	u, err := url.Parse(model.URL)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Options{Upstreams: []gateway.Upstream{{Name: "up", URL: u}}, Manager: newManager(t, preset.Frugal), Window: func(context.Context, string) precis.Window {
		return precis.Window{Tokens: rooWindow, Source: precis.SourceConfigured}
	}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(g)
	t.Cleanup(func() {
		front.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	s.base = front.URL
	return s
}

func messagesOf(t *testing.T, body []byte) json.RawMessage {
	var request struct{ Messages json.RawMessage }
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	return request.Messages
}

// send sends what Roo would send when these messages are stored.
func (s *rooStream) send(stored []json.RawMessage) {
	t := s.t
	list, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	h, err := roo.ParseHistory(list)
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := h.Request(roo.RequestOptions{Images: true})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 2048, "messages": msgs,
		"system": []any{map[string]any{"type": "text", "text": "You are Roo, a skilled software engineer.", "cache_control": map[string]string{"type": "ephemeral"}}}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "secret")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(answer), fmt.Sprintf("Answer %d", s.requests)) {
		t.Fatalf("request %d: %d %s %v", s.requests, res.StatusCode, answer, err)
	}
	s.requests++
	list, err = json.Marshal(msgs)
	if err != nil {
		t.Fatal(err)
	}
	said, err := anthropic.DecodeMessages(list)
	if err != nil {
		t.Fatal(err)
	}
	id := res.Header.Get("X-Precis-Conversation")
	if goesOn := len(said) >= len(s.before) && slices.EqualFunc(said[:len(s.before)], s.before, sameMessage); s.id != "" && id != s.id && goesOn {
		t.Errorf("request %d is another conversation: %s, %s", s.requests, id, s.id)
	}
	s.id, s.before = id, said
	s.check(said)
}

// check looks at what the model was given.
func (s *rooStream) check(said []precis.Message) {
	t := s.t
	got, err := anthropic.DecodeMessages(messagesOf(t, s.received))
	if err != nil {
		t.Fatal(err)
	}
	if wrong := precis.Check(got); len(wrong) > len(precis.Check(said)) { // older versions begin with a summary of the assistant
		t.Errorf("request %d: %v", s.requests, wrong)
	}
	if n := newManager(t, preset.Frugal).NewMeter().View(got); n > rooWindow {
		t.Errorf("request %d: %d tokens in a window of %d", s.requests, n, rooWindow)
	}
	if len(got) < len(said) {
		s.shortened++
	}
	if first, last := said[0].PlainText(), said[len(said)-1].PlainText(); len(got) > 0 {
		all := ""
		for _, m := range got {
			all += m.PlainText() + "\n"
		}
		wanted := []string{last}
		if said[0].Role == precis.RoleUser {
			wanted = append(wanted, first)
		}
		for _, want := range wanted {
			for line := range strings.Lines(want) {
				if line = strings.TrimSpace(line); len(line) > 20 {
					if !strings.Contains(all, line[:20]) {
						t.Errorf("request %d: %q is not there", s.requests, line)
					}
					break
				}
			}
		}
	}
}

// madeUpTask is a task in the form of Roo Code in which many files are read.
func madeUpTask(t *testing.T) []byte {
	var all []map[string]any
	add := func(role string, blocks ...map[string]any) {
		all = append(all, map[string]any{"role": role, "content": blocks, "ts": 1_760_000_000_000 + 1000*len(all)})
	}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	add("user", text("<task>\nFind out why the importer of the shop loses every tenth order.\n</task>"), text("<environment_details>\n# VSCode Open Tabs\nimporter.go\n</environment_details>"))
	for i := range 40 {
		id := fmt.Sprintf("toolu_%d", i)
		add("assistant", text(fmt.Sprintf("Next I read part %d.", i)), map[string]any{"type": "tool_use", "id": id, "name": "read_file", "input": map[string]any{"path": fmt.Sprintf("src/part%d.go", i)}})
		var file strings.Builder
		for line := range 120 {
			fmt.Fprintf(&file, "%d | order%d := parts[%d].take(%d)\n", line+1, line*i, i, line)
		}
		add("user", map[string]any{"type": "tool_result", "tool_use_id": id, "content": []any{text(file.String())}}, text(fmt.Sprintf("<environment_details>\n# Current Time\n2026-10-01T10:%02d:00Z\n</environment_details>", i)))
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameMessage(a, b precis.Message) bool {
	return a.Role == b.Role && slices.EqualFunc(a.Content, b.Content, precis.EqualBlocks)
}
