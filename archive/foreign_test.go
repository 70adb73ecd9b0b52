package archive

import (
	"testing"

	"precis/internal/table"
	"precis/internal/table/tabletest"
)

func TestForeign(t *testing.T) {
	tabletest.Examples(t, foreignTable(), func(row table.Row, example string) bool { return foreign([]byte(example)) == row.Get("program") })
}
