package jsonspan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/jsonspan"

	"pgregory.net/rapid"
)

func stringsOf(raw string) (out []string) {
	for name, s := range jsonspan.Strings([]byte(raw)) {
		out = append(out, name+"="+s)
	}
	return out
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{`{"a":"x","b":{"c":"y","d":[1,"z",{"e":2.50}]},"f":"w"}`, "a=x c=y d=1 d=z e=2.50 f=w"},
		{`{"a":[{"b":"x"},"y",["z"]],"c":"v"}`, "b=x a=y a=z c=v"},
		{`["x",["y"],{}]`, "=x =y"},
		{`"bare"`, "=bare"},
		{`-1.5e3`, "=-1.5e3"},
		{`"one" "two"`, "=one"},
		{`{"a\u0062":"\ud83d\ude00\n\/"}`, "ab=😀\n/"},
		{`{"a":true,"b":null,"c":false,"":"empty name"}`, "=empty name"},
		{`{"same":"1","same":"2"}`, "same=1 same=2"},
		{`{"a":"x","b":`, "a=x"},
		{`{"a":"x" "b":"y"}`, "a=x"},
		{`null`, ""}, {`[]`, ""}, {``, ""}, {`nonsense`, ""},
	} {
		if got := strings.Join(stringsOf(tt.raw), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.raw, got, tt.want)
		}
	}
}

func TestStringsStopWhenTold(t *testing.T) {
	n := 0
	for range jsonspan.Strings([]byte(`{"a":"x","b":["y","z"]}`)) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d strings", n)
	}
}

// standard returns what Strings should, read by encoding/json.
func standard(t interface{ Fatalf(string, ...any) }, raw []byte) (out []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	token := func() json.Token {
		v, err := d.Token()
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return v
	}
	var value func(name string)
	value = func(name string) {
		switch v := token().(type) {
		case json.Delim:
			for d.More() {
				if member := name; v == '{' {
					member = token().(string)
					value(member)
				} else {
					value(name)
				}
			}
			token()
		case string, json.Number:
			out = append(out, fmt.Sprintf("%s=%s", name, v))
		}
	}
	value("")
	return out
}

func anyJSON(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Bool().AsAny(), rapid.Just(any(nil)),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := anyJSON(depth - 1)
	return rapid.OneOf(append(scalars, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())...)
}

func TestStringsMatchEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyJSON(3).Draw(t, "value")
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indent") {
			raw, _ = json.MarshalIndent(v, " ", "\t")
		}
		if got, want := stringsOf(string(raw)), standard(t, raw); !slices.Equal(got, want) {
			t.Fatalf("%s:\n got %q\nwant %q", raw, got, want)
		}
	})
}

func FuzzStrings(f *testing.F) {
	for _, s := range []string{`{"a":["x",1,{"b":null}]}`, `{"a":"x`, `[[[`, "\"\xff\"", `{"":{"":""}}`, strings.Repeat("[", 20_000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := stringsOf(raw)
		if !json.Valid([]byte(raw)) || strings.Contains(raw, `\u`) { // lone surrogates
			return
		}
		if jsonspan.Valid([]byte(raw)) != nil {
			return
		}
		if want := standard(t, []byte(raw)); !slices.Equal(got, want) {
			t.Fatalf("%q:\n got %q\nwant %q", raw, got, want)
		}
	})
}
