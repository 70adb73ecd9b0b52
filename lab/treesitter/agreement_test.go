//go:build cgo && treesitter

package treesitter

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/outline"
)

// sourcesEnv names folders of source code, separated as in PATH, in addition to Go's standard
// library.
const sourcesEnv = "PRECIS_SOURCES"

// For a language with at least enoughDefinitions compared definitions, leastAgreement percent of
// the names and of the ranges must agree.
const (
	enoughDefinitions = 1000
	leastAgreement    = 95
)

const (
	mostSource = 12 << 20 // bytes compared for a language; files are chosen by a hash of their names
	longLines  = 200      // mean length of a line at which a file counts as generated
)

// agreement counts the definitions that two readers of the same files find.
type agreement struct {
	files, parsed, read int // files; definitions by the parser, and by reading lines
	names, ranges       int // definitions by the parser that reading lines finds too
}

// TestReadingByLinesAgreesWithTheGrammars compares the results of reading by lines with the
// grammars' results, per language, for files that parse without an error. -v prints the table of
// docs/decisions/006-outlines.md.
func TestReadingByLinesAgreesWithTheGrammars(t *testing.T) {
	roots := []string{filepath.Join(runtime.GOROOT(), "src")}
	if list := os.Getenv(sourcesEnv); list != "" {
		roots = append(roots, filepath.SplitList(list)...)
	}
	totals := map[string]*agreement{}
	for language, files := range sources(t, roots) {
		if disagreements == "" || disagreements == language {
			totals[language] = compare(language, files)
		}
	}
	t.Logf("%-12s %6s %8s %8s %8s %8s", "language", "files", "defs", "names", "ranges", "further")
	for _, language := range slices.Sorted(maps.Keys(totals)) {
		a := totals[language]
		percent := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(a.parsed, 1))) }
		t.Logf("%-12s %6d %8d %8s %8s %8s", language, a.files, a.parsed, percent(a.names), percent(a.ranges), percent(a.read-a.names))
		if a.parsed >= enoughDefinitions && 100*min(a.names, a.ranges) < leastAgreement*a.parsed {
			t.Errorf("%s: %d names and %d ranges of %d definitions agree", language, a.names, a.ranges, a.parsed)
		}
	}
}

// sources returns the files of each language.
func sources(t *testing.T, roots []string) map[string][]string {
	type file struct {
		path string
		size int64
		hash uint64
	}
	all := map[string][]file{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > outline.MaxParsed || strings.Contains(path, ".min.") {
				return err
			}
			language := outline.Language(path, "")
			if strings.HasSuffix(path, ".h") {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				language = outline.Language(path, string(data))
			}
			if grammars[language] == nil {
				return nil
			}
			rel, _ := filepath.Rel(root, path)
			h := fnv.New64a()
			h.Write([]byte(rel))
			all[language] = append(all[language], file{path, info.Size(), h.Sum64()})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]string{}
	for language, files := range all {
		slices.SortFunc(files, func(a, b file) int {
			if a.hash < b.hash {
				return -1
			}
			return 1
		})
		size := int64(0)
		for _, f := range files {
			if size += f.size; size > mostSource {
				break
			}
			out[language] = append(out[language], f.path)
		}
	}
	return out
}

// lines is a parser without grammars.
type lines struct{}

func (lines) Parse(string, string) ([]outline.Definition, []outline.Doubt, bool) {
	return nil, nil, false
}

// disagreements names a language: only it is compared, and its disagreements are printed.
var disagreements = os.Getenv("DISAGREEMENTS")

func compare(language string, files []string) *agreement {
	a := &agreement{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil || len(data) > longLines*(1+strings.Count(string(data), "\n")) {
			continue
		}
		content := string(data)
		if _, doubts, ok := (Parser{}).Parse(language, content); !ok || len(doubts) > 0 {
			continue
		}
		parsed, read := outline.Parsed(Parser{}, path, content), outline.Parsed(lines{}, path, content)
		if len(parsed) == 0 && len(read) == 0 {
			continue
		}
		a.files++
		a.parsed += len(parsed)
		a.read += len(read)
		names, ranges := map[string]int{}, map[string]int{}
		key := func(d outline.Definition) string { return fmt.Sprintf("%d %s", d.Start, d.Name) }
		span := func(d outline.Definition) string { return fmt.Sprintf("%d-%d", d.Start, d.End) }
		for _, d := range read {
			names[key(d)]++
			ranges[span(d)]++
		}
		for _, d := range parsed {
			if names[key(d)]--; names[key(d)] >= 0 {
				a.names++
			} else if disagreements == language {
				fmt.Printf("- %s:%d-%d %s %s | %s\n", path, d.Start, d.End, d.Kind, d.Name, d.Line)
			}
			if ranges[span(d)]--; ranges[span(d)] >= 0 {
				a.ranges++
			} else if disagreements == language && names[key(d)] >= 0 {
				fmt.Printf("~ %s:%d-%d %s %s | %s\n", path, d.Start, d.End, d.Kind, d.Name, d.Line)
			}
		}
		if disagreements == language {
			for _, d := range read {
				if names[key(d)] > 0 {
					fmt.Printf("+ %s:%d-%d %s %s | %s\n", path, d.Start, d.End, d.Kind, d.Name, d.Line)
				}
			}
		}
	}
	return a
}
