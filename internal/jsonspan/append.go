package jsonspan

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // the error only reports replaced invalid UTF-8
	return out
}

// AppendField appends a comma where one is needed, a quoted name and a colon.
func AppendField(dst []byte, name string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' && dst[n-1] != ',' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, name), ':')
}

// AppendStringField appends a field with a string value.
func AppendStringField(dst []byte, name, value string) []byte {
	return AppendString(AppendField(dst, name), value)
}

// Clean reports whether raw can be sent as it is: it is valid UTF-8.
func Clean(raw []byte) bool { return len(raw) > 0 && utf8.Valid(raw) }
