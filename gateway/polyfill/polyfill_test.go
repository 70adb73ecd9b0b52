package polyfill_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/polyfill"
	"github.com/precis-dev/precis/internal/jsonspan"
)

func TestParseEditsReadsWhatTheSDKsSend(t *testing.T) {
	got, err := polyfill.ParseEdits(json.RawMessage(`{"edits":[
		{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":2}},
		{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000},"keep":{"type":"tool_uses","value":0},"clear_at_least":{"type":"input_tokens","value":5000},"exclude_tools":["web_search"],"clear_tool_inputs":["read"]},
		{"type":"compact_20260112","trigger":null,"instructions":"Be brief.","pause_after_compaction":true},
		{"type":"later_20300101","x":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Tools; c.Tokens != 30000 || c.Uses != 0 || c.Keep != 0 || c.AtLeast != 5000 || c.Exclude[0] != "web_search" || !c.ClearsInput("read") || c.ClearsInput("write") {
		t.Errorf("tools %+v", c)
	}
	if got.Thinking.Keep != 2 || *got.Compact != (polyfill.Compact{Tokens: 150_000, Instructions: "Be brief.", Pause: true}) || len(got.Order) != 4 {
		t.Errorf("got %+v", got)
	}
	if rest := string(got.Rest()); rest != `{"edits":[{"type":"later_20300101","x":1}]}` {
		t.Errorf("rest %s", rest)
	}
	got, err = polyfill.ParseEdits(json.RawMessage(`{"edits":[{"type":"clear_tool_uses_20250919"}]}`))
	if c := got.Tools; err != nil || c.Tokens != 100_000 || c.Keep != 3 || c.ClearsInput("read") || got.Rest() != nil {
		t.Errorf("defaults %+v %v", c, err)
	}
	for _, none := range []string{`{}`, `{"edits":null}`, `{"edits":[]}`} {
		if got, err := polyfill.ParseEdits(json.RawMessage(none)); err != nil || len(got.Order) != 0 {
			t.Errorf("%s: %+v %v", none, got, err)
		}
	}
}

func TestSummariesSurviveTheWay(t *testing.T) {
	for _, s := range []polyfill.Summary{{Text: "a"}, {Text: "Ünïcode\n\"x\" ]\n\n[End of the summary.]", Conversation: "c1", Messages: 7, Node: "ab"}} {
		if got, ok := polyfill.Unseal(s.Seal()); !ok || got != s {
			t.Errorf("%+v became %+v", s, got)
		}
		for _, here := range []bool{false, true} {
			if got, ok := polyfill.Unrender(s.Render(here)); !ok || got != s.Text {
				t.Errorf("%q became %q", s.Text, got)
			}
		}
	}
	for _, other := range []string{"", "gAAAA", "precis.v1.", "precis.v1.!!", "precis.v2.e30", "precis.v1.W10"} {
		if s, ok := polyfill.Unseal(other); ok {
			t.Errorf("%q is %+v", other, s)
		}
	}
}

// rewrite sends a stream in pieces through a rewriter.
func rewrite(change func([]byte) ([]byte, []byte), stream string, r *rand.Rand) string {
	var out bytes.Buffer
	w := polyfill.Rewriter{To: &out, Change: change}
	for rest := stream; rest != ""; {
		n := 1 + r.IntN(len(rest))
		if _, err := w.Write([]byte(rest[:n])); err != nil {
			panic(err)
		}
		rest = rest[n:]
	}
	_ = w.Close()
	return out.String()
}

func TestRewriterKeepsBytes(t *testing.T) {
	change := func(data []byte) (before, instead []byte) {
		switch string(data) {
		case "2":
			return []byte("event: new\ndata: 1.5\n\n"), nil
		case "3":
			return nil, []byte("three")
		}
		return nil, nil
	}
	r := rand.New(rand.NewPCG(1, 2))
	for stream, want := range map[string]string{
		"event: a\ndata: 1\n\nevent: b\ndata: 2\nid: 7\n\ndata:3\n\n": "event: a\ndata: 1\n\nevent: new\ndata: 1.5\n\nevent: b\ndata: 2\nid: 7\n\ndata:three\n\n",
		"data: 3\r\n\r\ndata: 4\r\n\r\n":                              "data: three\r\n\r\ndata: 4\r\n\r\n",
		"data: 3\r\rdata: 4\r\r":                                      "data: three\r\rdata: 4\r\r",
		": ping\n\n\n\ndata: 3":                                       ": ping\n\n\n\ndata: three",
		"data: 3\ndata: 3\n\n":                                        "data: 3\ndata: 3\n\n",
		"\n\n\n":                                                      "\n\n\n",
	} {
		for range 200 {
			if got := rewrite(change, stream, r); got != want {
				t.Fatalf("%q became %q, want %q", stream, got, want)
			}
		}
	}
}

func TestRewriterHoldsNothingBack(t *testing.T) {
	var out bytes.Buffer
	w := polyfill.Rewriter{To: &out, Change: func([]byte) ([]byte, []byte) { return nil, nil }}
	for _, event := range []string{"event: a\ndata: 1\n\n", ": sign\n\n", "data: 2\r\n\r\n"} {
		before := out.Len()
		_, _ = w.Write([]byte(event))
		if out.Len()-before != len(event) {
			t.Errorf("of %q %d bytes came", event, out.Len()-before)
		}
	}
	huge := "data: " + strings.Repeat("x", 20<<20)
	before := out.Len()
	_, _ = w.Write([]byte(huge))
	if out.Len()-before < 19<<20 {
		t.Error("an endless event is held")
	}
	_, _ = w.Write([]byte("\n\ndata: 3\n\n"))
	if !strings.HasSuffix(out.String(), "x\n\ndata: 3\n\n") {
		t.Errorf("after it came %q", out.Bytes()[out.Len()-20:])
	}
}

func TestAnswersKeepWhatIsNotTheirs(t *testing.T) {
	a := polyfill.Answer{ID: "x", Reports: true, Applied: []polyfill.Applied{{Type: polyfill.TypeClearTools, Count: 2, Tokens: 90}}}
	got := a.Message([]byte(`{ "type":"message", "content": [ {"type":"text","text":"\u0041"} ], "context_management":{"applied_edits":[{"type":"later"}]}, "usage":{"input_tokens":1}}`))
	want := `{ "type":"message", "content": [ {"type":"text","text":"\u0041"} ], "context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":2,"cleared_input_tokens":90},{"type":"later"}]}, "usage":{"input_tokens":1}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if a.Message([]byte(`{"type":"error"}`)) != nil || a.Response([]byte(`{"object":"response"}`)) != nil || polyfill.AddUneditedCount([]byte(`{}`), 2, 1) != nil {
		t.Error("what is no answer is changed")
	}
	if got := polyfill.AddUneditedCount([]byte(`{"input_tokens":100}`), 300, 200); string(got) != `{"input_tokens":100,"context_management":{"original_input_tokens":150}}` {
		t.Errorf("counted %s", got)
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":5},"clear_tool_inputs":["a"]},{"type":"compact_20260112"}]}`))
	f.Add([]byte(`{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":""},null,1]}`))
	f.Add([]byte(`[{"type":"compaction","compact_threshold":1000}]`))
	f.Add([]byte(`{"type":"compaction","content":null,"encrypted_content":"precis.v1.e30"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsonspan.Valid(raw) != nil {
			return // a body is checked before
		}
		var invalid *polyfill.InvalidError
		e, err := polyfill.ParseEdits(raw)
		if err != nil && (!errors.As(err, &invalid) || invalid.Param == "" || invalid.Message == "") {
			t.Fatalf("%s: %v", raw, err)
		}
		if c := e.Tools; err == nil && c != nil && (c.Keep < 0 || c.Tokens < 0 || c.Uses < 0 || c.Tokens+c.Uses == 0) {
			t.Fatalf("%s: %+v", raw, c)
		}
		if rest := e.Rest(); err == nil && rest != nil && jsonspan.Valid(rest) != nil {
			t.Fatalf("%s: rest %s", raw, rest)
		}
		if c, err := polyfill.ParseCompaction(raw); err != nil && !errors.As(err, &invalid) || err == nil && c != nil && c.Tokens < 0 {
			t.Fatalf("%s: %+v %v", raw, c, err)
		}
		for _, anthropic := range []bool{false, true} {
			if s, kind := polyfill.ReadCompaction(raw, anthropic); (kind == polyfill.Ours || kind == polyfill.Readable) && strings.TrimSpace(s.Text) == "" {
				t.Fatalf("%s: %s without a text", raw, kind)
			}
		}
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"usage\":{}}\n\n"))
	f.Add([]byte("data: {\"type\":\"response.output_item.added\",\"sequence_number\":2,\"output_index\":0}\r\n\r\ndata: {\"type\":\"response.completed\",\"sequence_number\":3,\"response\":{\"output\":[]}}\n\n"))
	f.Add([]byte(`{"type":"message","content":[],"usage":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := polyfill.Answer{ID: "x", Reports: true, Made: &polyfill.Summary{Text: "s"}, Usage: precis.Usage{Input: 1}}
		for _, out := range [][]byte{a.Message(raw), a.Response(raw), polyfill.AddUneditedCount(raw, 3, 2)} {
			if out != nil && jsonspan.Valid(raw) == nil && jsonspan.Valid(out) != nil {
				t.Fatalf("%s became %s", raw, out)
			}
		}
		r := rand.New(rand.NewPCG(1, uint64(len(raw))))
		none := func([]byte) ([]byte, []byte) { return nil, nil }
		if got := rewrite(none, string(raw), r); got != string(raw) {
			t.Fatalf("%q became %q", raw, got)
		}
		for range 3 {
			one := rewrite(a.MessageEvents(), string(raw), r)
			if other := rewrite(a.MessageEvents(), string(raw), r); one != other {
				t.Fatalf("%q: %q and %q", raw, one, other)
			}
			one = rewrite(a.ResponseEvents(), string(raw), r)
			if other := rewrite(a.ResponseEvents(), string(raw), r); one != other {
				t.Fatalf("%q: %q and %q", raw, one, other)
			}
		}
	})
}
