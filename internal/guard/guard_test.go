package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestPhrasesOfTheDialect(t *testing.T) {
	tabletest.Examples(t, dialect(), func(row table.Row, example string) bool { return phraseOf(row).MatchString(example) })
}

func parsed(t *testing.T, text string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCount(t *testing.T) {
	const text = `// Package a has
// two lines.
package a

import (
	"regexp"
	lazy "example.com/m/internal/lazyregexp"
)

//go:embed a.txt
var A, b = regexp.MustCompile("a"), lazy.All("b", "c")

type T struct{}

func (T) M() {}

func F(x int, c chan int) bool {
	if x > 0 && x < 9 || x == 12 {
		return regexp.QuoteMeta("a") == ""
	}
	switch { // a comment behind code
	case x == 1, x == 2:
	default:
	}
	select {
	case <-c:
	default:
	}
	for x < 3 {
		x++
	}
	return len("` + "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789" + `") > 0
}
`
	var c counts
	c.count(parsed(t, text), []byte(text))
	if want := (counts{lines: strings.Count(text, "\n"), branches: 5, regexps: 3, wide: 1, comments: 3, exported: 3}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

// tree writes the files of a module and reads it.
func tree(t *testing.T, files map[string]string) *source {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.com/m\n"
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSource(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMarks(t *testing.T) {
	s := tree(t, map[string]string{
		"a.go":                 "package m\n\nimport _ \"example.com/m/internal/used\"\n",
		"a_test.go":            "package m\n\nimport _ \"example.com/m/internal/unused\"\n",
		"cmd/precis/a.go":      "package main\n\nimport _ \"example.com/m/internal/rig\"\n",
		"cmd/tool/main.go":     "// Command tool is for developers.\n//\n" + mark + "\npackage main\n\nimport _ \"example.com/m/internal/rig\"\n",
		"internal/used/a.go":   "package used\n",
		"internal/unused/a.go": "package unused\n",
		"internal/rig/a.go":    "// Package rig drives tests.\n//\n" + mark + "\npackage rig\n",
		"testdata/a.go":        "not Go",
	})
	want := []string{
		"cmd/precis imports internal/rig, which is marked //precis:testonly",
		"internal/unused is not part of the product: mark its package comment with //precis:testonly, or remove it",
	}
	if got := s.wrongMarks(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestFiguresOfTheProductOnly(t *testing.T) {
	s := tree(t, map[string]string{
		"a.go":            "// Package m reports whose turn it is.\n// It has two lines.\npackage m\n\nimport _ \"embed\"\n\n//go:embed data/*.txt\nvar data string\n",
		"data/a.txt":      "one\ntwo\n",
		"data/b.csv":      "three\n",
		"rig/rig.go":      "// Package rig is told nothing.\n//\n" + mark + "\npackage rig\n",
		"rig/rig_test.go": "package rig\n\n// whose\n",
	})
	figures, err := s.figures()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{". lines": 8, "all lines": 8, "dialect per 1,000 comment lines": 500, "table lines": 2, "rig lines": 0} {
		if got := nowOf(figures, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

const exampleLimits = "# Limits\nfigure\tkind\tlimit\ttolerance\treason\nall lines\tmax\t100\t-\twhy\nfacts\tnear\t.9\t.01\twhy\nhits\tmin\t7\t-\twhy\nbytes\tmax\t1000\t1%\twhy\n" +
	"time\tshow\t-\t-\twhy\na\tpackage\t\t60 5\t-\t-\nold\tpackage\t40 5\t-\t-\n"

func examples(t *testing.T) []limit {
	t.Helper()
	limits, err := parseLimits(exampleLimits)
	if err != nil {
		t.Fatal(err)
	}
	return limits
}

func TestCompare(t *testing.T) {
	figuresOf := func(all, facts, hits, bytes, lines, branches float64) []figure {
		return []figure{
			{name: "all lines", now: all}, {name: "facts", now: facts}, {name: "hits", now: hits}, {name: "bytes", now: bytes}, {name: "time", now: 1e9},
			{name: "a lines", now: lines, ofPackage: true}, {name: "a branches", now: branches, ofPackage: true}, {name: "old lines", ofPackage: true}, {name: "old branches", ofPackage: true},
		}
	}
	for name, c := range map[string]struct {
		figures []figure
		failing []string // how the messages begin
	}{
		"at the limits":       {figuresOf(100, .91, 7, 1010, 60, 5), nil},
		"better":              {figuresOf(90, .89, 8, 900, 50, 4), nil},
		"beyond":              {figuresOf(101, .911, 6, 1011, 61, 6), []string{"all lines: 101, limit 100:", "facts: ", "hits: 6, limit at least 7:", "bytes: ", "a lines: ", "a branches: "}},
		"near fails below":    {figuresOf(1, .88, 7, 1, 1, 1), []string{"facts: 0.88, limit 0.9 ± .01:"}},
		"a new package":       {append(figuresOf(1, .9, 7, 1, 1, 1), figure{name: "b lines", now: 9, ofPackage: true}, figure{name: "b branches", now: 2, ofPackage: true}), []string{"package b has no limit: add to internal/guard/limits.txt the line\nb\tpackage\t9 2\t-\t"}},
		"a new metric":        {append(figuresOf(1, .9, 7, 1, 1, 1), figure{name: "Turn B/op", now: 9}, figure{name: "Turn ns/op", shown: true}), []string{"Turn B/op has no limit:"}},
		"a figure is missing": {figuresOf(1, .9, 7, 1, 1, 1)[1:], []string{"limits.txt:3: all lines was not measured"}},
	} {
		got := compare(c.figures, examples(t))
		if !slices.EqualFunc(got, c.failing, strings.HasPrefix) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestMalformedLimits(t *testing.T) {
	for _, line := range []string{"a\tmax\t-\t-\twhy", "a\tmax\tmuch\t-\twhy", "a\tmax\t1 2\t-\twhy", "a\tpackage\t1\t-\twhy", "a\tmax\t1\ta bit\twhy", "a\tmost\t1\t-\twhy"} {
		if _, err := parseLimits("figure\tkind\tlimit\ttolerance\treason\n" + line); err == nil || !strings.HasPrefix(err.Error(), "limits.txt:2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestTightenNeverLoosens(t *testing.T) {
	figures := []figure{{name: "all lines", now: 101}, {name: "facts", now: .5}, {name: "hits", now: 6}, {name: "bytes", now: 995}, {name: "a lines", now: 61}, {name: "a branches", now: 5}, {name: "old lines"}, {name: "old branches", now: 5}}
	want := strings.Replace(exampleLimits, "40 5", "0 5", 1)
	if got := tightened(exampleLimits, examples(t), figures); got != want {
		t.Errorf("%s", got)
	}
	figures = []figure{{name: "all lines", now: 99}, {name: "hits", now: 8}, {name: "bytes", now: 900}, {name: "a lines", now: 59}, {name: "a branches", now: 3}}
	want = "# Limits\nfigure\tkind\tlimit\ttolerance\treason\nall lines\tmax\t99\t-\twhy\nfacts\tnear\t.9\t.01\twhy\nhits\tmin\t8\t-\twhy\nbytes\tmax\t900\t1%\twhy\n" +
		"time\tshow\t-\t-\twhy\na\tpackage\t\t59 3\t-\t-\n"
	if got := tightened(exampleLimits, examples(t), figures); got != want {
		t.Errorf("%s", got)
	}
}

func TestParseBenchmarks(t *testing.T) {
	got := parseBenchmarks([]byte("goos: linux\nBenchmarkGuardQuality/half-a-2 \t 1\t 12 ns/op\t .95 facts\t 640 B/op\nBenchmarkOther 1 12 ns/op\nBenchmarkGuardTurn 50 7 ns/op\nBenchmarkGuardTurn 50 6 ns/op\nok\n"))
	want := []figure{{name: "Quality/half-a ns/op", now: 12, shown: true}, {name: "Quality/half-a facts", now: .95}, {name: "Quality/half-a B/op", now: 640}, {name: "Turn ns/op", now: 6, shown: true}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// Only the limits of packages go without a reason: their common one is in a comment.
func TestEveryLimitHasAReason(t *testing.T) {
	text, err := os.ReadFile("limits.txt")
	if err != nil {
		t.Fatal(err)
	}
	limits, err := parseLimits(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range limits {
		if l.reason == "" && l.row.Get("kind") != kindPackage {
			t.Errorf("%s: no reason", l.row.Place)
		}
	}
}
