package overflow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func Example() {
	body := `{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9216 tokens (8192 in the messages, 1024 in the completion)."}}`
	if o, ok := Classify(400, []byte(body)); ok {
		fmt.Printf("the window has %d tokens, the input %d\n", o.Limit, o.Used)
	}
	// Output: the window has 8192 tokens, the input 8192
}

func TestTexts(t *testing.T) {
	for _, c := range tooLong {
		o, ok := Classify(c.status, []byte(c.body))
		if !ok || o.Limit != c.limit || o.Used != c.used || o.Bytes && c.limit+c.used > 0 {
			t.Errorf("%s: %v %+v, want limit %d, used %d\n%s", c.provider, ok, o, c.limit, c.used, c.body)
		}
	}
	for _, c := range tooLarge {
		if o, ok := Classify(c.status, []byte(c.body)); !ok || o != (Overflow{Bytes: true}) {
			t.Errorf("%s: %v %+v, want one of bytes\n%s", c.provider, ok, o, c.body)
		}
	}
	for _, c := range lookAlikes {
		if o, ok := Classify(c.status, []byte(c.body)); ok {
			t.Errorf("%s: %+v, want none\n%s", c.provider, o, c.body)
		}
	}
	t.Logf("%d overflows of the window, %d of bytes, %d look-alikes", len(tooLong), len(tooLarge), len(lookAlikes))
}

// TestShapes wraps one error in everything that errors come wrapped in.
func TestShapes(t *testing.T) {
	const message = `prompt is too long: 213462 tokens > 200000 maximum`
	inner := `{"type":"error","error":{"type":"invalid_request_error","message":"` + message + `"}}`
	nested := inner
	for range 3 {
		nested = `{"error":{"message":` + quote(nested) + `}}`
	}
	shapes := map[string]string{
		"plain text":           message,
		"member error":         `{"error":"` + message + `"}`,
		"list":                 `[{"error":{"message":"` + message + `"}}]`,
		"errors":               `{"success":false,"errors":[{"code":1,"message":"` + message + `"}]}`,
		"detail":               `{"detail":[{"loc":["body"],"msg":"` + message + `","type":"value_error"}]}`,
		"string in string":     nested,
		"prefix":               "error: " + inner,
		"status and prefix":    "400 Bad Request: " + inner,
		"python":               `Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': '` + message + `', 'param': None}}`,
		"python bytes":         `b'` + inner + `'`,
		"javascript":           `{ error: { message: '` + message + `' } }`,
		"markup":               "<html><body><h1>400</h1><p>" + message + "</p></body></html>",
		"truncated":            inner[:strings.Index(inner, "maximum")+7],
		"invalid UTF-8":        "{\"error\":{\"message\":\"\xff\xfe " + message + "\"}}",
		"byte order mark":      "\xef\xbb\xbf" + inner,
		"a long request first": `{"detail":[{"input":"` + strings.Repeat("lorem ipsum ", 1<<18) + `"}],"error":{"message":"` + message + `"}}`,
		"a long trace after":   `{"error":{"message":"` + message + `"},"trace":"` + strings.Repeat("at line 1\\n", 1<<18) + `"}`,
	}
	for name, body := range shapes {
		for _, status := range []int{400, 413, 500} {
			if o, ok := Classify(status, []byte(body)); !ok || o != (Overflow{Limit: 200000, Used: 213462}) {
				t.Errorf("%s with status %d: %v %+v\n%.300s", name, status, ok, o, body)
			}
		}
		for _, status := range []int{402, 429} {
			if _, ok := Classify(status, []byte(body)); ok {
				t.Errorf("%s with status %d is an overflow", name, status)
			}
		}
	}
	for _, event := range []string{inner, "data: " + inner, "event: error\ndata: " + inner + "\n\n", "error: " + inner} {
		for _, status := range []int{0, 200} {
			if _, ok := Classify(status, []byte(event)); !ok {
				t.Errorf("status %d: %s is none", status, event)
			}
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestAnswersAreNone: what a model writes about overflows is no overflow.
func TestAnswersAreNone(t *testing.T) {
	for _, c := range tooLong {
		if c.body == "" {
			continue
		}
		for _, answer := range []string{
			`{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":` + quote(c.body) + `},"finish_reason":"stop"}],"error":null}`,
			`{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":` + quote(c.body) + `}],"stop_reason":"end_turn"}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + quote(c.body) + `}}`,
			`{"type":"response.output_text.delta","item_id":"a","delta":` + quote(c.body) + `}`,
			`{"candidates":[{"content":{"parts":[{"text":` + quote(c.body) + `}],"role":"model"},"finishReason":"STOP"}]}`,
			`{"model":"m","response":` + quote(c.body) + `,"done":true}`,
		} {
			for _, body := range []string{answer, "data: " + answer + "\n\n"} {
				if o, ok := Classify(200, []byte(body)); ok {
					t.Errorf("%+v of an answer\n%s", o, body)
				}
			}
		}
		refused := `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":{"messages":[{"role":"user","content":` + quote(c.body) + `}]}}]}`
		if o, ok := Classify(422, []byte(refused)); ok {
			t.Errorf("%+v of the request's own words\n%s", o, refused)
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, table := range [][]text{tooLong, tooLarge, lookAlikes} {
		for _, c := range table {
			f.Add(c.status, []byte(c.body))
		}
	}
	f.Add(400, []byte(strings.Repeat(`{"a":[`, 100)))
	f.Add(400, []byte(`{\"a\":{\'b\':"\u12`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		o, ok := Classify(status, body)
		if !ok && o != (Overflow{}) {
			t.Errorf("%+v of no overflow", o)
		}
		if o.Limit < 0 || o.Used < 0 || o.Bytes && o.Limit+o.Used > 0 {
			t.Errorf("%+v", o)
		}
		if again, same := Classify(status, body); again != o || same != ok {
			t.Errorf("%+v, then %+v", o, again)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	for name, c := range map[string]text{
		"error":  {status: 400, body: tooLong[15].body},
		"answer": {status: 200, body: `{"id":"1","choices":[{"message":{"role":"assistant","content":"` + strings.Repeat("lorem ipsum ", 5000) + `"}}]}`},
		"delta":  {status: 200, body: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lorem"}}`},
		"page":   {status: 502, body: "<html>" + strings.Repeat("<p>lorem ipsum prompt tokens 1234</p>", 20000) + "</html>"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Classify(c.status, []byte(c.body))
			}
		})
	}
}
