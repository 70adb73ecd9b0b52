package plain

import (
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// messageLines reports whether data begins with a line that is one message.
func messageLines(data []byte) bool {
	for _, raw := range archive.FirstLines(data, 1) {
		return isMessage(raw)
	}
	return false
}

// isMessage reports whether raw is an object with a role, or an item of the Responses
// API.
func isMessage(raw []byte) bool {
	f, err := jsonspan.Fields(raw)
	return err == nil && styleOf(f) != unknown
}

// parseLines reads one message per line. Other objects count as ignored, malformed lines as
// skipped.
func parseLines(data []byte, rec *archive.Recording) *document {
	list := []byte{'['}
	for l := range archive.Lines(data, rec) {
		if !isMessage(l.Raw) {
			rec.Ignored++
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, l.Raw...)
	}
	return &document{list: jsonspan.Span{Raw: append(list, ']')}}
}
