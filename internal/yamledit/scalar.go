package yamledit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// plain are texts that are written without quotes: words, paths and numbers, in braces
// and outside.
var plain = regexp.MustCompile(`^([A-Za-z_/][A-Za-z0-9_./@+-]*|-?[0-9][A-Za-z0-9_.%-]*)$`)

// scalar writes a text, in quotes where it would be read as something else.
func scalar(s string) string {
	if plain.MatchString(s) && !strings.EqualFold(s, "null") {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // the strings of JSON are strings of YAML
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can be
	return strings.TrimSuffix(b.String(), "\n")
}
