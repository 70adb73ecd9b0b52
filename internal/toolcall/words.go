package toolcall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed words.txt
var wordsText string

//go:embed programs.txt
var programsText string

// wordTable classifies words in calls, programTable describes programs.
var (
	wordTable    = table.Lazy("words.txt", wordsText, "word", "is")
	programTable = table.Lazy("programs.txt", programsText, "program", "as", "reads", "narrows", "alone",
		"before")
)

// wordsOf holds the words of the table by kind, in its order.
var wordsOf = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range wordTable().Rows {
		for _, kind := range row.Words("is") {
			all[kind] = append(all[kind], row.Get("word"))
		}
	}
	return all
})

// is reports whether a word is of a kind that words.txt lists.
func is(kind, word string) bool { return slices.Contains(wordsOf()[kind], word) }

// ofProgram returns the words that programs.txt has for a program in a column.
func ofProgram(name, column string) []string {
	row, ok := programTable().Find(name)
	if !ok {
		return nil
	}
	return row.Words(column)
}

// prints reports whether a program, by its name in a line, prints existing data.
func prints(name string) bool { return strings.HasSuffix(name, ":reads") || is("prints", name) }
