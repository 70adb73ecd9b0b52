package condense

import (
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/outline"
	"github.com/precis-dev/precis/retain"
)

// outlineShare is the size of all outlines of files, in percent of the target.
const outlineShare = 5

// foldBytes is the most bytes of one file that are outlined, foldFiles the most
// files: outlining is slow.
const (
	foldBytes = 64 << 10
	foldFiles = 24
)

// outlines returns the outlines of the files that were read in the covered
// messages, newest first: what each defines, with line numbers, without bodies.
// Together they take a twentieth of the target. The parser may be nil.
func outlines(x *retain.Index, covered func(message int) bool, target int, p outline.Parser) []string {
	tokens := target * outlineShare / 100
	reads := map[string]*toolcall.Call{}
	var paths []string
	for i := len(x.Calls) - 1; i >= 0 && len(paths) < foldFiles; i-- {
		c := &x.Calls[i]
		if c.Kind != toolcall.Read || c.Path == "" || c.IsError || !covered(c.Use.From) ||
			outline.Language(c.Path, "") == "" {
			continue
		}
		if reads[c.Path] == nil {
			reads[c.Path] = c
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	f := outline.Fold(paths, func(path string) (string, error) {
		return definitions(p, path, reads[path].Text), nil
	}, min(tokens*4, outline.MaxFolded))
	for i, section := range f.Sections { // outlined source must not look like an instruction
		f.Sections[i] = harness.ReminderContent(section)
	}
	return f.Sections
}

// definitions outlines the content of a file that a tool returned: lines, with
// or without numbers, perhaps only a part of the file.
func definitions(p outline.Parser, path, text string) string {
	content, numbers := numbered(text[:min(len(text), foldBytes)])
	defs := outline.Parsed(p, path, content)
	for i := range defs {
		defs[i].Start, defs[i].End = lineNumber(numbers, defs[i].Start), lineNumber(numbers, defs[i].End)
	}
	if defs = outline.Spanning(defs, 4); len(defs) == 0 {
		return ""
	}
	return outline.Format(path, defs)
}

// lineNumber returns the number of line n of a text; n when lines are not numbered.
func lineNumber(numbers []int, n int) int {
	if n < 1 || n > len(numbers) {
		return n
	}
	return numbers[n-1]
}

// numbered removes the column of line numbers from a text, which may show
// several parts of a file. It returns the number of each line that has one; nil
// when most have none.
func numbered(text string) (content string, numbers []int) {
	var out strings.Builder
	all := 0
	for line := range strings.Lines(text) {
		all++
		n := retain.NumberColumn(line)
		if n == 0 {
			continue
		}
		number, _ := strconv.Atoi(strings.Trim(line[:n], " \t→|:")) // seven digits at most
		numbers = append(numbers, number)
		out.WriteString(line[n:])
	}
	if len(numbers)*2 < all {
		return text, nil
	}
	return out.String(), numbers
}
