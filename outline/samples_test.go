package outline

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is found into testdata")

// sample is one file of testdata: a source file, what a parser finds ("want";
// that of package treesitter but for Go and Markdown) and what reading by lines
// finds ("lines").
type sample struct {
	file    string
	archive *txtar.Archive
}

func samples(t testing.TB) []sample {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples (%v)", err)
	}
	var out []sample
	for _, f := range files {
		a, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{f, a})
	}
	return out
}

func (s sample) name() string   { return strings.TrimSuffix(filepath.Base(s.file), ".txtar") }
func (s sample) path() string   { return s.archive.Files[0].Name }
func (s sample) source() string { return string(s.archive.Files[0].Data) }

func (s sample) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (s sample) set(t *testing.T, name, data string) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		i = len(s.archive.Files)
		s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
	}
	s.archive.Files[i].Data = []byte(data)
	if err := os.WriteFile(s.file, txtar.Format(s.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func listed(defs []Definition) string {
	var b strings.Builder
	for _, d := range defs {
		line := fmt.Sprintf("%s%d-%d %s %s", strings.Repeat("  ", d.Depth), d.Start, d.End, d.Kind, d.Name)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func TestEveryLanguageIsOutlined(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name(), func(t *testing.T) {
			got := listed(Of(s.path(), s.source()))
			section := "want"
			if s.name() != "go" && s.name() != "markdown" {
				section = "lines"
			}
			if *update && section == "want" {
				s.set(t, section, got)
			}
			if diff := cmp.Diff(s.section(section), got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", s.path(), diff)
			}
		})
	}
}

func TestReadingByLinesFindsMost(t *testing.T) {
	found, all := 0, 0
	for _, s := range samples(t) {
		text := newText(s.source())
		language := Language(s.path(), s.source())
		if _, ok := wordsOf[language]; !ok {
			continue
		}
		defs := finish(text, scanLines(language, text))
		got := listed(defs)
		if *update {
			s.set(t, "lines", got)
		}
		if diff := cmp.Diff(s.section("lines"), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", s.path(), diff)
		}
		have := map[string]bool{}
		for _, d := range strings.Split(got, "\n") {
			have[strings.TrimSpace(d)] = true
		}
		n, hits := 0, 0
		for _, d := range strings.Split(strings.TrimSpace(s.section("want")), "\n") {
			if n++; have[strings.TrimSpace(d)] {
				hits++
			}
		}
		t.Logf("%-12s %2d of %2d, %2d listed", s.name(), hits, n, len(defs))
		if s.section("want") != "" {
			found, all = found+hits, all+n
		}
	}
	if found*100 < 90*all {
		t.Errorf("%d of %d definitions have the same range, kind and name", found, all)
	}
	t.Logf("%d of %d", found, all)
}
