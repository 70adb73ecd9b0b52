package verify

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

// TestPhrases runs the examples of the table of phrases.
func TestPhrases(t *testing.T) {
	tabletest.Examples(t, phraseTable(), func(row table.Row, example string) bool {
		return lazyregexp.New(patternOf(row)).MatchString(strings.ReplaceAll(example, `\t`, "\t"))
	})
}

// TestDeeds runs the examples of the table of deeds.
func TestDeeds(t *testing.T) {
	tabletest.Examples(t, deedTable(), func(row table.Row, example string) bool {
		return deedOf(row).says.MatchString(example)
	})
}
