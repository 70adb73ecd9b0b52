package archive

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/table"
)

//go:embed foreign.txt
var foreignText string

// foreignTable recognizes recordings of other programs by members of their objects.
var foreignTable = table.Lazy("foreign.txt", foreignText, "keys", "program")

// foreignFormat names a recording known to be unsupported; "" for other data.
func foreignFormat(data []byte) string {
	const most = 5 // objects to examine
	var first []fields
	add := func(object []byte) {
		if f, err := jsonspan.Fields(object); err == nil {
			first = append(first, f)
		}
	}
	switch jsonspan.Kind(data) {
	case '[':
		for element, err := range jsonspan.Array(data) {
			if err != nil || len(first) == most {
				break
			}
			add(element.Raw)
		}
	case '{':
		for _, line := range FirstLines(data, most) {
			add(line)
		}
		if len(first) == 0 {
			add(data)
		}
	}
	for _, row := range foreignTable().Rows {
		lacks := func(f fields) func(key string) bool { return func(key string) bool { return !f.has(key) } }
		is := func(f fields) bool { return !slices.ContainsFunc(row.Words("keys"), lacks(f)) }
		if slices.ContainsFunc(first, is) {
			return row.Get("program")
		}
	}
	return ""
}

// fields are the members of an object.
type fields map[string]json.RawMessage

// has reports whether there is a member; foreign.txt defines the syntax.
func (f fields) has(key string) bool {
	path, begin, _ := strings.Cut(key, "=")
	name, inner, nested := strings.Cut(path, ".")
	value, ok := f[name]
	if !ok || !nested {
		text, _ := jsonspan.String(value)
		return ok && strings.HasPrefix(text, begin)
	}
	if jsonspan.Kind(value) == '[' {
		for element := range jsonspan.Array(value) { // the first element; no element if value is not an array
			value = element.Raw
			break
		}
	}
	of, err := jsonspan.Fields(value)
	return err == nil && fields(of).has(strings.TrimSuffix(inner+"="+begin, "="))
}
