package provider

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// number returns a value that is a whole number, 0 for any other.
func number(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return n
}

// memberOf returns a member of an object; nil if the value is no object or lacks the member.
func memberOf(raw json.RawMessage, name string) json.RawMessage {
	if jsonspan.Kind(raw) != '{' {
		return nil
	}
	fields, err := jsonspan.Fields(raw)
	if err != nil || jsonspan.Kind(fields[name]) == 'n' {
		return nil
	}
	return fields[name]
}

// text returns a value that is a string, "" for any other.
func text(raw json.RawMessage) string {
	s, _ := jsonspan.String(raw)
	return s
}

// onlyTexts returns m with only its text blocks that are not empty.
func onlyTexts(m precis.Message) precis.Message {
	var content []precis.Block
	for _, b := range m.Content {
		if t, ok := b.(precis.Text); ok && strings.TrimSpace(t.Text) != "" {
			content = append(content, t)
		}
	}
	return precis.Message{Role: precis.RoleSystem, Content: content, Format: m.Format}
}

// appendNumber appends a field that is a number.
func appendNumber(b []byte, name string, n int) []byte {
	return strconv.AppendInt(jsonspan.AppendField(b, name), int64(n), 10)
}

// appendBool appends a field that is true or false.
func appendBool(b []byte, name string, value bool) []byte {
	if value {
		return append(jsonspan.AppendField(b, name), "true"...)
	}
	return append(jsonspan.AppendField(b, name), "false"...)
}
