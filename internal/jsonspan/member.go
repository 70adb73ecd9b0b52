package jsonspan

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Field returns the value of a member of an object; nil when raw is no object,
// or the member is absent or null. Of a repeated name it is the first.
func Field(raw []byte, name string) json.RawMessage {
	if Kind(raw) != '{' {
		return nil
	}
	s := NewScanner(raw)
	defer s.Close()
	if s.Open('{') != nil {
		return nil
	}
	for first := true; ; first = false {
		if more, err := s.More('}', first); err != nil || !more {
			return nil
		}
		_, key, err := s.Name()
		if err != nil {
			return nil
		}
		from, to, err := s.Value()
		if err != nil {
			return nil
		}
		if key == name {
			if raw[from] == 'n' {
				return nil
			}
			return json.RawMessage(raw[from:to:to])
		}
	}
}

// Int returns a value that is a whole number, 0 for any other.
func Int(raw []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return n
}
