package outline

import (
	"strings"
	"testing"
)

// hostile are contents that cost a careless reader time, memory or its stack:
// of full size at scale 1, smaller at a larger one.
func hostile(scale int) map[string]string {
	repeat := func(s string, n int) string { return strings.Repeat(s, max(n/scale, min(n, 300))) }
	deepPython := func() string {
		var b strings.Builder
		for i := range 700 {
			b.WriteString(repeat(" ", i) + "if x:\n")
		}
		return b.String() + repeat(" ", 700) + "f(\"a\")\n"
	}()
	return map[string]string{
		"braces":        repeat("{", 100_000),
		"mixed":         repeat("([{", 60_000),
		"closing":       repeat("}", 100_000),
		"angle":         repeat("<", 100_000),
		"one line":      "func f(" + repeat("a", 1<<20) + ")",
		"spaces":        repeat(" ", 1<<20),
		"words":         repeat("class ", 200_000),
		"calls":         "int " + repeat("f(", 200_000),
		"indented":      deepPython,
		"nested":        repeat("class A { ", 50_000),
		"nested lines":  repeat("class A {\n", 100_000),
		"defs":          repeat("def a\n", 100_000),
		"funcs":         repeat("function f() {\n", 40_000),
		"heredoc word":  "x = <<" + repeat("A", 300) + "\n" + repeat("A", 300) + "\n",
		"heredoc quote": "x <<\"" + repeat("A", 300) + "\"\n\"b\n",
		"heredocs":      repeat("a <<A, <<B, <<C\n", 20_000),
		"strings":       repeat("\"#{", 50_000),
		"templates":     repeat("`${", 50_000),
		"comments":      repeat("/*", 200_000),
		"triple":        repeat("\"\"\"", 100_000) + "'''",
		"macros":        repeat("#define a(x) \\\n", 50_000),
		"backslashes":   repeat("\\\n", 100_000),
		"annotations":   repeat("@a(", 100_000),
		"generics":      "fn f" + repeat("<a", 100_000),
		"qualified":     "} " + repeat("a<b>::", 100_000) + "c",
		"fences":        repeat("# a\n```\n", 50_000),
		"invalid":       repeat("func \xff() {\n", 1000),
		"carriage":      repeat("class A {\r", 50_000),
		"null":          "func a() {}\x00",
		"marks":         "\uFEFF\uFEFFfunc a() {}",
		"ambiguous":     repeat("a < b > (c) * d & ", 20_000),
	}
}

// samplePaths are the names of the samples and of languages without a parser.
func samplePaths(t *testing.T) []string {
	paths := []string{"a.swift", "a.ex", "a.r", "a.vue"}
	for _, s := range samples(t) {
		paths = append(paths, s.path())
	}
	return paths
}

func TestHostileContentIsSurvived(t *testing.T) {
	for _, content := range hostile(200) {
		for _, path := range samplePaths(t) {
			check(t, path, content)
		}
	}
}
