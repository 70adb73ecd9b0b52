package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/accounts"
	"github.com/precis-dev/precis/gateway/control"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// view is the answer of assemble.
type view struct {
	Dialect, List  string
	Messages       json.RawMessage
	Changed, Acted bool
	Conversation   struct{ ID, Name, Match string }
	Before         int `json:"tokens_before"`
	After          int `json:"tokens_after"`
	Window         precis.Window
	Hidden         []conversation.HiddenPart
	Edits          []json.RawMessage
	Report         policy.Report
	Warnings       []string
}

// caller is an agent that sends its requests itself. It asks for the view of each.
type caller struct {
	*agent
	name  string // of its conversation; "": it keeps the edits
	edits []json.RawMessage
}

// body is a request with spaces where no encoder would write any.
func (c *caller) body(fields string) string {
	more := ""
	if c.name != "" {
		more += `, "conversation" : ` + quote(c.name)
	} else if len(c.edits) > 0 {
		raw, _ := json.Marshal(c.edits)
		more += `,"edits":` + string(raw)
	}
	list := strings.Join(c.messages, " ,\n ")
	switch c.dialect {
	case "chat":
		return `{ "model":"m" , "messages": [ {"role":"system", "content":"You read <files>."} , ` + list + ` ],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]` + more + fields + `}`
	case "responses":
		return `{ "model":"m" , "instructions":"You read files." , "input": [ ` + list + ` ],"tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]` + more + fields + `}`
	}
	return `{ "model":"claude-sonnet-4-5" ,"max_tokens":500,"system":"You read files.", "messages": [ ` + list + ` ],"tools":[{"name":"read","input_schema":{"type":"object"}}]` + more + fields + `}`
}

// turn reads one more file.
func (c *caller) turn(length int) {
	if c.dialect != "responses" {
		c.reads(1, length)
		return
	}
	c.n++
	c.messages = append(c.messages,
		fmt.Sprintf(`{"type":"function_call", "call_id":"t%d","name":"read","arguments":%s}`, c.n, quote(fmt.Sprintf(`{"path":"f%02d.txt"}`, c.n))),
		fmt.Sprintf(`{"type":"function_call_output", "call_id":"t%d","output":%s}`, c.n, quote(lines(length, c.n))))
}

func (c *caller) assemble(fields string) view {
	c.p.t.Helper()
	var v view
	res, raw := c.p.send("POST", "/assemble", c.body(fields), c.headers...)
	if res.StatusCode != http.StatusOK {
		c.p.t.Fatalf("assemble: %d %s", res.StatusCode, raw)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		c.p.t.Fatal(err)
	}
	if c.name == "" {
		c.edits = v.Edits
	}
	return v
}

var dialects = map[string]wire.Dialect{"anthropic": anthropic.Dialect{}, "chat": chat.Dialect{}, "responses": responses.Dialect{}}

// items returns the messages of a view, each as its bytes.
func (v view) items(t *testing.T) []string {
	t.Helper()
	b, err := wire.Parse(append(append([]byte(`{"list":`), v.Messages...), '}'), "list", nil)
	if err != nil || !b.HasList() {
		t.Fatalf("%.200s is no list: %v", v.Messages, err)
	}
	var out []string
	for i := range b.Items() {
		out = append(out, string(b.Item(i)))
	}
	return out
}

// valid reports breaches of the rules of the dialect.
func (v view) valid(t *testing.T) {
	t.Helper()
	d := dialects[v.Dialect]
	var msgs []precis.Message
	for _, item := range v.items(t) {
		m, err := d.Decode([]byte(item))
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	if b := d.Check(msgs); len(b) > 0 {
		t.Errorf("the view is not valid: %v", b)
	}
}

// TestAViewGrowsAtItsEndUntilSomethingIsDue: in each dialect, whether the gateway or
// the client keeps the edits, a view fits, is valid, begins with the bytes of the one
// before unless something was done, and has the messages that are not changed as they
// were sent.
func TestAViewGrowsAtItsEndUntilSomethingIsDue(t *testing.T) {
	for dialect := range dialects {
		for _, name := range []string{"", "ticket 4711"} {
			t.Run(dialect+" "+name, func(t *testing.T) {
				c := &caller{agent: start(t, openStore(t)).agent(dialect, "Read the files one by one. Never write to the disk."), name: name}
				before, acts, id := "", 0, ""
				for range 30 {
					v := c.assemble("")
					v.valid(t)
					if v.Dialect != dialect || v.List != dialects[dialect].List() || v.After > 20_000 || v.Window.Tokens != 20_000 {
						t.Fatalf("%s in %s, %d tokens of %+v", v.Dialect, v.List, v.After, v.Window)
					}
					now := strings.Join(v.items(t), "\n")
					if v.Acted {
						acts++
					} else if !strings.HasPrefix(now, before) {
						t.Fatalf("nothing was done, and the view begins otherwise\n%.3000s\n%.3000s", before, now)
					}
					if before = now; v.Changed != (len(v.Hidden) > 0) || v.Acted && v.Report.Retention == nil {
						t.Errorf("changed %v, hidden %v, retention %v", v.Changed, v.Hidden, v.Report.Retention)
					}
					items := v.items(t)
					if last := c.messages[len(c.messages)-1]; items[len(items)-1] != last || !v.Changed && !strings.Contains(c.body(""), string(v.Messages)) {
						t.Errorf("the bytes are others")
					}
					if name != "" {
						if id == "" {
							id = v.Conversation.ID
						}
						if v.Conversation.ID != id || v.Conversation.Name != name || len(v.Edits) > 0 {
							t.Errorf("conversation %+v, want %s", v.Conversation, id)
						}
					} else if v.Conversation.ID != "" || v.Changed && len(v.Edits) == 0 {
						t.Errorf("conversation %+v, %d edits", v.Conversation, len(v.Edits))
					}
					c.turn(120)
				}
				if acts < 2 || acts > 15 {
					t.Errorf("%d of 30 requests were reduced", acts)
				}
			})
		}
	}
}

// TestHandlesAreExpanded: what the view hides is read again, piece by piece, by the
// name of the conversation, also after a restart; and from the list itself.
func TestHandlesAreExpanded(t *testing.T) {
	st := openStore(t)
	p := start(t, st)
	c := &caller{agent: p.agent("chat", "Read."), name: "ticket"}
	var v view
	for range 14 {
		c.turn(120)
		v = c.assemble("")
	}
	if len(v.Hidden) == 0 {
		t.Fatal("nothing is hidden")
	}
	expanded := func(p *place, about string) {
		t.Helper()
		var all strings.Builder
		for offset := 0; ; {
			var r conversation.TextPiece
			p.post("/expand", fmt.Sprintf(`{"handle":"m2.b0","bytes":1000,"offset":%d,%s}`, offset, about), &r)
			all.WriteString(r.Text)
			if offset = r.Next; offset == 0 {
				break
			}
		}
		if !strings.Contains(all.String(), lines(120, 1)) {
			t.Errorf("m2 is %.300q", all.String())
		}
	}
	expanded(p, `"conversation":"ticket"`)
	expanded(p, `"conversation":"`+v.Conversation.ID+`"`)
	expanded(p, `"messages":[`+strings.Join(c.messages, ",")+`]`)
	p.settled()
	c.p = p.again(t, st)
	expanded(c.p, `"conversation":"ticket"`)
	again := c.assemble("")
	if again.Conversation.ID != v.Conversation.ID || !bytes.Equal(again.Messages, v.Messages) {
		t.Errorf("after a restart the conversation is %+v, %d bytes, want %+v, %d bytes", again.Conversation, len(again.Messages), v.Conversation, len(v.Messages))
	}
	var d conversation.Details
	c.p.get("/conversations/"+v.Conversation.ID, &d)
	if d.Hints["conversation"] != "ticket" || d.Requests == 0 {
		t.Errorf("the record is %+v", d.Record)
	}
}

// TestForksAndRewrittenHistories: the list decides which conversation it is, not what
// its client calls it.
func TestForksAndRewrittenHistories(t *testing.T) {
	p := start(t, openStore(t))
	c := &caller{agent: p.agent("anthropic", "Read."), name: "one"}
	c.turn(20)
	first := c.assemble("")
	c.turn(20)
	c.assemble("")
	fork := &caller{agent: p.agent("anthropic", "Read."), name: "one"}
	fork.messages = append(append([]string{}, c.messages[:3]...), `{"role":"assistant","content":"It is enough."}`, `{"role":"user","content":"And now?"}`)
	v := fork.assemble("")
	if v.Conversation.Match != "branched" || v.Conversation.ID == first.Conversation.ID {
		t.Errorf("a fork is %+v", v.Conversation)
	}
	var r conversation.TextPiece
	p.post("/expand", `{"handle":"m4","conversation":"one"}`, &r)
	if r.Conversation != v.Conversation.ID || !strings.Contains(r.Text, "And now?") {
		t.Errorf("the name is that of %+v", r)
	}
	c.name = v.Conversation.ID
	if w := c.assemble("").Warnings; len(w) != 1 || !strings.Contains(w[0], first.Conversation.ID) {
		t.Errorf("another's ID: %v", w)
	}
	// Edits whose messages have changed are left out, and said.
	e := &caller{agent: p.agent("anthropic", "Read.")}
	for len(e.edits) == 0 {
		e.turn(120)
		e.assemble("")
	}
	e.messages[2] = strings.Replace(e.messages[2], "line 3", "line three", 1)
	if w := e.assemble(""); len(w.Warnings) == 0 || !strings.Contains(w.Warnings[0], "left out") || w.After > 20_000 {
		t.Errorf("edits of other messages: %v", w.Warnings)
	}
}

// TestANoteThatIsSentOnce: a client that adds a note to the newest message, and leaves it
// out of the next request, keeps its edits, whoever remembers them.
func TestANoteThatIsSentOnce(t *testing.T) {
	for _, name := range []string{"", "notes"} {
		c := &caller{agent: start(t, openStore(t)).agent("chat", "Read. Never write."), name: name}
		acts, before := 0, ""
		for n := range 24 {
			c.turn(120)
			c.messages = append(c.messages, fmt.Sprintf(`{"role":"assistant","content":"Read %d."}`, n), "")
			question := fmt.Sprintf(`{"role":"user","content":"Go on with %d.NOTE"}`, n)
			last := len(c.messages) - 1
			c.messages[last] = strings.Replace(question, "NOTE", " <note>It is late.</note>", 1)
			v := c.assemble("")
			v.valid(t)
			c.messages[last] = strings.Replace(question, "NOTE", "", 1)
			items := v.items(t)
			if v.Acted {
				acts++
			} else if !strings.HasPrefix(strings.Join(items, "\n"), before) {
				t.Fatalf("%q: nothing was done, and the view begins otherwise", name)
			}
			before = strings.Join(items[:len(items)-1], "\n")
		}
		if acts < 2 || acts > 12 {
			t.Errorf("%q: %d of 24 requests were reduced", name, acts)
		}
	}
}

// TestNamesSeparateWhatSaysTheSame: two agents that are told the same have
// conversations of their own, also after a restart, and each keeps its ID.
func TestNamesSeparateWhatSaysTheSame(t *testing.T) {
	st := openStore(t)
	p := start(t, st)
	names := []string{"one", "two", "one"} // the third begins again
	ids := map[string]string{}
	for k, name := range names {
		c := &caller{agent: p.agent("chat", "Read."), name: name}
		before := ""
		for i := range 16 {
			if k == 1 && i == 9 {
				p.settled()
				p = p.again(t, st)
				c.p = p
			}
			c.turn(120)
			v := c.assemble("")
			now := strings.Join(v.items(t), "\n")
			if k < 2 && !v.Acted && !strings.HasPrefix(now, before) {
				t.Fatalf("%s: nothing was done, and the view begins otherwise", name)
			}
			if before = now; ids[name] == "" {
				ids[name] = v.Conversation.ID
			}
			if k < 2 && v.Conversation.ID != ids[name] {
				t.Fatalf("%s is %+v at request %d, was %s", name, v.Conversation, i, ids[name])
			}
		}
	}
	if ids["one"] == ids["two"] {
		t.Errorf("both are %s", ids["one"])
	}
}

// TestWhatIsAskedForIsDone: window, target, now, and the reduction by hand.
func TestWhatIsAskedForIsDone(t *testing.T) {
	p := start(t, nil)
	c := &caller{agent: p.agent("anthropic", "Read.")}
	for range 10 {
		c.turn(60)
	}
	if v := c.assemble(`,"window":1000000`); v.Changed || v.Window.Tokens != 1_000_000 || v.Window.Source != precis.SourceConfigured {
		t.Errorf("in a large window %v %+v", v.Changed, v.Window)
	}
	v := c.assemble(`,"window":1000000,"now":true,"target":4000`)
	if !v.Acted || v.After > 4000 || len(v.Edits) == 0 || v.Before < v.After {
		t.Errorf("now: %v, %d tokens of %d", v.Acted, v.After, v.Before)
	}
	if again := c.assemble(`,"window":1000000`); again.Acted || !bytes.Equal(again.Messages, v.Messages) {
		t.Error("the edits that are handed back do not give the same view")
	}
	if code, message := p.problem(400, "POST", "/assemble", c.body(`,"summarizer":"model"`)); code != "invalid" || !strings.Contains(message, "no model") {
		t.Errorf("%s %s", code, message)
	}
	if code, message := p.problem(400, "POST", "/assemble", c.body(`,"window":60`)); code != "over_budget" || !strings.Contains(message, "60") {
		t.Errorf("%s %s", code, message)
	}
}

// TestSummaries: compact, gate and digest, of a list and of a conversation.
func TestSummaries(t *testing.T) {
	p := start(t, nil)
	c := &caller{agent: p.agent("chat", "Read the files. Never touch the release branch."), name: "t"}
	for range 6 {
		c.turn(60)
	}
	c.assemble("")
	list := `"messages":[` + strings.Join(c.messages, ",") + `]`
	for _, about := range []string{list, `"conversation":"t"`} {
		var s conversation.Summarized
		p.post("/compact", `{"tokens":900,"focus":"setting_10",`+about+`}`, &s)
		if s.By != "digest" || s.Tokens > 900 || !strings.Contains(s.Text, "Never touch the release branch") || !strings.Contains(s.Text, "setting_10") || s.Retention.Rules != 1 {
			t.Errorf("compact: %+v", s)
		}
		if (s.Conversation == "") != (about == list) {
			t.Errorf("the conversation is %q", s.Conversation)
		}
		var g conversation.Gated
		p.post("/gate", `{"summary":"Some files were read.",`+about+`}`, &g)
		if !strings.HasPrefix(g.Text, "Some files were read.") || !strings.Contains(g.Text, "Never touch the release branch") || len(g.Added) == 0 || len(g.RulesLost) > 0 {
			t.Errorf("gate: %+v", g)
		}
		var d conversation.Digested
		p.post("/digest", `{"tokens":600,`+about+`}`, &d)
		if d.Tokens > 600 || !strings.Contains(d.Text, "f01.txt") || len(d.State.Files) != 6 {
			t.Errorf("digest: %+v", d)
		}
	}
}

// TestSummariesOfAModelPassTheGate: what it leaves out is added.
func TestSummariesOfAModelPassTheGate(t *testing.T) {
	w := &writer{}
	p := start(t, nil, withWriter(t, w), func(o *gateway.Options, _ *control.Options) {
		var err error
		if o.Summarizer, err = condense.NewWriter(condense.WriterConfig{Model: w}); err != nil {
			t.Fatal(err)
		}
	})
	c := &caller{agent: p.agent("chat", "Read the files. Never touch the release branch.")}
	for range 12 {
		c.turn(60)
	}
	var s conversation.Summarized
	p.post("/compact", c.body(`,"summarizer":"model","tokens":2000`), &s)
	if s.By != "model" || w.calls.Load() == 0 || !strings.Contains(s.Text, "release branch") {
		t.Errorf("%d calls: %+v", w.calls.Load(), s)
	}
	if v := c.assemble(`,"summarizer":"model","now":true`); !v.Acted || w.calls.Load() < 2 {
		t.Errorf("acted %v, %d calls", v.Acted, w.calls.Load())
	}
	if v := c.assemble(`,"now":true`); v.Report.CostUSD() > 0 {
		t.Error("a model was called unasked")
	}
}

func TestEnginesOwnersDoNotSeeEachOther(t *testing.T) {
	p := start(t, openStore(t), func(o *gateway.Options, _ *control.Options) {
		o.Auth.Keys = map[string]string{accounts.HashKey("ka"): "anna", accounts.HashKey("kb"): "bert", accounts.HashKey("root"): "chief"}
		o.Auth.Admins = map[string]bool{"chief": true}
	})
	anna, bert := []string{"X-Precis-Key", "ka"}, []string{"X-Precis-Key", "kb"}
	a := &caller{agent: p.agent("chat", "The same words of both.", anna...), name: "x"}
	b := &caller{agent: p.agent("chat", "The same words of both.", bert...), name: "y"}
	if one, two := a.assemble("").Conversation.ID, b.assemble("").Conversation.ID; one == two {
		t.Errorf("both are at %s", one)
	}
	p.problem(404, "POST", "/expand", `{"handle":"m0","conversation":"x"}`, bert...)
	p.want(200, "POST", "/expand", `{"handle":"m0","conversation":"x"}`, nil, anna...)
	p.want(200, "POST", "/expand", `{"handle":"m0","conversation":"x"}`, nil, "X-Precis-Key", "root")
	if code, _ := p.problem(401, "POST", "/assemble", a.body("")); code != "unauthorized" {
		t.Error(code)
	}
}

// TestDialectsAreGuessed by marks that only one of them has.
func TestDialectsAreGuessed(t *testing.T) {
	p := start(t, nil)
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"hi"}]}`:                                                       "chat",
		`{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}`:                                    "anthropic",
		`{"model":"claude-x","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`:    "chat",
		`{"system":"s","messages":[{"role":"user","content":"hi"}]}`:                                          "anthropic",
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}]}`:        "chat",
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{}}]}]}`:            "anthropic",
		`{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"a","input_schema":{}}]}`:              "anthropic",
		`{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"a"}}]}`: "chat",
		`{"input":[{"role":"user","content":"hi"}]}`:                                                          "responses",
		`{"dialect":"anthropic","messages":[{"role":"user","content":"hi"}]}`:                                 "anthropic",
	} {
		var v view
		if p.post("/assemble", body, &v); v.Dialect != want {
			t.Errorf("%s is %s, want %s", body, v.Dialect, want)
		}
	}
}

// TestWithoutUpstreams nothing is forwarded, and views are made.
func TestWithoutUpstreams(t *testing.T) {
	p := start(t, openStore(t), func(o *gateway.Options, _ *control.Options) { o.Upstreams, o.Local = nil, true })
	c := &caller{agent: p.agent("chat", "Read."), name: "x"}
	for range 14 {
		c.turn(120)
		c.assemble("")
	}
	p.post("/conversations/"+c.assemble("").Conversation.ID+"/condense", `{"target_tokens":3000}`, nil)
	if v := c.assemble(""); v.After > 5000 || v.Acted {
		t.Errorf("condensed by hand to %d tokens", v.After)
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/models", "/../x"} {
		res, err := http.Post(p.base+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}
