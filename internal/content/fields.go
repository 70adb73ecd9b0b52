package content

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"precis"
	"precis/internal/jsonspan"
)

// Keep returns fields with a member of an object that its reader does not understand. One
// that is null says nothing and is left out. The bytes are copied: those of a message may be let go.
func Keep(fields []precis.Field, name string, raw json.RawMessage) []precis.Field {
	if jsonspan.Kind(raw) == 'n' {
		return fields
	}
	return append(fields, precis.Field{Name: name, Raw: bytes.Clone(raw)})
}

// Unread returns the members of an object but those that its reader reads, in the order of
// their names; nil when there are none.
func Unread(members map[string]json.RawMessage, read ...string) []precis.Field {
	var out []precis.Field
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(read, name) {
			out = Keep(out, name, members[name])
		}
	}
	return out
}

// AppendFields appends fields to the object that dst ends in, but those that are no valid
// JSON or not valid UTF-8.
func AppendFields(dst []byte, fields []precis.Field) []byte {
	for _, f := range fields {
		if jsonspan.Clean(f.Raw) && jsonspan.Valid(f.Raw) == nil {
			dst = append(jsonspan.AppendField(dst, f.Name), f.Raw...)
		}
	}
	return dst
}
