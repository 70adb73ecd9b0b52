package yamledit_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis/internal/yamledit"
)

// entry is a key of a random document with the lines that it is written in.
type entry struct {
	path     string
	from, to int // in the text, with line ends of one byte
	lines    []string
	kind     string // scalar, list, items, block, braces
}

// randomFile draws a document as people write configurations: comments, blank lines,
// quotes, lists and mappings in lines and in brackets, anchors, any indentation.
func randomFile(t *rapid.T) (text string, entries []entry) {
	words := rapid.SampledFrom([]string{"60", "-1", "0.25", "true", "off", "a b", `"x # y"`, "'it''s'", `"é \" é"`, "ä # c", "&n x", "*n", "75%", "http://a/b#c"})
	notes := rapid.SampledFrom([]string{"", "", "", " # é, \"quoted\": {x", "   #", "  # a: 1"})
	between := rapid.SampledFrom([]string{"", "", "", "\n", "# é: x\n", "\n  # indented\n\n"})
	n := 0
	name := func() string {
		n++
		return rapid.SampledFrom([]string{"k%d", `"k%d"`, "'k%d'", "k%d-é"}).Draw(t, "name")
	}
	var b strings.Builder
	anchored := false
	word := func() string {
		w := words.Draw(t, "word")
		if w == "*n" && !anchored {
			return "5"
		}
		if w == "&n x" {
			if anchored {
				return "6"
			}
			anchored = true
		}
		return w
	}
	var mapping func(prefix, indent string, depth int)
	mapping = func(prefix, indent string, depth int) {
		count := rapid.IntRange(1, 4).Draw(t, "keys")
		for range count {
			b.WriteString(between.Draw(t, "between"))
			key := fmt.Sprintf(name(), n)
			path := prefix + strings.Trim(key, `"'`)
			e := entry{path: path}
			kind := rapid.SampledFrom([]string{"scalar", "scalar", "scalar", "block", "braces", "list", "items"}).Draw(t, "kind")
			if kind == "block" && depth > 2 {
				kind = "scalar"
			}
			e.kind = kind
			from := b.Len()
			b.WriteString(indent + key + ":")
			switch kind {
			case "scalar":
				b.WriteString(" " + word())
			case "braces":
				n++
				fmt.Fprintf(&b, " {x%d: 1, \"y\": 2}", n)
			case "list":
				b.WriteString(` [a, "b # c" , 'd']`)
			}
			b.WriteString(notes.Draw(t, "note") + "\n")
			switch kind {
			case "items":
				own := indent + rapid.SampledFrom([]string{"", "  "}).Draw(t, "items")
				for range rapid.IntRange(1, 3).Draw(t, "count") {
					b.WriteString(own + "- a" + notes.Draw(t, "note") + "\n")
				}
			case "block":
				mapping(path+"/", indent+rapid.SampledFrom([]string{" ", "  ", "    "}).Draw(t, "indent"), depth+1)
			}
			e.from, e.to = from, b.Len()
			e.lines = strings.SplitAfter(strings.TrimSuffix(b.String()[from:], "\n"), "\n")
			entries = append(entries, e)
		}
	}
	mapping("", "", 0)
	b.WriteString(between.Draw(t, "at the end"))
	text = b.String()
	if rapid.Bool().Draw(t, "unended") {
		text = strings.TrimSuffix(text, "\n")
	}
	if rapid.Bool().Draw(t, "windows") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, entries
}

// around returns what two texts have in common at their ends, and what is between.
func around(old, now string) (gone, come string) {
	i := 0
	for i < len(old) && i < len(now) && old[i] == now[i] {
		i++
	}
	j := 0
	for j < len(old)-i && j < len(now)-i && old[len(old)-1-j] == now[len(now)-1-j] {
		j++
	}
	return old[i : len(old)-j], now[i : len(now)-j]
}

// TestEveryOtherByteStays: whatever a file looks like, a value is changed in its own
// line, a new key adds its own lines, and a key that goes takes only its own.
func TestEveryOtherByteStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, entries := randomFile(t)
		e := rapid.SampledFrom(entries).Draw(t, "entry")
		value := rapid.SampledFrom([]string{"61", "-1", "x y", "", "null", "#", "a: b", "é", `"`}).Draw(t, "value")
		do := rapid.SampledFrom([]string{"set", "add", "remove", "lines"}).Draw(t, "do")
		path := strings.Split(e.path, "/")
		var now []byte
		var err error
		switch do {
		case "set":
			now, err = yamledit.Set([]byte(old), yamledit.Text(value), path...)
			if e.kind != "scalar" && e.kind != "list" {
				return // may be refused; what it means is checked by Set itself
			}
		case "add":
			if e.kind == "block" || e.kind == "braces" {
				path = append(path, "new")
			} else {
				path[len(path)-1] = "new"
			}
			now, err = yamledit.Set([]byte(old), yamledit.Text(value), path...)
		case "lines":
			value = "x y\n  z: 1\n\nlast"
			now, err = yamledit.Set([]byte(old), yamledit.Lines(value), path...)
			if e.kind != "scalar" && e.kind != "list" {
				return // may be refused
			}
			if found, err := yamledit.Get(now, path...); err == nil && found.Text != value && !strings.Contains(e.lines[0], "&n") {
				t.Fatalf("it is read as %q:\n%s", found.Text, now)
			}
		case "remove":
			if strings.Contains(strings.Join(e.lines, ""), "&n") {
				return // what refers to it would be lost
			}
			now, err = yamledit.Remove([]byte(old), path...)
		}
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", do, path, err, old)
		}
		gone, come := around(old, string(now))
		switch {
		case do == "set" && strings.ContainsAny(gone+come, "\r\n"):
			t.Fatalf("another line was touched: %q became %q", gone, come)
		case do == "add" && gone != "":
			t.Fatalf("%q is gone for %q", gone, come)
		case do == "remove":
			plain := strings.ReplaceAll(old, "\r\n", "\n") + "\n"
			want := lines(plain[:e.from] + plain[e.to:])
			if got := strings.Replace(strings.Join(lines(string(now)), "\n"), ": {}", ":", 1); got != strings.Join(want, "\n") {
				t.Fatalf("without %q:\n%s\nwas\n%s", e.lines, now, old)
			}
		}
		if strings.Contains(old, "\r") && strings.Count(string(now), "\n") != strings.Count(string(now), "\r\n") {
			t.Fatalf("line ends are mixed:\n%q", now)
		}
		if comments(old, e, do) > strings.Count(string(now), "#") {
			t.Fatalf("a comment is lost: %q became %q", gone, come)
		}
	})
}

// lines returns the lines of a text, whatever they end with.
func lines(text string) []string {
	return strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// comments counts what must still be there.
func comments(old string, e entry, do string) int {
	n := strings.Count(old, "#")
	switch do {
	case "set", "lines":
		n -= strings.Count(e.lines[0], "#") // some may be of the old value
		if strings.HasSuffix(e.lines[0], ", \"quoted\": {x") {
			n++
		}
	case "remove":
		n -= strings.Count(strings.Join(e.lines, ""), "#")
	}
	return n
}
