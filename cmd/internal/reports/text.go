package reports

import (
	"strings"

	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/preview"
)

// oneLine puts text on one line of at most n columns; n below 8 counts as 8.
func oneLine(s string, n int) string { return term.Cut(preview.Line(s, 4*max(n, 8)), max(n, 8)) }

// ShellWord quotes s if a shell would split or expand it.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
