package effects

import (
	"regexp"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestLinesOfGit(t *testing.T) {
	tabletest.Examples(t, gitSaysTable(), func(row table.Row, line string) bool {
		return namesIn(row.Get("means"), line) != nil && regexp.MustCompile("^(?:"+row.Get("line")+")").MatchString(line)
	})
}
