package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
)

func TestEngineErrors(t *testing.T) {
	p := start(t, openStore(t), func(o *gateway.Options, _ *control.Options) { o.Limits.Body = 1 << 20 })
	hi := `"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		path, body    string
		status        int
		code, message string
	}{
		{"/assemble", ``, 400, "invalid", "/messages"},
		{"/assemble", `{`, 400, "invalid", "byte 1"},
		{"/assemble", `[]`, 400, "invalid", "byte 0"},
		{"/assemble", `{"messages":[{"role":"user","content":"hi"}`, 400, "invalid", "byte 43"},
		{"/assemble", `{"messages":3}`, 400, "invalid", "no list"},
		{"/assemble", `{"messages":"hi"}`, 400, "invalid", "no list"},
		{"/assemble", `{"messages":[{"content":"hi"}]}`, 400, "invalid", "messages 0 at byte 13"},
		{"/assemble", `{"messages":[{"role":"user","content":"hi"},7]}`, 400, "invalid", "messages 1"},
		{"/assemble", `{"messages":[],"messages":[]}`, 400, "invalid", "twice"},
		{"/assemble", `{"window":"large",` + hi + `}`, 400, "invalid", "/window"},
		{"/assemble", `{"window":-1,` + hi + `}`, 400, "invalid", "window"},
		{"/assemble", `{"target":-1,` + hi + `}`, 400, "invalid", "target"},
		{"/assemble", `{"dialect":"cobol",` + hi + `}`, 400, "invalid", "cobol"},
		{"/assemble", `{"dialect":"responses",` + hi + `}`, 400, "invalid", "/input"},
		{"/assemble", `{"summarizer":"oracle",` + hi + `}`, 400, "invalid", "oracle"},
		{"/assemble", `{"profile":"x",` + hi + `}`, 400, "invalid", "profile"},
		{"/assemble", `{"conversation":{"id":"x"},` + hi + `}`, 400, "invalid", "/conversation"},
		{"/assemble", `{"conversation":"a\u0000b",` + hi + `}`, 400, "invalid", "/conversation"},
		{"/assemble", `{"conversation":"` + strings.Repeat("x", 201) + `",` + hi + `}`, 400, "invalid", "201 bytes"},
		{"/assemble", `{"conversation":"x","edits":[{}],` + hi + `}`, 400, "invalid", "edits"},
		{"/assemble", `{"edits":[{"replace":3}],` + hi + `}`, 400, "invalid", "/edits/0"},
		{"/assemble", `{"edits":{},` + hi + `}`, 400, "invalid", "/edits"},
		{"/assemble", `{"previous_response_id":"r","input":[{"role":"user","content":"hi"}]}`, 400, "invalid", "refers to"},
		{"/assemble", `{"input":[{"type":"item_reference","id":"x"}]}`, 400, "invalid", "refers to"},
		{"/assemble", `{"focus":"` + strings.Repeat("x", 3000) + `",` + hi + `}`, 400, "invalid", "focus"},
		{"/assemble", `{"pad":"` + strings.Repeat("x", 2<<20) + `",` + hi + `}`, 413, "too_large", "1048576"},
		{"/assemble?x=1", `{` + hi + `}`, 400, "invalid", "x"},
		{"/gate", `{` + hi + `}`, 400, "invalid", "empty"},
		{"/gate", `{"summary":3,` + hi + `}`, 400, "invalid", "/summary"},
		{"/gate", `{"summary":"a long summary","tokens":1,` + hi + `}`, 400, "over_budget", "more than 1"},
		{"/gate", `{"summary":"x"}`, 400, "invalid", "/messages"},
		{"/gate", `{"summary":"x","conversation":"nobody"}`, 404, "not_found", "nobody"},
		{"/compact", `{"tokens":-1,` + hi + `}`, 400, "invalid", "tokens"},
		{"/compact", `{"conversation":"x",` + hi + `}`, 400, "invalid", "/conversation"},
		{"/compact", `{"summarizer":"model",` + hi + `}`, 400, "invalid", "no model"},
		{"/compact", `{"messages":[]}`, 400, "invalid", "no message"},
		{"/digest", `{"tokens":1,` + hi + `}`, 400, "over_budget", "1 tokens"},
		{"/expand", `{` + hi + `}`, 400, "invalid", "/handle"},
		{"/expand", `{"handle":"x",` + hi + `}`, 400, "invalid", "/handle"},
		{"/expand", `{"handle":"m7",` + hi + `}`, 404, "not_found", "m7"},
		{"/expand", `{"handle":"m0","offset":999,` + hi + `}`, 400, "invalid", "offset"},
		{"/expand", `{"handle":"m0","conversation":"c0123456789abcdef"}`, 404, "not_found", "c0123456789abcdef"},
	} {
		code, message := p.problem(c.status, "POST", c.path, c.body)
		if code != c.code || !strings.Contains(message, c.message) {
			t.Errorf("%s %.60s: %s %q, want %s %q", c.path, c.body, code, message, c.code, c.message)
		}
	}
	if code, _ := p.problem(415, "POST", "/assemble", `{}`, "Content-Type", "text/plain"); code != "unsupported_media_type" {
		t.Error(code)
	}
	if code, message := p.problem(400, "POST", "/assemble", `{}`, "Content-Encoding", "snappy"); code != "invalid" || !strings.Contains(message, "snappy") {
		t.Errorf("%s %s", code, message)
	}
}

// TestOddMessagesPassAsTheyAre: blocks that nobody knows, letters that are none, and
// lists that begin or end oddly keep their bytes.
func TestOddMessagesPassAsTheyAre(t *testing.T) {
	p := start(t, nil)
	for _, list := range []string{
		`[{"role":"user","content":[{"type":"hologram","rays":[1.50, 2e3]}]}]`,
		`[{"role":"user","content":"\ud800 half a pair"}]`,
		"[{\"role\":\"user\",\"content\":\"\xff no letter\"}]",
		`[ {"role":"user","content":"a" , "x-note":{"b":1,"a":2}} , {"role":"assistant","content":"b"} ]`,
		`[]`,
	} {
		res, raw := p.sendRaw("/assemble", `{"messages":`+list+`}`)
		if res.StatusCode != 200 || !bytes.HasSuffix(raw, []byte(`"messages":`+list+"}\n")) {
			t.Errorf("%s: %d %s", list, res.StatusCode, raw)
		}
	}
	var v view
	p.post("/assemble", `{"input":"a text"}`, &v)
	if v.Dialect != "responses" || string(v.Messages) != `"a text"` || v.Changed {
		t.Errorf("%+v", v)
	}
}

// TestRequestsAtOnce: of one conversation and of many, each is answered with a view
// that fits and is valid.
func TestRequestsAtOnce(t *testing.T) {
	p := start(t, openStore(t))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			c := &caller{agent: p.agent("chat", "Read."), name: []string{"shared", fmt.Sprint("own ", i)}[i%2]}
			for range 8 {
				c.turn(120)
				res, raw := c.p.sendRaw("/assemble", c.body(""))
				var v view
				if err := json.Unmarshal(raw, &v); err != nil || res.StatusCode != http.StatusOK || v.After > 20_000 {
					t.Errorf("%d %v %d tokens", res.StatusCode, err, v.After)
					return
				}
				v.valid(t)
			}
		})
	}
	all.Wait()
}

// TestTheEngineHasTheLimitsOfTheGateway: while another request takes the only place
// there is none for this one.
func TestTheEngineHasTheLimitsOfTheGateway(t *testing.T) {
	p := start(t, nil, func(o *gateway.Options, _ *control.Options) { o.Limits.Concurrency = 1 })
	other := httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}"))
	_, done, err := p.gateway.ReadBody(httptest.NewRecorder(), other)
	if err != nil {
		t.Fatal(err)
	}
	const hi = `{"messages":[{"role":"user","content":"hi"}]}`
	if code, message := p.problem(503, "POST", "/assemble", hi); code != "busy" || !strings.Contains(message, "too many") {
		t.Errorf("%s %s", code, message)
	}
	done()
	p.post("/assemble", hi, nil)
}
