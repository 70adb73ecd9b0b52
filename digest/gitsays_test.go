package digest

import (
	"regexp"
	"testing"

	"precis/internal/table"
	"precis/internal/table/tabletest"
)

func TestLinesOfGit(t *testing.T) {
	tabletest.Examples(t, gitSaysTable(), func(row table.Row, line string) bool {
		return namesIn(row.Get("means"), line) != nil && regexp.MustCompile("^(?:"+row.Get("line")+")").MatchString(line)
	})
}
