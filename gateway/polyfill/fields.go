package polyfill

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// InvalidError is the API's error for a field that it would refuse.
type InvalidError struct {
	Param   string // e.g. "context_management.edits.0.keep.value"
	Message string
}

// Error returns "PARAM: MESSAGE".
func (e *InvalidError) Error() string { return e.Param + ": " + e.Message }

// Body returns the body of the error in the format of a dialect.
func (e *InvalidError) Body(dialect string) []byte {
	if dialect == responses.Format {
		body := jsonspan.AppendStringField([]byte(`{"error":{`), "message", e.Message)
		body = jsonspan.AppendStringField(body, "type", "invalid_request_error")
		return append(jsonspan.AppendStringField(body, "param", e.Param), `,"code":"invalid_value"}}`...)
	}
	message := e.Message
	if dialect == anthropic.Format && e.Param != "" {
		message = e.Error()
	}
	body := jsonspan.AppendStringField([]byte(`{"type":"error","error":{"type":"invalid_request_error"`),
		"message", message)
	return append(body, "}}"...)
}

// fields reads fields and records the first error.
type fields struct{ invalid *InvalidError }

func (f *fields) fail(param, format string, args ...any) {
	if f.invalid == nil {
		f.invalid = &InvalidError{param, fmt.Sprintf(format, args...)}
	}
}

// err returns the first error; nil when all fields are valid.
func (f *fields) err() error {
	if f.invalid == nil {
		return nil
	}
	return f.invalid
}

func absent(raw json.RawMessage) bool { k := jsonspan.Kind(raw); return k == 0 || k == 'n' }

// object reads an object that may have only the known fields.
func (f *fields) object(raw json.RawMessage, param string, known ...string) map[string]json.RawMessage {
	m, err := jsonspan.Fields(raw)
	if err != nil || jsonspan.Kind(raw) != '{' {
		f.fail(param, "Input should be a valid dictionary or object to extract fields from")
		return nil
	}
	for _, name := range sorted(m) {
		if len(known) > 0 && !slices.Contains(known, name) {
			f.fail(param+"."+name, "Extra inputs are not permitted")
		}
	}
	return m
}

func sorted(m map[string]json.RawMessage) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// list reads an array; nil when it is absent.
func (f *fields) list(raw json.RawMessage, param string) (out []json.RawMessage) {
	if absent(raw) {
		return nil
	}
	if jsonspan.Kind(raw) != '[' {
		f.fail(param, "Input should be a valid list")
		return nil
	}
	for s, err := range jsonspan.Array(raw) {
		if err != nil {
			f.fail(param, "Input should be a valid list")
			return nil
		}
		out = append(out, s.Raw)
	}
	return out
}

// texts reads a list of strings.
func (f *fields) texts(raw json.RawMessage, param string) (out []string) {
	for i, e := range f.list(raw, param) {
		s, ok := jsonspan.String(e)
		if !ok {
			f.fail(param+"."+strconv.Itoa(i), "Input should be a valid string")
		}
		out = append(out, s)
	}
	return out
}

// text reads a string; "" when it is absent.
func (f *fields) text(raw json.RawMessage, param string) string {
	if absent(raw) {
		return ""
	}
	s, ok := jsonspan.String(raw)
	if !ok {
		f.fail(param, "Input should be a valid string")
	}
	return s
}

// boolean reads true or false; false when it is absent.
func (f *fields) boolean(raw json.RawMessage, param string) bool {
	switch jsonspan.Kind(raw) {
	case 't':
		return true
	case 'f', 0, 'n':
		return false
	}
	f.fail(param, "Input should be a valid boolean")
	return false
}

// number reads a whole number of at least least.
func (f *fields) number(raw json.RawMessage, param string, least int) int {
	if absent(raw) {
		f.fail(param, "Field required")
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		f.fail(param, "Input should be a valid integer")
		return 0
	}
	if n < least {
		f.fail(param, "Input should be greater than or equal to %d", least)
	}
	return n
}

// amount reads {"type":KIND,"value":N} of one of the kinds.
func (f *fields) amount(raw json.RawMessage, param string, least int, kinds ...string) (kind string, n int) {
	m := f.object(raw, param, "type", "value")
	if m == nil {
		return "", 0
	}
	kind, _ = jsonspan.String(m["type"])
	if !slices.Contains(kinds, kind) {
		f.tag(param, kind, kinds)
		return kind, 0
	}
	return kind, f.number(m["value"], param+".value", least)
}

// tag records an error for an object with a type outside the kinds.
func (f *fields) tag(param, kind string, kinds []string) {
	if kind == "" {
		f.fail(param, "Unable to extract tag using discriminator 'type'")
		return
	}
	f.fail(param, "Input tag '%.40s' found using 'type' does not match any of the expected tags: '%s'", kind,
		strings.Join(kinds, "', '"))
}
