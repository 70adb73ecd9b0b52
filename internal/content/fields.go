package content

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Keep returns fields extended by a member of an object that its reader does not know, unless the
// member is null. It copies the bytes, so that the message's own can be freed.
func Keep(fields []precis.Field, name string, raw json.RawMessage) []precis.Field {
	if jsonspan.Kind(raw) == 'n' {
		return fields
	}
	return append(fields, precis.Field{Name: name, Raw: bytes.Clone(raw)})
}

// Unread returns the members of an object that its reader does not read, ordered by name; nil
// without any.
func Unread(members map[string]json.RawMessage, read ...string) []precis.Field {
	var out []precis.Field
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(read, name) {
			out = Keep(out, name, members[name])
		}
	}
	return out
}

// AppendFields appends fields to the object at the end of dst, except invalid JSON or UTF-8.
func AppendFields(dst []byte, fields []precis.Field) []byte {
	for _, f := range fields {
		if jsonspan.Clean(f.Raw) && jsonspan.Valid(f.Raw) == nil {
			dst = append(jsonspan.AppendField(dst, f.Name), f.Raw...)
		}
	}
	return dst
}
