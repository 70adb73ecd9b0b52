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
	content, first := numbered(text[:min(len(text), foldBytes)])
	defs := outline.Of(path, content)
	for i := range defs {
		defs[i].Start += first - 1
		defs[i].End += first - 1
	}
	if defs = outline.Spanning(defs, 4); len(defs) == 0 {
		return ""
	}
	return outline.Format(path, defs)
}

// numbered takes the column of line numbers off a text and returns the first of
// them; 1 when there is none.
func numbered(text string) (content string, first int) {
	var out strings.Builder
	with, all := 0, 0
	first = 1
	for line := range strings.Lines(text) {
		all++
		n := retain.NumberColumn(line)
		if n == 0 {
			continue
		}
		if with++; with == 1 {
			first, _ = strconv.Atoi(strings.Trim(line[:n], " \t→|:"))
		}
		out.WriteString(line[n:])
	}
	if with*2 < all {
		return text, 1
	}
	return out.String(), first
}
