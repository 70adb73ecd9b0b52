package toolcall

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestSays(t *testing.T) {
	tabletest.Examples(t, saysTable(), func(row table.Row, example string) bool {
		text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(example)
		return newPatterns([]string{row.Get("pattern")}).match(text) && isOfKind(row.Words("kind")[0], text)
	})
}
