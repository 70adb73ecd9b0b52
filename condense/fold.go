package condense

import (
	"strconv"
	"strings"

	"precis/internal/toolcall"
	"precis/outline"
	"precis/retain"
)

// foldShare is the size of the folded context of the files read, in percent of
// a digest.
const foldShare = 5

// foldBytes is the most that is outlined of one file, and foldFiles how many
// files are: outlining is slow.
const (
	foldBytes = 64 << 10
	foldFiles = 24
)

// folded returns the outlines of the files that were read in the covered
// messages, newest first, in so many tokens: what each defines, with line
// numbers, without bodies.
func (in *input) folded(tokens int) []string {
	reads := map[string]*toolcall.Call{}
	var paths []string
	for i := len(in.x.Calls) - 1; i >= 0 && len(paths) < foldFiles; i-- {
		c := &in.x.Calls[i]
		if c.Kind != toolcall.Read || c.Path == "" || c.IsError || !in.covered(c.Use.From) || outline.Language(c.Path, "") == "" {
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
		return definitions(path, reads[path].Text), nil
	}, min(tokens*4, outline.MaxFolded))
	for i, section := range f.Sections { // source code speaks with no authority here
		section = strings.TrimPrefix(section, "<system-reminder>\n")
		f.Sections[i] = strings.TrimSuffix(section, "\n</system-reminder>")
	}
	return f.Sections
}

// definitions outlines what a tool returned as the content of a file: lines,
// with or without numbers, perhaps only a part of the file.
func definitions(path, text string) string {
	content, numbers := numbered(text[:min(len(text), foldBytes)])
	defs := outline.Of(path, content)
	for i := range defs {
		defs[i].Start, defs[i].End = at(numbers, defs[i].Start), at(numbers, defs[i].End)
	}
	if defs = outline.Spanning(defs, 4); len(defs) == 0 {
		return ""
	}
	return outline.Format(path, defs)
}

// at returns the number that line n of a text had; n when lines have none.
func at(numbers []int, n int) int {
	if n < 1 || n > len(numbers) {
		return n
	}
	return numbers[n-1]
}

// numbered takes the column of line numbers off a text, which may show several
// parts of a file, and returns the number of each line that has one; nil when most
// have none.
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
