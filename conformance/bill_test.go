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
	"runtime"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/models"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/wire/anthropic"
)

// billWindow is the context window, in tokens, of the conversations that are billed.
const billWindow = 32_000

// billPrices are in US dollars per million tokens.
var billPrices = models.Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}

// promptCache simulates the prompt cache of a provider: a request reads the blocks that it has in common with the beginning of the
// request before, and writes the rest. A token is four bytes.
type promptCache struct {
	last []string
	usd  float64
}

// bill charges a request and its answer of so many tokens, and returns what the provider would report.
func (c *promptCache) bill(body []byte, output int) (u precis.Usage, err error) {
	blocks, err := blocksOf(body)
	if err != nil {
		return u, err
	}
	read, all, common := 0, 0, true
	for i, s := range blocks {
		all += len(s)
		if common = common && i < len(c.last) && c.last[i] == s; common {
			read += len(s)
		}
	}
	c.last = blocks
	u = precis.Usage{CacheRead: read / 4, CacheWrite: all/4 - read/4, Output: output}
	c.usd += costOf(u)
	return u, nil
}

func costOf(u precis.Usage) float64 { return models.Cost(models.Anthropic, billPrices, u, "").USD }

// blocksOf returns the content blocks of a request in order, tools and system prompt first, without the marks of the cache.
func blocksOf(body []byte) ([]string, error) {
	var r struct {
		Tools, System any
		Messages      []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	out := []string{canonical(r.Tools), canonical(r.System)}
	for _, m := range r.Messages {
		list, ok := m.Content.([]any)
		if !ok {
			list = []any{map[string]any{"type": "text", "text": m.Content}}
		}
		for _, block := range list {
			out = append(out, m.Role+canonical(block))
		}
	}
	return out, nil
}

// canonical returns a value as JSON without the marks of the cache, which are no part of what is cached.
func canonical(v any) string {
	unmark(v)
	raw, _ := json.Marshal(v) // came from JSON
	return string(raw)
}

func unmark(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		unmark(v["content"])
	case []any:
		for _, each := range v {
			unmark(each)
		}
	}
}

// bills is what a conversation cost behind the gateway and without it, and what the ledger says was saved, in US dollars.
type bills struct{ managed, unmanaged, saved float64 }

// biller sends a conversation through a gateway to an upstream with a simulated cache.
type biller struct {
	b         *testing.B
	g         *gateway.Gateway
	url       string
	managed   promptCache
	unmanaged promptCache
	output    int  // tokens of the next answer
	prepared  bool // a background reduction was seen
}

// billConversation sends a recording turn by turn through the gateway, as it grew.
func billConversation(b *testing.B, tr *precis.Transcript) bills {
	b.Helper()
	c := &biller{b: b}
	defer c.start()()
	for n := 1; n < tr.Len(); n++ {
		if tr.At(n).Role == precis.RoleAssistant && tr.At(n-1).Role == precis.RoleUser {
			c.turn(tr.Messages()[:n], tr.At(n))
		}
	}
	sums, err := ledger.Since(b.Context(), c.g.Home(gateway.AllOwners), "", time.Time{})
	if err != nil || !sums.Booked {
		b.Fatalf("booked: %v, %v", sums.Booked, err)
	}
	if !c.prepared {
		b.Fatal("no goroutine prepared a reduction: settle looks for a function of another name")
	}
	return bills{c.managed.usd, c.unmanaged.usd, sums.Total.SavedUSD}
}

// start serves the upstream and the gateway until stop is called.
func (c *biller) start() (stop func()) {
	c.b.Helper()
	up := httptest.NewServer(http.HandlerFunc(c.answer))
	target, err := url.Parse(up.URL)
	if err != nil {
		c.b.Fatal(err)
	}
	c.g, err = gateway.New(gateway.Options{
		Upstreams: []gateway.Upstream{{Name: "up", URL: target}}, Manager: newManager(c.b, preset.Balanced), Store: memory.New(), Patience: time.Minute,
		Window: func(context.Context, string) precis.Window {
			return precis.Window{Tokens: billWindow, Source: precis.SourceConfigured}
		},
		Cost: func(_, _ string, u precis.Usage) float64 { return costOf(u) },
	})
	if err != nil {
		c.b.Fatal(err)
	}
	front := httptest.NewServer(c.g)
	c.url = front.URL + "/v1/messages"
	return func() {
		front.Close()
		if err := c.g.Close(context.Background()); err != nil {
			c.b.Error(err)
		}
		up.Close()
	}
}

// answer is the upstream: it reports the usage by the simulated cache.
func (c *biller) answer(w http.ResponseWriter, r *http.Request) {
	c.settle()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u, err := c.managed.bill(body, c.output)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn",`+
		`"usage":{"input_tokens":0,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":%d}}`, u.CacheRead, u.CacheWrite, u.Output)
}

// settle waits until no gateway prepares a reduction in the background, which begins before a request is forwarded: whether a turn finds
// one finished must not depend on the speed of the machine.
func (c *biller) settle() {
	buf := make([]byte, 1<<20)
	for bytes.Contains(buf[:runtime.Stack(buf, true)], []byte(".prepare.func")) {
		c.prepared = true
		<-time.After(time.Millisecond) // reading all stacks stops the program, so that nothing would ever be prepared
	}
}

// turn sends the messages so far; next is what the agent answered in the recording.
func (c *biller) turn(msgs []precis.Message, next precis.Message) {
	c.b.Helper()
	body := requestBody(msgs)
	c.output = len(anthropic.AppendMessage(nil, next)) / 4
	if _, err := c.unmanaged.bill(body, c.output); err != nil {
		c.b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.b.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.b.Fatal(err)
	}
	defer res.Body.Close()
	if out, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		c.b.Fatalf("%d messages: %d %s %v", len(msgs), res.StatusCode, out, err)
	}
}

// requestBody returns the request of an agent: tools, system prompt and messages.
func requestBody(msgs []precis.Message) []byte {
	body := []byte(`{"model":"m","max_tokens":4096,"system":[{"type":"text","text":"You work on the code in this folder.","cache_control":{"type":"ephemeral"}}],"tools":[`)
	for i, name := range []string{"Bash", "Read", "Edit", "Write", "Grep", "TodoWrite"} {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"name":%q,"input_schema":{"type":"object"}}`, name)
	}
	body = append(body, `],"messages":`...)
	return append(anthropic.AppendMessages(body, msgs), '}')
}
