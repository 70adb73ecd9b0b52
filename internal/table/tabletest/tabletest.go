// Package tabletest checks each entry of a table of patterns against its own examples and
// counterexamples.
//
//precis:testonly
package tabletest

import (
	"testing"

	"github.com/precis-dev/precis/internal/table"
)

// Examples calls match with each example and counterexample of a table, and
// fails when an example does not match, when a counterexample does, and when an
// entry has no example.
func Examples(t testing.TB, tbl *table.Table, match func(row table.Row, example string) bool) {
	t.Helper()
	for _, row := range tbl.Rows {
		examples := row.All(table.Example)
		if len(examples) == 0 {
			t.Errorf("%s: no example", row.Place)
		}
		for _, e := range examples {
			if !match(row, e) {
				t.Errorf("%s: %q does not match", row.Place, e)
			}
		}
		for _, e := range row.All(table.Counterexample) {
			if match(row, e) {
				t.Errorf("%s: %q matches, but is a counterexample", row.Place, e)
			}
		}
	}
}
