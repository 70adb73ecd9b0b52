package yamledit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis/internal/yamledit"
)

const file = `# mine
threshold:   60   # percent
preset: "balanced"
keep:             # what stays
    messages: 4
    share: 'it''s'

    # more
profiles: {a: 50, "b c": -1}   # by model
rungs:
- prune
- clip
name: &n é ö      # anchored
other: *n
# the end
`

func TestSetChangesOneValue(t *testing.T) {
	for _, tt := range []struct {
		path     string
		value    yamledit.Value
		old, new string
	}{
		{"threshold", yamledit.Text("75.5"), "60   # percent", "75.5   # percent"},
		{"preset", yamledit.Text("off"), `"balanced"`, "off"},
		{"preset", yamledit.Text(""), `"balanced"`, `""`},
		{"preset", yamledit.Text("null"), `"balanced"`, `"null"`},
		{"preset", yamledit.Text("a: b # \"c\"\n"), `"balanced"`, `"a: b # \"c\"\n"`},
		{"keep/messages", yamledit.Text("12"), "messages: 4", "messages: 12"},
		{"keep/share", yamledit.Text("0.2"), "'it''s'", "0.2"},
		{"keep/first", yamledit.Text("2"), "'it''s'\n", "'it''s'\n    first: 2\n"},
		{"profiles/a", yamledit.Text("51"), "a: 50", "a: 51"},
		{"profiles/b c", yamledit.Text("7"), "-1}", "7}"},
		{"profiles/x:y", yamledit.Text("-1"), "-1}", `-1, "x:y": -1}`},
		{"rungs", yamledit.List("clip", "x=last:3"), "rungs:\n- prune\n- clip", `rungs: [clip, "x=last:3"]`},
		{"name", yamledit.Text("z"), "&n é ö", "&n z"},
		{"other", yamledit.Text("z"), "*n", "z"},
		{"warn", yamledit.Text("5"), "other: *n\n", "other: *n\nwarn: 5\n"},
		{"room/turns", yamledit.Text("5"), "other: *n\n", "other: *n\nroom:\n    turns: 5\n"},
	} {
		for _, ends := range []string{"\n", "\r\n"} {
			for _, mark := range []string{"", "\xef\xbb\xbf"} {
				text := func(s string) string { return mark + strings.ReplaceAll(s, "\n", ends) }
				got, err := yamledit.Set([]byte(text(file)), tt.value, strings.Split(tt.path, "/")...)
				if err != nil {
					t.Errorf("%s: %v", tt.path, err)
					continue
				}
				want := strings.Replace(file, tt.old, tt.new, 1)
				if tt.new == `"a: b # \"c\"\n"` { // whose end is an escape, not a line's
					want = strings.Replace(file, tt.old, `"a: b # \"c\"\n"`, 1)
				}
				if d := cmp.Diff(text(want), string(got)); d != "" || want == file {
					t.Errorf("%s:\n%s", tt.path, d)
				}
			}
		}
	}
}

func TestRemoveTakesOneKey(t *testing.T) {
	for _, tt := range []struct{ path, in, want string }{
		{"a", "# x\na: 1 # one\nb: 2\n", "# x\nb: 2\n"},
		{"a/b", "a: # c\n  # d\n  b: 1\ne: 2\n", "a: {} # c\n  # d\ne: 2\n"},
		{"a/b", "a:\n  b: 1\n  c: 2", "a:\n  c: 2"},
		{"a/c", "a:\n  b: 1\n  c: 2", "a:\n  b: 1\n"},
		{"a/b", "a: {b: 1, c: 2}\n", "a: {c: 2}\n"},
		{"a/c", "a: {b: 1, c: 2} # d\n", "a: {b: 1} # d\n"},
		{"a/b", "a: { b: 1, }\n", "a: { }\n"},
		{"a", "a:\n  - 1\n  # x\n  - 2 # y\nb: 1\n", "b: 1\n"},
		{"z", "a: 1\n", "a: 1\n"},
		{"a/z", "a: {}\n", "a: {}\n"},
	} {
		got, err := yamledit.Remove([]byte(tt.in), strings.Split(tt.path, "/")...)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s of %q: %q, %v", tt.path, tt.in, got, err)
		}
	}
}

func TestGet(t *testing.T) {
	for _, tt := range []struct {
		in, path string
		want     yamledit.Found
	}{
		{file, "threshold", yamledit.Found{There: true, Text: "60"}},
		{file, "keep/share", yamledit.Found{There: true, Text: "it's"}},
		{file, "profiles/b c", yamledit.Found{There: true, Text: "-1"}},
		{file, "keep", yamledit.Found{There: true}},
		{file, "rungs", yamledit.Found{There: true}},
		{file, "keep/none", yamledit.Found{}},
		{file, "threshold/none", yamledit.Found{}},
		{"", "a", yamledit.Found{}},
		{"# c\n", "a/b", yamledit.Found{}},
		{"a: {}\n", "a", yamledit.Found{There: true, Empty: true}},
		{"a: []\n", "a", yamledit.Found{There: true, Empty: true}},
		{"a:\nb: null\n", "a", yamledit.Found{There: true}},
	} {
		if got, err := yamledit.Get([]byte(tt.in), strings.Split(tt.path, "/")...); err != nil || got != tt.want {
			t.Errorf("%s of %.10q: %+v, %v", tt.path, tt.in, got, err)
		}
	}
	if got, err := yamledit.Get([]byte("a: [\n"), "a"); err == nil {
		t.Errorf("of a broken document: %+v", got)
	}
}

func TestWhatIsMissingIsMade(t *testing.T) {
	for _, tt := range []struct{ path, in, want string }{
		{"a", "", "a: 1\n"},
		{"a/b", "# c", "# c\na:\n  b: 1\n"},
		{"a", "---\n", "---\na: 1\n"},
		{"a", "{}\n", "{a: 1}\n"},
		{"a/b/c", "{x: 2}", "{x: 2, a: {b: {c: 1}}}"},
		{"a", "b: 2", "b: 2\na: 1"},
		{"a", "b: 2 # c\n\n# d\n", "b: 2 # c\na: 1\n\n# d\n"},
		{"a", "b:\n  - 1 # x\n  # y\n", "b:\n  - 1 # x\na: 1\n  # y\n"},
		{"a", "b: x\n  y\n\n# c\n", "b: x\n  y\na: 1\n\n# c\n"},
		{"a", "b: |\n  x\n  # y\n\n# c\n", "b: |\n  x\n  # y\na: 1\n\n# c\n"},
		{"a", "b: \"x\n  # y\" # z\n", "b: \"x\n  # y\" # z\na: 1\n"},
		{"a", "b:\nc: 2\n", "b:\nc: 2\na: 1\n"},
		{"b", "b: # x\nc: 2\n", "b: 1 # x\nc: 2\n"},
		{"b/a", "b: {} # x\n", "b: {a: 1} # x\n"},
		{"b/a", "b: {\n  c: 2, # x\n}\n", "b: {\n  c: 2, a: 1, # x\n}\n"},
		{"b/a", "  b:\n     c: 2\n", "  b:\n     c: 2\n     a: 1\n"},
		{"a", "  b: 2\n", "  b: 2\n  a: 1\n"},
	} {
		got, err := yamledit.Set([]byte(tt.in), yamledit.Text("1"), strings.Split(tt.path, "/")...)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s of %q: %q, %v", tt.path, tt.in, got, err)
		}
	}
}

// What cannot be changed alone is refused.
func TestOtherLayoutsAreRefused(t *testing.T) {
	for in, path := range map[string]string{
		"a: | # one\n  x\n":        "a",
		"a: x\n  y\n":              "a",
		"a: !!str 1\n":             "a",
		"a: {b: 1}\n":              "a",
		"a:\n  b: 1\n":             "a",
		"a: &x {b: 1}\nc: 2\n":     "a/b",
		"a:\n  - 1 # one\n  - 2\n": "a",
		"a: [1, # one\n  2]\n":     "a",
		"a: 1\n":                   "a/b",
		"- a\n":                    "a",
	} {
		got, err := yamledit.Set([]byte(in), yamledit.List("1"), strings.Split(path, "/")...)
		if err == nil {
			t.Errorf("%s of %q: %q", path, in, got)
		}
	}
	for _, in := range []string{"a: 1\na: 2\n", "a: [\n", "a: 1\rb: 2\n", "a: 1\n---\nb: 2\n"} {
		if got, err := yamledit.Set([]byte(in), yamledit.Text("1"), "a"); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
	if _, err := yamledit.Set([]byte("a: x\n  y\n"), yamledit.Text("1"), "a"); !errors.Is(err, yamledit.ErrLayout) || !strings.HasPrefix(err.Error(), "a: ") {
		t.Errorf("the error is %v", err)
	}
	for _, text := range []string{"\xff", strings.Repeat("x", 16_001)} { // which YAML, and we, cannot read again
		if got, err := yamledit.Set(nil, yamledit.Text(text), "a"); err == nil {
			t.Errorf("%.10q is %.20q", text, got)
		}
	}
	if _, err := yamledit.Set(nil, yamledit.Text("1")); err == nil {
		t.Error("no path is taken")
	}
}

func TestTextsOfSeveralLines(t *testing.T) {
	const text = "Sum it up.\n\n  - # first: {x\n\tlast"
	for _, tt := range []struct{ path, in, text, want string }{
		{"a", "", text, "a: |-\n  Sum it up.\n\n    - # first: {x\n  \tlast\n"},
		{"a", "b: 1 # x\n", text + "\n", "b: 1 # x\na: |\n  Sum it up.\n\n    - # first: {x\n  \tlast\n"},
		{"a/b", "# mine\na:\n    c: 1\n# end\n", "x\ny", "# mine\na:\n    c: 1\n    b: |-\n        x\n        y\n# end\n"},
		{"a", "a: b\nc: 1\n", "x\ny", "a: |-\n  x\n  y\nc: 1\n"},
		{"a", "a: &n b\nc: *n\n", "x\ny", "a: &n |-\n  x\n  y\nc: *n\n"},
		{"a", "a:\nc: 1\n", "x\ny", "a: |-\n  x\n  y\nc: 1\n"},
		{"a", "a: b # mine\n", "x\ny", `a: "x\ny" # mine` + "\n"},
		{"a", "{b: 1}\n", "x\ny", `{b: 1, a: "x\ny"}` + "\n"},
		{"a/b", "a: {b: 1}\n", "x\ny", `a: {b: "x\ny"}` + "\n"},
		{"a", "a: b\n", "  x\ny", "a: |2-\n    x\n  y\n"},
		{"a", "a: b\n", "\nx", "a: |2-\n\n  x\n"},
		{"a", "a: b\n", "x\n\n", `a: "x\n\n"` + "\n"},
		{"a", "a: b\n", "x\ny\u0001", `a: "x\ny\u0001"` + "\n"},
		{"a", "a: b\n", "one", "a: one\n"},
		// A text in lines of its own is given another one.
		{"a", "a: |\n  old\n\n  text # no comment\n\n# mine\nb: 1\n", "x\ny", "a: |-\n  x\n  y\n\n# mine\nb: 1\n"},
		{"a", "a: >-\n  old\n  text\nb: 1\n", "one", "a: one\nb: 1\n"},
		{"a/b", "a:\n  b: |\n      old\n    # mine\n  c: 1\n", "x\ny", "a:\n  b: \"x\\ny\"\n    # mine\n  c: 1\n"},
		{"a", "a: |1\n   old\n text\nb: 1\n", "x\ny", "a: |-\n  x\n  y\nb: 1\n"},
	} {
		for _, ends := range []string{"\n", "\r\n"} {
			in, want := strings.ReplaceAll(tt.in, "\n", ends), tt.want
			if tt.in != "" { // whose lines end like this
				want = strings.ReplaceAll(want, "\n", ends)
			}
			got, err := yamledit.Set([]byte(in), yamledit.Lines(tt.text), strings.Split(tt.path, "/")...)
			if d := cmp.Diff(want, string(got)); d != "" || err != nil {
				t.Errorf("%s of %q: %v\n%s", tt.path, in, err, d)
				continue
			}
			found, err := yamledit.Get(got, strings.Split(tt.path, "/")...)
			if anchored := strings.Contains(in, "&n"); err != nil || found.Text != tt.text && !anchored {
				t.Errorf("%s of %q is read as %q, %v", tt.path, got, found.Text, err)
			}
		}
	}
	got, err := yamledit.Remove([]byte("a:\n  b: |\n      old\n    # mine\n  c: 1\n"), "a", "b")
	if err != nil || string(got) != "a:\n    # mine\n  c: 1\n" {
		t.Errorf("removed: %q, %v", got, err)
	}
	if _, err := yamledit.Set([]byte("a: | # mine\n  old\n"), yamledit.Lines("x\ny"), "a"); !errors.Is(err, yamledit.ErrLayout) {
		t.Errorf("a comment behind the mark: %v", err)
	}
}
