package jsonedit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/jsonedit"
)

func parse(t *testing.T, text string) *jsonedit.Doc {
	t.Helper()
	d, err := jsonedit.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

// What was there keeps its bytes, whatever it looks like.
func TestSet(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"nothing", "", "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}"},
		{"one line", `{"x":[1,2]}`, `{"x":[1,2],"a":{"b":{"c":1}}}`},
		{"tabs and CRLF", "{\r\n\t\"x\": 1\r\n}\r\n", "{\r\n\t\"x\": 1,\r\n\t\"a\": {\r\n\t\t\"b\": {\r\n\t\t\t\"c\": 1\r\n\t\t}\r\n\t}\r\n}\r\n"},
		{"a comment behind the last", "{\n  \"x\": 1 // why\n}\n", "{\n  \"x\": 1, // why\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}\n"},
		{"a trailing comma", "{\n  \"x\": 1,\n}\n", "{\n  \"x\": 1,\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  },\n}\n"},
		{"a part of the way", "{\n  // mine\n  \"a\": {\"z\": 0},\n  \"y\": 2\n}", "{\n  // mine\n  \"a\": {\"z\": 0,\n    \"b\": {\n      \"c\": 1\n    }\n  },\n  \"y\": 2\n}"},
		{"a comment alone", "{\n  // nothing yet\n}\n", "{\n  // nothing yet\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}\n"},
		{"a value that changes", "{\"a\":{\"b\":{\"c\" : 7 /* was */}}}", "{\"a\":{\"b\":{\"c\" : 1 /* was */}}}"},
		{"a mark", "\xef\xbb\xbf{\"a\":{\"b\":{}}}", "\xef\xbb\xbf{\"a\":{\"b\":{\"c\":1}}}"},
	}
	for _, test := range tests {
		d := parse(t, test.before)
		if err := d.Set(1, "a", "b", "c"); err != nil {
			t.Fatal(test.name, err)
		}
		got := string(d.Bytes())
		if got != test.after {
			t.Errorf("%s:\n%q, want\n%q", test.name, got, test.after)
		}
		if again := parse(t, got); string(again.Get("a", "b", "c")) != "1" {
			t.Errorf("%s: not read back", test.name)
		}
	}
}

func TestAppendAndRemove(t *testing.T) {
	for _, before := range []string{
		"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"mine\": true} // keep\n    ]\n  }\n}\n",
		"{\"hooks\":{\"Stop\":[]}}",
		"{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t1,\n\t\t]\n\t}\n}",
	} {
		d := parse(t, before)
		for range 2 {
			if err := d.Append(map[string]string{"command": "precis hook"}, "hooks", "Stop"); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Set("on", "hooks", "Other"); err != nil {
			t.Fatal(err)
		}
		d = parse(t, string(d.Bytes()))
		var list []json.RawMessage
		was := parse(t, before)
		var had []json.RawMessage
		if json.Unmarshal(d.Get("hooks", "Stop"), &list) != nil || json.Unmarshal(was.Get("hooks", "Stop"), &had) != nil || len(list) != len(had)+2 {
			t.Errorf("%q becomes %q", before, d.Bytes())
		}
		ours := func(e json.RawMessage) bool { return strings.Contains(string(e), "precis hook") }
		if n := d.RemoveIf(ours, "hooks", "Stop"); n != 2 {
			t.Errorf("%d are removed of %q", n, d.Bytes())
		}
		if !d.Remove("hooks", "Other") || d.Remove("hooks", "Other") || d.Remove("nothing", "there") {
			t.Errorf("%q: removed twice, or not", d.Bytes())
		}
		after := parse(t, string(d.Bytes()))
		if string(after.Get()) != string(was.Get()) {
			t.Errorf("%q was %q", after.Bytes(), before)
		}
		if strings.Contains(before, "keep") != strings.Contains(string(d.Bytes()), "// keep") {
			t.Errorf("a comment is lost: %q", d.Bytes())
		}
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"[1]":           "no JSON object",
		"{\n  \"a\": }": "line 2",
		"{\"a\":1":      "line 1",
	} {
		if _, err := jsonedit.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	d := parse(t, `{"a":[1],"b":{"c":2}}`)
	if err := d.Set(1, "a", "b"); err == nil || !strings.Contains(err.Error(), "a is no object") {
		t.Error(err)
	}
	if err := d.Append(1, "b"); err == nil || !strings.Contains(err.Error(), "b is no array") {
		t.Error(err)
	}
}

// Of equal names the last one counts, as programs read it.
func TestEqualNames(t *testing.T) {
	d := parse(t, `{"a":{"x":1},"a":{"y":2}}`)
	if err := d.Set(3, "a", "z"); err != nil || string(d.Bytes()) != `{"a":{"x":1},"a":{"y":2,"z":3}}` {
		t.Errorf("%s, %v", d.Bytes(), err)
	}
}

func FuzzEdit(f *testing.F) {
	for _, seed := range []string{"", "{}", "{\"a\":1,}", "// x\n{\r\n \"hooks\":{\"Stop\":[1,//c\n]}}", `{"hooks":{"Stop":{}}}`, "{/**/}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := jsonedit.Parse([]byte(text))
		if err != nil {
			return
		}
		if strings.TrimSpace(strings.TrimPrefix(text, "\xef\xbb\xbf")) != "" && string(d.Bytes()) != text {
			t.Fatalf("%q is read as %q", text, d.Bytes())
		}
		if d.Get("new") != nil || d.Get("hooks") != nil && d.Append(1, "hooks", "Stop") != nil {
			return
		}
		if err := d.Set(map[string]any{"k": []int{1}}, "new"); err != nil {
			t.Fatal(err)
		}
		if err := d.Append("ours", "hooks", "Stop"); err != nil {
			return // hooks is something else
		}
		again, err := jsonedit.Parse(d.Bytes())
		if err != nil || string(again.Get("new")) != `{"k":[1]}` || !strings.Contains(string(again.Get("hooks", "Stop")), "ours") {
			t.Fatalf("%q becomes %q: %v", text, d.Bytes(), err)
		}
	})
}

func TestPathsThroughArrays(t *testing.T) {
	d, err := jsonedit.Parse([]byte("{\"a\": [{\"b\": [1, 2]} /* x */, 3]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(d.Get("a", "0", "b", "1")); got != "2" {
		t.Errorf("it is %s", got)
	}
	for _, path := range [][]string{{"a", "2"}, {"a", "-1"}, {"a", "x"}, {"a", "1", "b"}} {
		if got := d.Get(path...); got != nil {
			t.Errorf("%q is %s", path, got)
		}
	}
	d.RemoveIf(func(v json.RawMessage) bool { return string(v) == "1" }, "a", "0", "b")
	if got, want := string(d.Bytes()), "{\"a\": [{\"b\": [ 2]} /* x */, 3]}\n"; got != want {
		t.Errorf("it is %q, want %q", got, want)
	}
}

// What was on one line, in a document of many, is so again.
func TestOneLineAgain(t *testing.T) {
	for _, text := range []string{
		"{\n  \"a\": [1, 2]\n}\n", "{\n  \"a\": [1, 2] // x\n}\n", "{\n\t\"a\": [{\"b\": 1}],\n\t\"c\": {\"d\": 1}\n}\n", "{\n  \"a\": [\n    1, 2\n  ]\n}\n",
	} {
		d, err := jsonedit.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Append("ours", "a"); err != nil {
			t.Fatal(err)
		}
		if err := d.Set("ours", "c", "ours"); err != nil {
			t.Fatal(err)
		}
		d.RemoveIf(func(v json.RawMessage) bool { return string(v) == `"ours"` }, "a")
		d.Remove("c", "ours")
		for _, name := range []string{"a", "c"} {
			if v := string(d.Get(name)); v == "[]" || v == "{}" {
				d.Remove(name)
			}
		}
		if got := string(d.Bytes()); got != text {
			t.Errorf("it is %q, want %q", got, text)
		}
	}
}
