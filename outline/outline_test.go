package outline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLanguageComesFromNameAndShebang(t *testing.T) {
	for _, tt := range []struct{ path, content, want string }{
		{"a/b.go", "", "go"}, {`C:\src\App.CS`, "", "csharp"}, {"x.tsx", "", "tsx"}, {"Gemfile", "", "ruby"}, {"notes.txt", "class x", ""},
		{"run", "#!/usr/bin/env -S python3.12 -u\n", "python"}, {"run", "#!/bin/sh\n", "bash"}, {"run", "#!", ""}, {"run", "#!/usr/bin/awk", ""},
		{"a.h", "int f(void);\n", "c"}, {"a.h", "namespace a {\n", "cpp"}, {".go", "", ""}, {"", "", ""}, {"README.md", "", "markdown"}, {".bashrc", "", "bash"},
	} {
		if got := Language(tt.path, tt.content); got != tt.want {
			t.Errorf("%q %q: %q, want %q", tt.path, tt.content, got, tt.want)
		}
	}
}

func TestFormatSignaturesAndLines(t *testing.T) {
	source := "package a\n\ntype T struct{}\n\nfunc F(\n\ta int,\n) {\n}\n"
	defs := Of("x/a.go", source)
	if got, want := Format("x/a.go", defs), "# a.go\n3--3 | type T struct{}\n5--8 | func F(\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Spanning(defs, 4); len(got) != 1 || got[0].Name != "F" {
		t.Errorf("%+v", got)
	}
	if got := Signatures("a.go", source); !slices.Equal(got, []int{2, 4}) {
		t.Errorf("%v", got)
	}
	if Format("a", nil) != "" || Of("a.txt", "class A {}") != nil || Of("a.go", "") != nil || Of("a.go", "package a\x00\nfunc f() {}") != nil {
		t.Error("something of nothing")
	}
	if got := Of("a.go", "// \xff\nfunc f() {\n}\n"); len(got) != 1 || got[0].Start != 2 {
		t.Errorf("Latin-1: %+v", got)
	}
	long := Of("a.go", "func f(a "+strings.Repeat("ä", 3000)+") {}")
	if len(long) != 1 || len(long[0].Line) > MaxLine || !utf8.ValidString(long[0].Line) {
		t.Errorf("%+v", long)
	}
}

// Files that are cut off or do not compile keep what can be recognized.
func TestBrokenFilesKeepTheirDefinitions(t *testing.T) {
	for _, tt := range []struct {
		path, source string
		want         []string
	}{
		{"a.go", "\treturn x\n}\n\nfunc A() {\n\tif x {\n}\n\nfunc B() {\n}\n\nfunc (t T) C() {\n", []string{"A", "B", "C"}},
		{"a.ts", "    this.x = 1\n  }\n\n  run() {\n    return 1\n  }\n}\n\nexport function after(a: number) {\n  if (a) {\n}\n\nexport class Last {\n  go() {\n", []string{"after", "Last"}},
		{"a.py", "        return 1\n\n    def method(self):\n        return (1,\n\ndef after(x):\n    return x\n", []string{"method", "after"}},
		{"A.java", "        int x = 1;\n    }\n\n    public int get() {\n        return 1;\n    }\n}\n\nclass B {\n    void run() {\n", []string{"B"}},
		{"a.rs", "        x\n    }\n}\n\nfn a() {\n    let x = (1;\n}\n\npub struct S {\n    a: i32\n", []string{"a", "S"}},
		{"a.c", "    return 1;\n}\n\nint b(void)\n{\n    if (x) {\n}\n\nstatic void c(int a) {\n", []string{"b", "c"}},
		{"a.php", "        return 1;\n    }\n\n    public function get(): int\n    {\n        return 1;\n    }\n", []string{"get"}},
		{"a.rb", "    x\n  end\n\n  def a\n    if x\n  end\n\n  def b(c)\n    c\n", []string{"a", "b"}},
	} {
		defs := Of(tt.path, tt.source)
		for _, name := range tt.want {
			if !slices.ContainsFunc(defs, func(d Definition) bool { return d.Name == name }) {
				t.Errorf("%s: %s is lost; found\n%s", tt.path, name, listed(defs))
			}
		}
	}
}

// check holds the promises that Of makes for any content.
func check(t *testing.T, path, content string) {
	t.Helper()
	defs := Of(path, content)
	lines := strings.Count(content, "\n") + 1
	if len(defs) > MaxDefinitions {
		t.Fatalf("%s: %d definitions", path, len(defs))
	}
	for i, d := range defs {
		if d.Start < 1 || d.End < d.Start || d.End > lines || d.Kind == "" || d.Depth < 0 || len(d.Line) > MaxLine || len(d.Name) > MaxLine || strings.Contains(d.Line, "\n") {
			t.Fatalf("%s: %+v of %d lines", path, d, lines)
		}
		if i > 0 && d.Start < defs[i-1].Start {
			t.Fatalf("%s: line %d after line %d", path, d.Start, defs[i-1].Start)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	all := samples(t)
	for range 4 {
		wg.Go(func() {
			for _, s := range all {
				Of(s.path(), s.source())
			}
		})
	}
	wg.Wait()
}

func FuzzOf(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.path(), s.source())
	}
	f.Add("a.go", "func f() {\n}\x00")
	f.Add("a.rb", "x = <<~A\n  #{<<B}\nB\nA\n")
	for name, s := range shapesOf() {
		f.Add("a."+strings.ReplaceAll(name, " ", "."), s.of(100))
	}
	const passes = 2*mostNames + 20 // over a file, at most: those that look for the ends of texts, and a few more
	f.Fuzz(func(t *testing.T, path, content string) {
		check(t, path, content)
		for language := range wordsOf {
			text := newText(content)
			if scanLines(language, text); text.walked > passes*(len(content)+10) {
				t.Errorf("%s: %d steps for %d bytes", language, text.walked, len(content))
			}
		}
		folded := Fold([]string{path, path}, func(string) (string, error) { return Format(path, Of(path, content)), nil }, 500)
		if folded.Characters != units(folded.Content()) || folded.Processed+folded.Skipped != 2 {
			t.Errorf("%+v", folded)
		}
	})
}

func TestMarkdownSections(t *testing.T) {
	got := listed(Of("a.md", "no heading\n\n# A\n\n## B #\ntext\nC\n===\n\n    # code\n~~~\n# fenced\n~~~\n* item\n---\n"))
	if diff := cmp.Diff("3-4 heading A\n  5-6 heading B\n7-15 heading C\n", got); diff != "" {
		t.Error(diff)
	}
}

func TestFoldStopsAtTheLimit(t *testing.T) {
	asked := 0
	defs := func(path string) (string, error) {
		asked++
		switch path {
		case "none":
			return "", nil
		case "bad":
			return "", errors.New("no such file")
		}
		return "# " + path + "\n" + strings.Repeat("1--9 | 関数 🚀 {\n", 30), nil
	}
	f := Fold([]string{"none", "a", "bad", "b", "c"}, defs, 900)
	if f.Processed != 2 || f.Skipped != 3 || asked != 4 || len(f.Sections) != 2 {
		t.Errorf("%d processed, %d skipped, %d asked", f.Processed, f.Skipped, asked)
	}
	if !strings.HasSuffix(f.Sections[1], "\n... (truncated)\n</system-reminder>") || !utf8.ValidString(f.Content()) {
		t.Errorf("%q", f.Sections[1])
	}
	if f.Characters != units(f.Content()) {
		t.Errorf("%d characters", f.Characters)
	}
	if f := Fold(nil, nil, 0); f.Content() != "" || f.Processed+f.Skipped+f.Characters != 0 {
		t.Errorf("%+v", f)
	}
}

// large repeats a sample, its package clause and imports left out.
func large(s sample) string {
	var body []string
	for line := range strings.Lines(s.source()) {
		if !strings.HasPrefix(line, "package ") && !strings.HasPrefix(line, "import ") {
			body = append(body, line)
		}
	}
	return strings.Repeat(strings.Join(body, "")+"\n", (100<<10)/len(s.source()))
}

func BenchmarkOf(b *testing.B) {
	for _, s := range samples(b) {
		content := large(s)
		b.Run(s.name(), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				Of(s.path(), content)
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	for _, s := range samples(b) {
		language := Language(s.path(), s.source())
		if _, ok := wordsOf[language]; !ok {
			continue
		}
		content := large(s)
		b.Run(s.name(), func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				t := newText(content)
				finish(t, scanLines(language, t))
			}
		})
	}
}

func ExampleOf() {
	source := "class Greeter:\n    def hello(self):\n        return 'hello'\n"
	for _, d := range Of("greeter.py", source) {
		fmt.Println(d.Start, d.End, d.Kind, d.Name)
	}
	// Output:
	// 1 3 class Greeter
	// 2 3 method hello
}
