package jsonspan

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Field returns the value of a member of an object; nil when raw is not an object, or the member is
// absent or null. Of a repeated name it is the first.
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

// Decode is json.Unmarshal for the output of other programs: a value of another type than v's
// leaves v unchanged at that place. It returns an error only for invalid JSON.
func Decode(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil
	}
	return err
}

// Int returns a value that is a whole number, 0 for any other.
func Int(raw []byte) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return n
}

// Members returns the members of an object; nil when raw is anything else.
func Members(raw []byte) map[string]json.RawMessage {
	if Kind(raw) != '{' {
		return nil
	}
	f, err := Fields(raw)
	if err != nil {
		return nil
	}
	return f
}

// Text returns a member that is a string; "" for any other.
func Text(members map[string]json.RawMessage, name string) string {
	s, _ := String(members[name])
	return s
}

// Elements returns the elements of an array up to the first that is broken; nil when raw is anything else.
func Elements(raw []byte) []json.RawMessage {
	var out []json.RawMessage
	if Kind(raw) != '[' {
		return nil
	}
	for span, err := range Array(raw) {
		if err != nil {
			return out
		}
		out = append(out, span.Raw)
	}
	return out
}

// First returns the members of the first element of an array; nil when that is no object.
func First(raw []byte) map[string]json.RawMessage {
	if Kind(raw) != '[' {
		return nil
	}
	for span, err := range Array(raw) {
		if err != nil {
			return nil
		}
		return Members(span.Raw)
	}
	return nil
}
