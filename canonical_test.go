package precis

import (
	"bytes"
	"strings"
	"testing"
)

func written(t testing.TB, raw []byte) (string, bool) {
	c, ok := canonicalOf(raw)
	if !ok {
		return "", false
	}
	var b bytes.Buffer
	n := c.size()
	c.to(func(p []byte) { b.Write(p) })
	if b.Len() != n {
		t.Fatalf("%d bytes are announced, %d written", n, b.Len())
	}
	return b.String(), true
}

// What is written in pieces is what encoding/json writes: fingerprints that are stored stay.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		``, ` `, `1`, `-0.0e+5`, `"a"`, `[]`, `{}`, ` { } `, `[ 1 , 2.50 , [ ] , { } ]`, `{"b":1,"a":{"d":[{"z":1,"y":2}],"c":null}}`, `{"a":1,"a":{"x":1},"a":2}`,
		`{"cache_control":{"type":"x"},"a":{"cache_control":1},"prompt_cache_breakpoint":true}`, `{"\u0061":1,"a":2,"b\"":3}`, `"\u003c<>&\u2028\u2029\b\f\n\r\t\u0000\u001f\/\\\""`,
		`"\ud83d\ude00 \ud83d \ude00 \ud83dx \ud83d\u0041 \uDBFF\uDFFF"`, "\"\xff\xe2\x82 \xed\xa0\x80 \u2028 é世🚀\x7f\"", "{\"\xff\":1,\"\\ufffd\":2}", `{"a":1} trailing`, `{"a":`, `12 34`,
		`{"long":"` + strings.Repeat("x", 5000) + `é` + strings.Repeat(`\"`, 3000) + `"}`, strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat(`{"a":`, 300) + `1` + strings.Repeat("}", 300),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := written(t, raw)
		if !ok {
			return
		}
		if want := string(canonicalJSON(raw)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", raw, got, want)
		}
	})
}

// A tool input costs no multiple of its bytes when it is hashed.
func TestHashingCopiesNoInput(t *testing.T) {
	raw := []byte(`{"command":"` + strings.Repeat(`line\n<é>`, 100_000) + `"}`)
	per := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			HashBlock(ToolUse{ID: "1", Name: "bash", Input: raw})
		}
	}).AllocedBytesPerOp()
	if per > int64(len(raw)/4) {
		t.Errorf("%d bytes are allocated for an input of %d", per, len(raw))
	}
}
