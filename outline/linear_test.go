package outline

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// shape is a content of any size: a unit that is repeated.
type shape struct {
	head, unit, tail string
	name             string // follows a word that is another one in each unit
	stairs           bool   // each unit is a line, indented one column more
}

func (s shape) of(size int) string {
	if s.name == "" && !s.stairs {
		return s.head + strings.Repeat(s.unit, size/len(s.unit)) + s.tail
	}
	var b strings.Builder
	b.Grow(size + 4096)
	b.WriteString(s.head)
	for i := 0; b.Len() < size; i++ {
		if s.stairs {
			b.WriteString(strings.Repeat(" ", i%2000) + s.unit + "\n")
			continue
		}
		b.WriteString(s.unit)
		for n := i; ; n /= 26 {
			b.WriteByte('A' + byte(n%26))
			if n < 26 {
				break
			}
		}
		b.WriteString(s.name)
	}
	b.WriteString(s.tail)
	return b.String()
}

// shapesOf are contents that cost a careless reader more than one pass: openers,
// quotes, backslashes, nested brackets, one line, many lines, line breaks of two
// characters, control characters, bytes that are no UTF-8, names of heredocs
// without end.
func shapesOf() map[string]shape {
	repeat := func(s string) shape { return shape{unit: s} }
	after := func(head, s string) shape { return shape{head: head, unit: s} }
	out := map[string]shape{
		"one line of a letter": repeat("a"), "one line of white space": repeat(" "), "white space at the end": after("class a {", " "),
		"empty lines": repeat("\n"), "CRLF": repeat("\r\n"), "carriage returns": repeat("\r"), "blank lines": repeat(" \n"), "lines of a letter": repeat("a\n"),
		"NUL": repeat("\x00"), "a NUL at the end": {unit: "class a {\n", tail: "\x00"}, "controls": repeat("\x01\x1b[0m\x7f"),
		"invalid": repeat("\xff"), "invalid lines": repeat("func \xff() {\n"), "half characters": repeat("\xe2\x82"), "wide": repeat("é世🚀"), "marks": repeat("\uFEFF"),
		"new heredocs": {unit: "x = <<", name: "\n"}, "new heredocs with text": {unit: "cat <<~", name: "\nbody\n"}, "one heredoc": repeat("a <<A\n"), "one heredoc ended": repeat("a <<A\nA\n"),
		"heredoc of its name": after("x <<A\n", "A"), "heredoc of its name with marks": after("x <<A\n", "A;"), "spaced names": after("x <<A\n", "A        b"),
		"classes": repeat("class A {\n"), "classes on a line": repeat("class A { "), "functions": repeat("function f() {\n"), "defs": repeat("def a\n"), "ends": repeat("end\n"), "methods": after("class A {\n", " f() {\n"),
		"types before names": repeat("int\n"), "types and names": repeat("int\nf(a)\n{\n}\n"), "macros": repeat("#define a(x) \\\n"), "stairs": {unit: "class A:", stairs: true}, "stairs of braces": {unit: "}", stairs: true},
		"headings": repeat("# a\n"), "underlined": repeat("a\n-\n"), "fences": repeat("```\n"), "numbers": repeat("#"), "rules": repeat("---\n"),
		"words": repeat("class "), "modifiers": repeat("public static "), "annotations": repeat("@a("), "annotations of lines": repeat("@a(b)\n"), "attributes": repeat("#[a]"), "assignments": repeat("a = "), "arrows": repeat("const a = b => "),
		"qualified": repeat("a<b>::"), "dots": repeat("a."), "comparisons": repeat("a<"), "ambiguous": repeat("a < b > (c) * d & "), "stars": repeat("*"),
	}
	for name, opener := range map[string]string{
		"parenthesis": "(", "bracket": "[", "brace": "{", "angle": "<", "all brackets": "([{<", "double quote": "\"", "quote": "'", "backquote": "`", "triple": "\"\"\"", "backslash": "\\",
		"slashes": "//", "comment": "/*", "comment with end": "/**/", "hash": "#", "dashes": "--", "long": "--[[", "template": "`${", "interpolation": "\"#{", "percent": "%q(", "markup": "<!--", "processing": "<?php ",
	} {
		out[name] = repeat(opener)
		out[name+" on each line"] = repeat(opener + "\n")
		out[name+" after a word"] = repeat("def a" + opener + "\n")
		out[name+" escaped"] = repeat("\\" + opener)
	}
	return out
}

// steps returns how many bytes are passed over in reading a file by lines.
func steps(language, content string) int {
	t := newText(content)
	if language == "markdown" {
		finish(t, headings(t))
	} else {
		finish(t, scanLines(language, t))
	}
	return t.walked
}

// What reading by lines costs grows as the content does, whatever it is: four
// times the content takes four times the steps.
func TestReadingByLinesIsLinear(t *testing.T) {
	const size = 8_000
	languages := append(slices.Sorted(maps.Keys(wordsOf)), "markdown")
	shapes := shapesOf()
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		small, large := shapes[name].of(size), shapes[name].of(4*size)
		for _, language := range languages {
			few, many := steps(language, small), steps(language, large)
			if many > 5*few+500 {
				t.Errorf("%s of %s: %d steps, and %d for four times as much", name, language, few, many)
			}
		}
	}
}

// A file of five megabytes costs at most three times its size in memory: its
// definitions, of which there are [MaxDefinitions] at most, and a copy of what is
// not UTF-8.
func TestLargeFilesAreBounded(t *testing.T) {
	size := 5 << 20
	if testing.Short() {
		size = 1 << 20
	}
	paths := samplePaths(t)
	shapes := shapesOf()
	for i, name := range slices.Sorted(maps.Keys(shapes)) {
		content := shapes[name].of(size)
		path := paths[i%len(paths)] // all of them with all shapes take minutes
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		defs := Of(path, content)
		f := Fold([]string{path}, func(string) (string, error) { return Format(path, defs), nil }, 0)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > uint64(3*size) {
			t.Errorf("%s of %s: %d bytes are allocated for %d (%d definitions, %d folded)", name, path, bytes, len(content), len(defs), f.Characters)
		}
	}
}
