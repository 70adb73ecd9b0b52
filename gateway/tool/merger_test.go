package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// names are those of the tools in these tests.
var names = Names{"precis_recall", "precis_condense"}

// merged passes streams through a merger, in pieces of n bytes.
func merged(t *testing.T, dialect string, n int, streams ...string) (string, []*Answer) {
	t.Helper()
	var out bytes.Buffer
	m := NewMerger(dialect, &out, names)
	var answers []*Answer
	for i, s := range streams {
		if i > 0 {
			m.Next()
		}
		for len(s) > 0 {
			k := min(n, len(s))
			if _, err := m.Write([]byte(s[:k])); err != nil {
				t.Fatal(err)
			}
			s = s[k:]
		}
		a, err := m.End()
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	return out.String(), answers
}

// streams are streams without calls of the tool, by dialect.
var streams = map[string]string{
	"anthropic": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n" +
		": a comment\n\nevent: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n" +
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"precis_recall\"}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"read\",\"input\":{}}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":1}\n\n" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n" +
		"data: {\"type\":\"message_stop\"}\n\n",
	"chat": "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"precis_recall\"}}]}\n\n" +
		": keep alive\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]}}]}\n\n" +
		"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
	"responses": "data: {\"type\":\"response.created\",\"sequence_number\":7,\"response\":{}}\n\n" +
		"data: {\"type\":\"response.output_item.added\",\"sequence_number\":9,\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"r\"}}\n\n" +
		"data: {\"type\":\"response.output_item.done\",\"sequence_number\":3,\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"r\"}}\n\n" +
		": keep alive\n\ndata: {\"type\":\"keepalive\",\"sequence_number\":4}\n\n" +
		"data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"name\":\"read\"}}\n\n" +
		"data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":2}}}\n\n",
}

func TestWhatIsNotAboutTheToolPassesByteForByte(t *testing.T) {
	for dialect, s := range streams {
		for _, n := range []int{1, 2, 3, 7, 64, 1 << 20} {
			for cut := range len(s) {
				if n == 1 && cut%5 != 0 {
					continue
				}
				if got, a := merged(t, dialect, n, s[:cut]); got != s[:cut] || a[0].Due() {
					t.Fatalf("%s by %d: %q\nwant %q", dialect, n, got, s[:cut])
				}
			}
		}
	}
}

func TestSignedTextKeepsItsBytes(t *testing.T) {
	event := func(s string) string { return "data: " + s + "\n\n" }
	stream := event(`{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":2}}}}`) +
		event(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"A \ud83d"}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude00 \u0041\/"}}`) +
		event(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`) +
		event(`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"x\u0041"}}`) +
		event(`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":[]}}`) +
		event(`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"precis_recall","input":{}}}`) +
		event(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"handle\":"}}`) +
		event(`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"m1\"}"}}`) +
		event(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}}`) + event(`{"type":"message_stop"}`)
	_, answers := merged(t, "anthropic", 5, stream)
	if !answers[0].Due() {
		t.Fatal("not due")
	}
	got := answers[0].Append([]byte(`[]`), []Result{{Text: "text", Failed: true}})
	const want = `[{"role":"assistant","content":[{"type":"thinking","thinking":"A \ud83d\ude00 \u0041\/","signature":"c2ln"},{"type":"redacted_thinking","data":"x\u0041"},` +
		`{"type":"tool_use","id":"t","name":"precis_recall","input":{"handle":"m1"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"text","is_error":true}]}]`
	if string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	out, _ := merged(t, "anthropic", 5, stream, stream)
	if !strings.Contains(out, `"usage":{"input_tokens":6,"cache_creation":{"ephemeral_5m_input_tokens":4},"output_tokens":10}`) || !strings.Contains(out, `"index":5,`) {
		t.Error(out)
	}
}

// Some servers leave out the index of a call, tell everything in one chunk, or
// say "stop" when they call.
func TestChatServersThatDiffer(t *testing.T) {
	stream := `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Look.","tool_calls":[` +
		`{"id":"","type":"function","function":{"name":"precis_recall","arguments":"{\"search\":\"x\"}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":9,"cost":0.5}}` + "\n\ndata: [DONE]\n\n"
	out, answers := merged(t, "chat", 9, stream, strings.Replace(stream, "precis_recall", "read", 1))
	if !answers[0].Due() || answers[0].Calls[0].ID == "" || answers[1].Due() {
		t.Fatalf("%+v", answers)
	}
	messages := string(answers[0].Append([]byte(`[{"role":"user","content":"q"}]`), []Result{{Text: "text"}}))
	if !strings.Contains(messages, "thought_signature") || strings.Count(messages, answers[0].Calls[0].ID) != 2 || !json.Valid([]byte(messages)) {
		t.Error(messages)
	}
	if strings.Contains(out, "precis_recall") || strings.Count(out, "finish_reason\":\"stop") != 1 || strings.Count(out, "cost") != 1 || !strings.Contains(out, `"cost":1`) {
		t.Error(out)
	}
}

func TestWholeAnswersOfOtherKindsAreNone(t *testing.T) {
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		for _, body := range []string{"", "null", "[]", `{"error":{}}`, `{"type":"message","content":[}`, `{"choices":[{}]}`, `{"object":"response","output":7}`, "\xff"} {
			w := BodyMerger{Dialect: dialect, Names: names}
			if a := w.Add([]byte(body)); a.Due() || w.Bytes() != nil {
				t.Errorf("%s %s: %+v %s", dialect, body, a, w.Bytes())
			}
		}
	}
}

func TestOffer(t *testing.T) {
	tools := []Tool{{Name: "precis_recall", Description: "one", Schema: `{"type":"object"}`}, {Name: "precis_condense", Description: "two", Schema: `{"type":"object"}`}}
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		const read = ` [ {"name":"read"} ] `
		out := Offer([]byte(read), dialect, Available([]byte(read), tools))
		again := Offer([]byte(read), dialect, Available([]byte(read), tools))
		if !json.Valid(out) || !bytes.Equal(out, again) || !strings.HasPrefix(string(out), ` [ {"name":"read"} ,{`) {
			t.Errorf("%s", out)
		}
		one := Offer([]byte(read), dialect, tools[1:])
		if free := NamesOf(Available(one, tools)); len(free) != 1 || !free.has("precis_recall") {
			t.Errorf("%s: %v are free in %s", dialect, free, one)
		}
		for _, list := range []string{"", "null", "[]", "{}", "[", `[{"name":"read"},`, string(out)} {
			if free := Available([]byte(list), tools); len(free) > 0 {
				t.Errorf("%s: %v are free in %s", dialect, free, list)
			}
		}
	}
	if len(tools) != 2 || tools[0].Name != "precis_recall" {
		t.Errorf("what was given is changed: %v", tools)
	}
}

// A tool of the client that has a name of ours keeps its calls.
func TestOnlyTheNamedToolsAreOurs(t *testing.T) {
	for _, dialect := range []string{"anthropic", "chat", "responses"} {
		stream := strings.ReplaceAll(streams[dialect], `"read"`, `"precis_condense"`)
		var out bytes.Buffer
		m := NewMerger(dialect, &out, Names{"precis_recall"})
		_, _ = m.Write([]byte(stream))
		a, err := m.End()
		if err != nil || out.String() != stream || len(a.Calls) > 0 {
			t.Errorf("%s: %+v %s", dialect, a, out.String())
		}
		if _, answers := merged(t, dialect, 7, stream); len(answers[0].Calls) != 1 || answers[0].Calls[0].Name != "precis_condense" {
			t.Errorf("%s: %+v", dialect, answers[0])
		}
	}
}

// FuzzMerger: whatever comes, nothing panics; without a word of the tool it
// passes byte for byte; and what is cut otherwise comes out the same.
func FuzzMerger(f *testing.F) {
	for _, s := range streams {
		f.Add(s, s, 3)
		f.Add(strings.ReplaceAll(s, `"read"`, `"precis_recall"`), s, 5)
		f.Add(s[:len(s)/2], strings.ReplaceAll(s, "0", "-9999999999"), 1)
	}
	f.Add("data: {\"type\":\"content_block_start\"\n\r\rdata:\r\n\r\n\n", "data: []\n\ndata\n\n", 2)
	f.Fuzz(func(t *testing.T, first, second string, n int) {
		n = max(1, min(n, 1<<16))
		for _, dialect := range []string{"anthropic", "chat", "responses"} {
			if !strings.Contains(first, "recall") && !strings.Contains(first, `\u`) {
				if got, a := merged(t, dialect, n, first); got != first || a[0].Due() {
					t.Fatalf("%s: %q\nwant %q", dialect, got, first)
				}
			}
			a, answers := merged(t, dialect, n, first, second)
			b, _ := merged(t, dialect, len(first)+1, first, second)
			if a != b {
				t.Fatalf("%s by %d: %q\nwant %q", dialect, n, a, b)
			}
			for _, answer := range answers {
				if answer.Due() {
					if out := answer.Append([]byte("[]"), make([]Result, len(answer.Calls))); len(out) == 0 {
						t.Fatal("nothing to be sent")
					}
				}
			}
			w := BodyMerger{Dialect: dialect, Names: names}
			w.Add([]byte(first))
			w.Add([]byte(second))
			_ = w.Bytes()
			_ = Unmark([]byte(first))
			_ = Offer([]byte(first), dialect, Available([]byte(first), []Tool{{Name: "x", Schema: "{}"}}))
			_ = fmt.Sprint(sum([]byte(first), []byte(second)), latest([]byte(first), []byte(second)))
		}
	})
}
