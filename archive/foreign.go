package archive

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"precis/internal/jsonspan"
	"precis/internal/table"
)

//go:embed foreign.txt
var foreignText string

// foreignTable lists recordings of other programs by members of their objects.
var foreignTable = table.Lazy("foreign.txt", foreignText, "keys", "program")

// foreign names the recording that data is, when it is known not to be read; "" for others.
func foreign(data []byte) string {
	const most = 5 // objects
	var first []json.RawMessage
	switch jsonspan.Kind(data) {
	case '[':
		for element, err := range jsonspan.Array(data) {
			if err != nil || len(first) == most {
				break
			}
			first = append(first, element.Raw)
		}
	case '{':
		for _, line := range FirstLines(data, most) {
			first = append(first, line)
		}
		if len(first) == 0 {
			first = append(first, data)
		}
	}
	for _, row := range foreignTable().Rows {
		is := func(object json.RawMessage) bool { return hasAll(object, row.Words("keys")) }
		if slices.ContainsFunc(first, is) {
			return row.Get("program")
		}
	}
	return ""
}

// hasAll reports whether an object has all members, see foreign.txt.
func hasAll(object json.RawMessage, keys []string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return !has(object, key) })
}

func has(value json.RawMessage, key string) bool {
	if jsonspan.Kind(value) == '[' {
		for element, err := range jsonspan.Array(value) {
			return err == nil && has(element.Raw, key) // the first one
		}
	}
	if jsonspan.Kind(value) != '{' {
		return false
	}
	key, begin, _ := strings.Cut(key, "=")
	name, rest, inner := strings.Cut(key, ".")
	fields, err := jsonspan.Fields(value)
	if err != nil || fields[name] == nil {
		return false
	}
	if inner {
		return has(fields[name], strings.TrimSuffix(rest+"="+begin, "="))
	}
	text, _ := jsonspan.String(fields[name])
	return strings.HasPrefix(text, begin)
}
