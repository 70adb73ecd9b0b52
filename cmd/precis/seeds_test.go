package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Statements of docs/seeds.md are numbered from the first to the last of these.
const firstSeed, lastSeed = 2, 275

// seedProblems returns the defects of docs/seeds.md: missing tests, scripts, pages and golden
// files, and missing or duplicate numbers.
func seedProblems(t *testing.T, doc string) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return ""
		}
		return string(data)
	}
	conformance := ""
	files, err := filepath.Glob(filepath.Join(root, "conformance", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of conformance: %v", err)
	}
	for _, name := range files {
		conformance += read("conformance/" + filepath.Base(name))
	}
	deviations := read("docs/deviations.md")
	var out []string
	missing := func(what string) { out = append(out, "there is no "+what) }

	tests := 0
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(doc, -1) {
		span := m[1]
		switch file, name, isTest := strings.Cut(span, ":"); {
		case isTest && strings.HasSuffix(file, "_test.go"):
			tests++
			if !strings.Contains(read(file), "\nfunc "+name+"(") {
				missing(span)
			}
		case strings.HasPrefix(span, "TestVectors/"):
			if name := strings.TrimPrefix(span, "TestVectors/"); !strings.Contains(conformance, strconv.Quote(name)) {
				missing(span)
			}
		case strings.HasSuffix(span, ".txtar"):
			if read("cmd/precis/testdata/script/"+span) == "" {
				missing(span)
			}
		}
	}
	if tests < 100 {
		out = append(out, "it names hardly any tests")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(doc, -1) {
		if read("docs/"+m[1]) == "" {
			missing(m[1])
		}
	}

	times := map[int]int{}
	_, otherwise, _ := strings.Cut(doc, "\n## What precis does otherwise\n")
	otherwise, _, _ = strings.Cut(otherwise, "\n## ")
	for line := range strings.Lines(doc) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue
		}
		for field := range strings.SplitSeq(cells[3], ",") {
			if n, err := strconv.Atoi(strings.TrimSpace(field)); err == nil {
				times[n]++
			}
		}
		if !strings.Contains(otherwise, line) || strings.HasPrefix(line, "|---") {
			continue
		}
		// The last words in code are the names of the deviation.
		at := strings.LastIndex(cells[2], ": `")
		if at < 0 {
			if cells[2] != " what precis does " {
				out = append(out, "a deviation without a name: "+line)
			}
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2][at:], -1) {
			if !strings.Contains(deviations, "`"+m[1]+"`") {
				missing("deviation " + m[1])
			}
		}
	}
	for n := firstSeed; n <= lastSeed; n++ {
		if times[n] != 1 {
			out = append(out, "statement "+strconv.Itoa(n)+" stands there "+strconv.Itoa(times[n])+" times")
		}
		delete(times, n)
	}
	for n := range times {
		out = append(out, "there is no statement "+strconv.Itoa(n))
	}
	return out
}

// Every test, script, page, golden file and deviation that docs/seeds.md names is there, and
// every statement has its place; names and numbers that are wrong are seen.
func TestSeedsNamesWhatThereIs(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, problem := range seedProblems(t, doc) {
		t.Error(problem)
	}
	for from, to := range map[string]string{
		"TestNothingIsCutForLittle": "TestNothingIsCutForMuch",
		"`roo.txtar`":               "`rue.txtar`",
		"TestVectors/rewind":        "TestVectors/unwind",
		"](deviations.md)":          "](variations.md)",
		"`age-before-topic`":        "`topic-before-age`",
		"| 2 |":                     "| 3 |",
	} {
		if wrong := strings.ReplaceAll(doc, from, to); wrong == doc || len(seedProblems(t, wrong)) == 0 {
			t.Errorf("%q in the place of %q is not seen", to, from)
		}
	}
}
