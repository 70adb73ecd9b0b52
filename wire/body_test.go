package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

func parse(t testing.TB, raw string, prev *wire.Body) *wire.Body {
	t.Helper()
	b, err := wire.Parse([]byte(raw), "messages", prev)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return b
}

func TestParseFindsMembersAndItems(t *testing.T) {
	b := parse(t, ` { "model" : "m\u0031" ,"messages":[ {"a":[1,2]} , "x",3], "n":null,"z":{}} `, nil)
	if b.String("model") != "m1" || b.Get("n") != nil || b.Get("none") != nil || string(b.Get("z")) != "{}" {
		t.Errorf("members: %q %s %s", b.String("model"), b.Get("n"), b.Get("z"))
	}
	var items []string
	for i := range b.Items() {
		items = append(items, string(b.Item(i)))
	}
	if want := []string{`{"a":[1,2]}`, `"x"`, `3`}; !reflect.DeepEqual(items, want) {
		t.Errorf("items %q, want %q", items, want)
	}
	before, after := b.Around()
	if string(before) != ` { "model" : "m\u0031" ,"messages":` || string(after) != `, "n":null,"z":{}} ` {
		t.Errorf("around: %q %q", before, after)
	}
	for raw, list := range map[string]bool{`{}`: false, `{"messages":"hi"}`: false, `{"messages":[]}`: true, `{"messages":null}`: false} {
		if b := parse(t, raw, nil); b.HasList() != list || len(b.Items()) != 0 {
			t.Errorf("%s: list %v, items %v", raw, b.HasList(), b.Items())
		}
	}
}

func TestParseRefusesWhatIsNoObject(t *testing.T) {
	for raw, at := range map[string]int64{
		``: 0, `[]`: 0, `{`: 1, `{"a"}`: 4, `{"a":1,}`: 7, `{"a":1 "b":2}`: 7, `{"a":1}x`: 7, `{"messages":[1,]}`: 15,
		`{"messages":[1`: 14, `{"messages":[{"a":tru}]}`: 21, `{"a":1,"\u0061":2}`: 7, `{a:1}`: 1, `{"a":}`: 5, "{\"a\":\"\n\"}": 6,
	} {
		_, err := wire.Parse([]byte(raw), "messages", nil)
		var place *jsonspan.Error
		if !errors.As(err, &place) || place.Offset != at {
			t.Errorf("%q: %v, want an error at byte %d", raw, err, at)
		}
	}
}

// random makes a request body; grown bodies continue it as clients do: a few of
// the last messages change, others follow, and the rest may change or not.
func random(r *rand.Rand, items []string, tail int) string {
	space := func() string { return []string{"", "", " ", "\n "}[r.IntN(4)] }
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m",%s"messages"%s:[`, "", "")
	for i, it := range items {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(it)
	}
	b.WriteString(space() + "]")
	for i := range tail {
		fmt.Fprintf(&b, `,%s"t%d":%d`, space(), i, r.IntN(2))
	}
	return b.String() + space() + "}"
}

func TestParseContinues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var items []string
		for i := range r.IntN(6) {
			items = append(items, fmt.Sprintf(`{"i":%d,"s":"%s"}`, i, strings.Repeat("é", r.IntN(9))))
		}
		prev := parse(t, random(r, items, r.IntN(3)), nil)
		next := append([]string{}, items[:r.IntN(len(items)+1)]...)
		for range r.IntN(4) {
			next = append(next, fmt.Sprintf(`[%d, {"x":"]},{"}]`, r.IntN(3)))
		}
		raw := random(r, next, r.IntN(3))
		got, want := parse(t, raw, prev), parse(t, raw, nil)
		if fmt.Sprint(got.Items()) != fmt.Sprint(want.Items()) || got.HasList() != want.HasList() {
			t.Fatalf("%s after %s: items %v, want %v", raw, prev.Raw(), got.Items(), want.Items())
		}
		if got.Same() < min(len(items), len(next))-len(items) {
			t.Fatalf("same %d", got.Same())
		}
		for i := range 3 {
			name := fmt.Sprint("t", i)
			if !bytes.Equal(got.Get(name), want.Get(name)) {
				t.Fatalf("%s: %s is %s, want %s", raw, name, got.Get(name), want.Get(name))
			}
		}
		d, e := got.Draft(), want.Draft()
		d.Set("new", []byte("1"))
		e.Set("new", []byte("1"))
		if !bytes.Equal(d.Bytes(), e.Bytes()) {
			t.Fatalf("%s: drafts differ", raw)
		}
		if i := r.IntN(len(raw)); i > 0 { // cut anywhere: the same verdict
			_, err := wire.Parse([]byte(raw[:i]), "messages", prev)
			if err == nil {
				t.Fatalf("%s cut after %s is taken", raw[:i], prev.Raw())
			}
		}
	}
}

func TestSameCountsWhatIsByteForByteTheSame(t *testing.T) {
	prev := parse(t, `{"messages":[{"a":1},{"b":2},{"c":3}],"tools":[1]}`, nil)
	for raw, same := range map[string]int{
		`{"messages":[{"a":1},{"b":2},{"c":3},{"d":4}],"tools":[1]}`: 3,
		`{"messages":[{"a":1},{"b":9},{"c":3},{"d":4}],"tools":[1]}`: 1,
		`{"messages":[{"a":1},{"b":2}],"tools":[2]}`:                 2,
		`{"messages":[{"x":1},{"b":2}],"tools":[2]}`:                 0,
		`{"model":1,"messages":[{"a":1}]}`:                           0,
	} {
		if b := parse(t, raw, prev); b.Same() != same {
			t.Errorf("%s: %d, want %d", raw, b.Same(), same)
		}
	}
}

func TestDraftChangesNothingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		raw, want := "{ ", map[string]any{}
		for i := range r.IntN(5) {
			if i > 0 {
				raw += " ,\t"
			}
			raw += fmt.Sprintf(`"k%d" : [ %d ]`, i, i)
			want[fmt.Sprint("k", i)] = []any{float64(i)}
		}
		raw += "\n}"
		b := parse(t, raw, nil)
		d := b.Draft()
		for range r.IntN(5) {
			name := fmt.Sprint("k", r.IntN(6))
			if r.IntN(2) == 0 {
				d.Remove(name)
				delete(want, name)
			} else {
				d.Set(name, []byte(`"new"`))
				want[name] = "new"
			}
		}
		var got map[string]any
		if err := json.Unmarshal(d.Bytes(), &got); err != nil || !maps.EqualFunc(got, want, func(a, b any) bool { return reflect.DeepEqual(a, b) }) {
			t.Fatalf("%s became %s (%v), want %v", raw, d.Bytes(), err, want)
		}
		if !d.Changed() && string(d.Bytes()) != raw {
			t.Fatalf("%s became %s", raw, d.Bytes())
		}
	}
}

func TestDraftKeepsBytes(t *testing.T) {
	d := parse(t, "\n{ \"a\" :\t1 ,\"b\": [ ] , \"\\u0063\":2 , \"d\" : \"\\/\" }\r\n", nil).Draft()
	d.Set("c", []byte("3"))
	d.Remove("b")
	if got, want := string(d.Bytes()), "\n{ \"a\" :\t1 , \"\\u0063\":3 , \"d\" : \"\\/\" }\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"a":1},{"b":2}],"tools":[]}`), []byte(`{"model":"m","messages":[{"a":1},{"b":2},{"c":3}],"tools":[]}`))
	cut := []byte(`{"messages":[{"a":2}],"tools":[]}ols":[]}`) // more text after the object: a body that nothing may be taken over from
	f.Add(cut, cut)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		prev, err := wire.Parse(first, "messages", nil)
		if (err == nil) != (jsonspan.Valid(first) == nil && jsonspan.Kind(first) == '{') && !strings.Contains(fmt.Sprint(err), "twice") {
			t.Fatalf("%q: %v", first, err)
		}
		want, wantErr := wire.Parse(second, "messages", nil)
		got, err := wire.Parse(second, "messages", prev)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q after %q: %v, want %v", second, first, err, wantErr)
		}
		if err == nil && fmt.Sprint(got.Items()) != fmt.Sprint(want.Items()) {
			t.Fatalf("%q after %q: %v, want %v", second, first, got.Items(), want.Items())
		}
	})
}

func big(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m","messages":[`)
	line := strings.Repeat(`\tif err != nil { return fmt.Errorf(\"read %s: %w\", name, err) }\n`, 20)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, i, line)
	}
	b.WriteString(`],"system":"` + strings.Repeat("rules ", 4000) + `"}`)
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	first, second := big(700), big(702)
	prev, err := wire.Parse(first, "messages", nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, prev := range map[string]*wire.Body{"cold": nil, "warm": prev} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(second)))
			for b.Loop() {
				if _, err := wire.Parse(second, "messages", prev); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
