package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/precis-dev/precis/outline"
)

// definitionsFile holds lists of definitions. They are compared line by line,
// for precis lists more of them and trims the lines.
const definitionsFile = "sourceDefinitions"

// leastAgreement is the share of the reference's definitions that precis must
// list with the same range and first line.
const leastAgreement = 0.95

// The lines of the reference that are no definitions, and its count of lines;
// docs/deviations.md explains them.
const (
	wholeFile     = "whole-file-as-definition"
	lineAfterLast = "line-after-the-end"
)

// refLine is one line of the reference: START--END | first line.
type refLine struct {
	start, end int
	text       string
}

func refLines(t *testing.T, definitions string) []refLine {
	t.Helper()
	var out []refLine
	for line := range strings.Lines(definitions) {
		if strings.HasPrefix(line, "# ") && len(out) == 0 {
			continue
		}
		span, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		from, to, _ := strings.Cut(span, "--")
		start, err := strconv.Atoi(from)
		end, err2 := strconv.Atoi(to)
		if !ok || err != nil || err2 != nil {
			t.Fatalf("line %q", line)
		}
		out = append(out, refLine{start, end, text})
	}
	return out
}

func compareDefinitions(t *testing.T, cases []vectorCase) {
	all, agreed := 0, 0
	deviating := map[string]int{}
	for _, c := range cases {
		input := in[struct{ FileName, Content string }](t, c.Input)
		want := in[struct{ Definitions *string }](t, c.Output).Definitions
		got := outline.Of(input.FileName, input.Content)
		if want == nil {
			if all++; outline.Format(input.FileName, got) == "" {
				agreed++
			} else {
				t.Logf("%s: %+v where the reference has none", c.Name, got)
			}
			continue
		}
		lines := strings.Split(strings.TrimSuffix(input.Content, "\n"), "\n")
		for _, l := range refLines(t, *want) {
			why, ok := agrees(got, l, lines, path.Ext(input.FileName) == ".md")
			if why != "" {
				deviating[why]++
			}
			if why == wholeFile {
				continue
			}
			if all++; ok {
				agreed++
			} else {
				t.Logf("%s: %d--%d | %s is not listed", c.Name, l.start, l.end, l.text)
			}
		}
	}
	t.Logf("%-32s %4d cases  %4d of %d definitions agree, lines that deviate: %v", definitionsFile, len(cases), agreed, all, deviating)
	if float64(agreed) < leastAgreement*float64(all) {
		t.Errorf("%d of %d definitions agree", agreed, all)
	}
}

// agrees reports whether a line of the reference is among the definitions, and
// names the deviation if the line is of a kind that precis leaves out or
// counts in another way.
func agrees(got []outline.Definition, l refLine, lines []string, markdown bool) (why string, ok bool) {
	if !markdown && l.start == 1 && l.end >= len(lines) && !defines(lines[0]) {
		return wholeFile, false
	}
	if l.end > len(lines) {
		why, l.end = lineAfterLast, len(lines)
	}
	for _, d := range got {
		if d.Start == l.start && d.End == l.end && d.Line == strings.TrimSpace(l.text) {
			return why, true
		}
	}
	return why, false
}

// defines tells a definition on a file's first line from what a file usually
// begins with.
func defines(line string) bool {
	for _, head := range []string{"package ", "import ", "#include", "from ", "use ", "using ", "require"} {
		if strings.HasPrefix(line, head) {
			return false
		}
	}
	return true
}

func adaptFold(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		FilePaths     []string                   `json:"filePaths"`
		CWD           string                     `json:"cwd"`
		MaxCharacters *int                       `json:"maxCharacters"`
		Definitions   map[string]json.RawMessage `json:"definitions"`
	}](t, input)
	most := 0
	if c.MaxCharacters != nil {
		if most = *c.MaxCharacters; most == 0 {
			most = -1 // no room at all; the zero of precis is the default
		}
	}
	f := outline.Fold(c.FilePaths, func(p string) (string, error) {
		if !path.IsAbs(p) {
			p = path.Join(c.CWD, p)
		}
		return referenceDefinitions(p, c.Definitions[p])
	}, most)
	sections := f.Sections
	if sections == nil {
		sections = []string{}
	}
	return map[string]any{
		"content": f.Content(), "sections": sections,
		"filesProcessed": f.Processed, "filesSkipped": f.Skipped, "characterCount": f.Characters,
	}
}

// referenceDefinitions turns the ways in which the reference's helper says that
// a file has no definitions into precis's: an exception, or a sentence in their
// place.
func referenceDefinitions(p string, raw json.RawMessage) (string, error) {
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", fmt.Errorf("%s: %s", p, raw)
	}
	if text == nil {
		return "", nil
	}
	for _, sentence := range []string{"This file does not exist", "Unsupported file type:"} {
		if strings.HasPrefix(*text, sentence) {
			return "", errors.New(*text)
		}
	}
	return *text, nil
}
