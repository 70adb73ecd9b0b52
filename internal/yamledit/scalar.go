package yamledit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// plain matches texts that are written without quotes: words, paths and numbers, in flow and block
// style.
var plain = regexp.MustCompile(`^([A-Za-z_/][A-Za-z0-9_./@+-]*|-?[0-9][A-Za-z0-9_.%-]*)$`)

// scalar writes a text, in quotes if it would otherwise be read as another value.
func scalar(s string) string {
	if plain.MatchString(s) && !strings.EqualFold(s, "null") {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // JSON strings are YAML strings
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
