package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
)

// fakeCount serves count_tokens, which [providertest] does not.
func fakeCount(t *testing.T, answer func(providertest.Request) providertest.Reply) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply := answer(providertest.Request{Body: body})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestStreamsAreNotHeldBack(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(data string) { _, _ = io.WriteString(w, "data: "+data+"\n\n"); w.(http.Flusher).Flush() }
		send(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":9}}}`)
		send(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		for i := range 3 {
			send(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"piece %d"}}`, i))
			<-next // until the client has it
		}
		send(`{"type":"content_block_stop","index":0}`)
		send(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`)
		send(`{"type":"message_stop"}`)
	}))
	t.Cleanup(up.Close)
	base, _ := start(t, up.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	for n := 1; n <= 9; n++ {
		a.read(n, words(60, n))
	}
	body := with(a.body(true), edits(`{"type":"compact_20260112","trigger":{"type":"input_tokens","value":1000}}`))
	res, err := http.Post(base+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var all bytes.Buffer
	lines := bufio.NewScanner(io.TeeReader(res.Body, &all))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "piece") {
			if !strings.Contains(lines.Text(), `"index":1`) {
				t.Errorf("got %s", lines.Text())
			}
			next <- struct{}{}
		}
	}
	m := read(t, "event:\n"+all.String())
	if len(m.Content) != 2 || m.Content[0].Type != "compaction" || m.Content[1].Text != "piece 0piece 1piece 2" || m.Stop != "end_turn" {
		t.Errorf("got %s", all.String())
	}
}

func TestUsersHaveTheLastWord(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read the files.")
	send := func() (id, sent string) {
		t.Helper()
		res, out := post(t, base+a.path(), with(a.body(false), edits(clearFrom5)))
		if res.StatusCode != 200 {
			t.Fatal(out)
		}
		return res.Header.Get("X-Precis-Conversation"), string(last(s).Body)
	}
	for n := 1; n <= 4; n++ {
		a.read(n, words(30, n))
	}
	id, _ := send()
	if _, err := conversation.Pin(t.Context(), g.Home(""), id, precis.MessageHandle(4)); err != nil {
		t.Fatal(err)
	}
	for n := 5; n <= 8; n++ {
		a.read(n, words(30, n))
	}
	_, sent := send()
	if strings.Count(sent, "Tool result cleared") != 5 || !strings.Contains(sent, "line 3 of file 2:") {
		t.Errorf("what is pinned was cleared: %d", strings.Count(sent, "Tool result cleared"))
	}
	if _, err := conversation.Undo(t.Context(), g.Home(""), id); err != nil {
		t.Fatal(err)
	}
	if _, sent = send(); strings.Contains(sent, "Tool result cleared") {
		t.Error("what was taken back was cleared again")
	}
	for n := 9; n <= 14; n++ {
		a.read(n, words(30, n))
	}
	if _, sent = send(); strings.Count(sent, "Tool result cleared") != 6 || !strings.Contains(sent, "line 3 of file 1:") {
		t.Errorf("later %d were cleared", strings.Count(sent, "Tool result cleared"))
	}
}

func TestTheMemoryToolKeepsItsBeta(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, nil)
	body := `{"model":"m","max_tokens":500,"messages":[{"role":"user","content":"Hello."}],"tools":[{"type":"memory_20250818","name":"memory"}],` + edits(clearFrom5) + "}"
	post(t, base+"/v1/messages", body, "Anthropic-Beta", betas)
	if got := last(s).Header.Get("Anthropic-Beta"); got != "context-management-2025-06-27,other-2025-01-01" {
		t.Errorf("sent %q", got)
	}
}

func TestARefusedViewKeepsItsPolyfills(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) { window(1_000_000)(o) })
	a := newAgent("anthropic", "Read the files.")
	for n := 1; n <= 12; n++ {
		a.read(n, words(60, n))
	}
	s.Enqueue(providertest.Overflow(3000, 9000))
	res, out := post(t, base+a.path(), with(a.body(true), edits(`{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":5},"keep":{"type":"tool_uses","value":6}}`)))
	m := read(t, out)
	if res.StatusCode != 200 || res.Header.Get("X-Precis-Retries") == "" || m.Management == nil || len(m.Management.Applied) != 1 {
		t.Fatalf("%d %s", res.StatusCode, out)
	}
	if sent := string(last(s).Body); strings.Contains(sent, "context_management") || strings.Contains(sent, "line 40 of file 1:") {
		t.Errorf("sent %s", sent)
	}
}

func TestCountTokensShowsTheSameView(t *testing.T) {
	t.Parallel()
	count := func(r providertest.Request) providertest.Reply {
		return providertest.Respond(200, "application/json", fmt.Sprintf(`{"input_tokens":%d}`, len(r.Body)/4))
	}
	counter := fakeCount(t, count)
	a := newAgent("anthropic", "Read the files.")
	for n := 1; n <= 9; n++ {
		a.read(n, words(60, n))
	}
	base, _ := start(t, counter, nil)
	body := with(a.body(false), edits(clearFrom5))
	_, plain := post(t, base+"/v1/messages/count_tokens", a.body(false))
	_, first := post(t, base+"/v1/messages/count_tokens", body)
	f, p := read(t, first), read(t, plain)
	if p.Management != nil || f.Management == nil || f.Input > p.Input*2/3 || f.Management.Original < p.Input*9/10 || f.Management.Original > p.Input*12/10 {
		t.Errorf("with edits %s, without %s", first, plain)
	}
}
