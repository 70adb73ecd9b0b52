package outline

import (
	"path"
	"strconv"
	"strings"
)

// Format writes definitions as text: a line "# " with the base name of path, then "START--END |
// LINE" for each. It is "" for no definitions. The form is Roo Code's.
func Format(filePath string, defs []Definition) string {
	if len(defs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# " + path.Base(strings.ReplaceAll(filePath, `\`, "/")) + "\n")
	for _, d := range defs {
		b.WriteString(strconv.Itoa(d.Start) + "--" + strconv.Itoa(d.End) + " | " + d.Line + "\n")
	}
	return b.String()
}

// Spanning returns the definitions of at least the given number of lines, in the same order. Roo
// Code lists definitions of four lines and more.
func Spanning(defs []Definition, lines int) []Definition {
	var out []Definition
	for _, d := range defs {
		if d.Lines() >= lines {
			out = append(out, d)
		}
	}
	return out
}
