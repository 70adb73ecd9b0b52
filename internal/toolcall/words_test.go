package toolcall

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestWords(t *testing.T) {
	tabletest.Examples(t, wordTable(), func(row table.Row, example string) bool {
		return strings.Contains(example, row.Get("word")) && is(row.Words("is")[0], row.Get("word"))
	})
}

func TestPrograms(t *testing.T) {
	tabletest.Examples(t, programTable(), func(row table.Row, line string) bool {
		as, p := row.Get("as"), PurposeOf(line)
		switch {
		case as != "":
			return p.Key == as || strings.HasPrefix(p.Key, as+" ")
		case row.Get("before") != "" && did(line) != "":
			return did(line) == "-a.txt"
		case unwrapped(lex(line).commands[0].words)[0].text == "rm": // behind a runner
			return true
		case row.Get("reads") != "", row.Get("before") != "":
			return Prints(line)
		}
		return p.filter != ""
	})
}
