package jsonspan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/jsonspan"
)

func TestSpansAreTheExactBytes(t *testing.T) {
	raw := []byte(" [ 1.0 ,{\"a\" :\t[ ]}, \"x\\ud83d\" ]")
	want := []string{"1.0", "{\"a\" :\t[ ]}", `"x\ud83d"`}
	i := 0
	for s, err := range jsonspan.Array(raw) {
		if err != nil {
			t.Fatal(err)
		}
		if string(s.Raw) != want[i] || string(raw[s.Offset:s.Offset+len(s.Raw)]) != want[i] {
			t.Errorf("element %d: %q at %d", i, s.Raw, s.Offset)
		}
		i++
	}
	for m, err := range jsonspan.Object([]byte(`{"a\u0062": 7 }`)) {
		if err != nil || m.Name != "ab" || string(m.Raw) != "7" || m.Offset != 12 {
			t.Errorf("%+v %v", m, err)
		}
	}
}

func TestFaultsNameTheByte(t *testing.T) {
	for in, at := range map[string]int64{`{"a":}`: 5, `[1,2`: 4, ``: 0, `[1] 2`: 5, `{"a" 1}`: 5, "[\"a\x00\"]": 3} {
		var e *jsonspan.Error
		if err := jsonspan.Valid([]byte(in)); !errors.As(err, &e) || e.Offset != at {
			t.Errorf("%q: %v, want byte %d", in, err, at)
		}
	}
	if err := jsonspan.Valid([]byte(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))); err == nil {
		t.Error("a hundred thousand levels were taken")
	}
	for _, err := range jsonspan.Array([]byte(`{"a":1}`)) {
		if err == nil || !strings.Contains(err.Error(), "an object where an array is wanted") {
			t.Errorf("%v", err)
		}
	}
}

func TestStringsBecomeValidUTF8(t *testing.T) {
	for in, want := range map[string]string{`"a\nb"`: "a\nb", `"\ud83d"`: "\uFFFD", "\"a\xffb\"": "a\uFFFDb", `"😀"`: "😀"} {
		if got, ok := jsonspan.String([]byte(in)); !ok || got != want {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	if _, ok := jsonspan.String([]byte("7")); ok {
		t.Error("a number is no string")
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\u2028\xff")
	f.Fuzz(func(t *testing.T, s string) {
		raw := jsonspan.AppendString(nil, s)
		var std string
		if err := json.Unmarshal(raw, &std); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		back, ok := jsonspan.String(raw)
		if !ok || !utf8.ValidString(back) || utf8.ValidString(s) && back != s {
			t.Fatalf("%q → %s → %q", s, raw, back)
		}
	})
}

func FuzzValid(f *testing.F) {
	f.Add([]byte(`{"a":[1,"b",null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := jsonspan.Valid(data)
		if std := json.Valid(data); std && err != nil && !strings.Contains(err.Error(), "depth") {
			t.Fatalf("%q: %v, encoding/json takes it", data, err)
		}
		if err != nil {
			return
		}
		for range jsonspan.Array(data) {
		}
		for range jsonspan.Object(data) {
		}
	})
}
