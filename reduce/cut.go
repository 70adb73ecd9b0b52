package reduce

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis"
)

// shrinkJSON shortens the long strings of a JSON value, at any depth.
func shrinkJSON(raw json.RawMessage, h precis.Handle, over int) (json.RawMessage, bool) {
	if !hasLongString(raw, over) {
		return nil, false
	}
	opts := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), opts...)
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, opts...)
	changed, depth := false, -1
	for depth != 0 {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		kind, n := d.StackIndex(d.StackDepth())
		isName := kind == jsontext.KindBeginObject && n%2 == 1
		if t.Kind() == '"' && !isName && utf8.RuneCountInString(t.String()) > over {
			t, changed = jsontext.String(cutMiddle(t.String(), over/4, over/8, h)), true
		}
		if err := e.WriteToken(t); err != nil {
			return nil, false
		}
		depth = d.StackDepth()
	}
	return bytes.TrimSpace(out.Bytes()), changed
}

// hasLongString reports whether some string of a JSON value takes more than n bytes, as it
// is written.
func hasLongString(raw []byte, n int) bool {
	for len(raw) > n {
		from := bytes.IndexByte(raw, '"')
		if from < 0 {
			return false
		}
		raw = raw[from+1:]
		end := 0
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end > n {
			return true
		}
		raw = raw[min(end+1, len(raw)):]
	}
	return false
}

// cutMiddle keeps the first head and the last tail bytes of s, moved to the
// nearest character, with a note between them that states how much is missing.
func cutMiddle(s string, head, tail int, h precis.Handle) string {
	if head+tail >= len(s) {
		return s
	}
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	from := len(s) - tail
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	gone := utf8.RuneCountInString(s[head:from])
	return fmt.Sprintf("%s\n[… %d characters left out; all of it: %s …]\n%s", s[:head], gone, h, s[from:])
}
