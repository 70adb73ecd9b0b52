// Package table reads tables of data: text files that the program embeds, one
// entry a line, each with an example that a test runs.
//
// A table is UTF-8. Blank lines and lines that begin with "#" are ignored. The
// first other line names the columns; each later one is an entry. One or more
// tabs separate two fields, and a field may contain any other character; an
// empty field is written "-". The first column is the key of an entry. The last
// columns may be named [Example] and [Counterexample], each as often as needed:
// what an entry must match, and what it must not. Package tabletest runs them.
//
// Decision 024 says when a list belongs in a table.
package table

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The optional columns at the end.
const (
	Example        = "example"
	Counterexample = "counterexample"
)

// Table holds the entries of a file. It is not modified after [Parse].
type Table struct {
	Rows []Row // in the order of the file
	keys map[string]int
}

// Row is one entry.
type Row struct {
	Place   string // file and line, as "name.txt:7"
	columns []string
	fields  []string
}

// Parse reads a table with the given columns, in this order, and any examples
// after them. Errors begin with the name of the file and the line.
func Parse(name, text string, columns ...string) (*Table, error) {
	t := &Table{keys: map[string]int{}}
	var header []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		place := fmt.Sprintf("%s:%d", name, n)
		if !utf8.ValidString(line) {
			return nil, fmt.Errorf("%s: invalid UTF-8", place)
		}
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(line, func(r rune) bool { return r == '\t' })
		if header == nil {
			if err := checkHeader(fields, columns); err != nil {
				return nil, fmt.Errorf("%s: %w", place, err)
			}
			header = fields
			continue
		}
		if len(fields) != len(header) {
			return nil, fmt.Errorf("%s: %d fields, want %d: %s", place, len(fields), len(header),
				strings.Join(header, ", "))
		}
		if first, ok := t.keys[fields[0]]; ok {
			return nil, fmt.Errorf("%s: duplicate %s %q, first at %s", place, header[0], fields[0],
				t.Rows[first].Place)
		}
		t.keys[fields[0]] = len(t.Rows)
		t.Rows = append(t.Rows, Row{Place: place, columns: header, fields: fields})
	}
	if header == nil {
		return nil, fmt.Errorf("%s: no line names the columns", name)
	}
	return t, nil
}

func checkHeader(header, columns []string) error {
	for i, want := range columns {
		if i >= len(header) || header[i] != want {
			return fmt.Errorf("column %d must be %q", i+1, want)
		}
	}
	for _, c := range header[len(columns):] {
		if c != Example && c != Counterexample {
			return fmt.Errorf("unknown column %q", c)
		}
	}
	return nil
}

// Lazy returns a function that parses an embedded table when it is first called.
// It panics when the table is malformed.
func Lazy(name, text string, columns ...string) func() *Table {
	return sync.OnceValue(func() *Table {
		t, err := Parse(name, text, columns...)
		if err != nil {
			panic(err)
		}
		return t
	})
}

// Find returns the entry with the given key, and whether there is one.
func (t *Table) Find(key string) (Row, bool) {
	i, ok := t.keys[key]
	if !ok {
		return Row{}, false
	}
	return t.Rows[i], true
}

// Has reports whether the entry with the key exists and has the word in a column.
func (t *Table) Has(key, column, word string) bool {
	row, ok := t.Find(key)
	return ok && slices.Contains(row.Words(column), word)
}

// Get returns the field of a column, "" when it is empty. It panics when the
// table has no such column.
func (r Row) Get(column string) string {
	field := r.fields[slices.Index(r.columns, column)]
	if field == "-" {
		return ""
	}
	return field
}

// Words returns the words of a field, which spaces separate.
func (r Row) Words(column string) []string { return strings.Fields(r.Get(column)) }

// All returns the fields of every column with the given name, without empty ones.
func (r Row) All(column string) (all []string) {
	for i, c := range r.columns {
		if c == column && r.fields[i] != "-" {
			all = append(all, r.fields[i])
		}
	}
	return all
}
