package toolcall

import (
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestRunners(t *testing.T) {
	tabletest.Examples(t, runners(), func(row table.Row, line string) bool {
		words := lex(line).commands[0].words
		return words[0].text == row.Get("program") && len(innerCommand(words)) > 0
	})
}
