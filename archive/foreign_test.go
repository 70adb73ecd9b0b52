package archive

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

func TestForeign(t *testing.T) {
	tabletest.Examples(t, foreignTable(), func(row table.Row, example string) bool { return foreignFormat([]byte(example)) == row.Get("program") })
}

// What no format recognizes is described as what it is.
func TestWhatIsNoConversation(t *testing.T) {
	for data, want := range map[string]string{
		"null":                   "no object and no list",
		`"x"`:                    "no object and no list",
		`{"messages":{}}`:        "no list of messages",
		"\xff\xfe{\x00}\x00":     "UTF-16",
		"\x1f\x8b\x08\x00":       "compressed",
		"notes":                  "no JSON",
		"[1]":                    "first element is no message",
		"[]":                     "the list of messages is empty",
		`{"a":1}`:                `without "messages"`,
		"{\"a\":1}\n{\"a\":2}\n": "JSON lines",
	} {
		if got := nature([]byte(data)); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", data, got, want)
		}
	}
}
