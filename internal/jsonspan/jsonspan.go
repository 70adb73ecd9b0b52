// Package jsonspan answers: which bytes of a JSON text are which value? It hands out exact bytes,
// so that unknown parts can be kept unchanged. It accepts what JavaScript programs really write:
// duplicate names, lone surrogates and invalid UTF-8 inside strings. Nesting is limited to 10,000
// levels.
package jsonspan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Error is a fault in JSON text at a byte offset from its start.
type Error struct {
	Offset int64
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Kind returns the type of a value, by its first byte: '{', '[', '"', 't', 'f', 'n', '0' for any
// number, 0 for empty input.
func Kind(raw []byte) byte {
	raw = trim(raw)
	if len(raw) == 0 {
		return 0
	}
	if c := raw[0]; c == '-' || '0' <= c && c <= '9' {
		return '0'
	} else {
		return c
	}
}

func trim(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t' || raw[0] == '\n' || raw[0] == '\r') {
		raw = raw[1:]
	}
	return raw
}

// Valid returns nil when data is exactly one JSON value, else an [*Error].
func Valid(data []byte) error {
	d := decoder(data)
	defer d.release()
	if err := d.SkipValue(); err != nil {
		return fault(d, err)
	}
	if _, err := d.ReadToken(); err == nil {
		return &Error{Offset: d.InputOffset(), Err: errors.New("more text after the end of the value")}
	} else if !errors.Is(err, io.EOF) {
		return fault(d, err)
	}
	return nil
}

// Array yields the elements of a JSON array with their byte offsets from the
// start of raw. Iteration ends after the first error.
func Array(raw []byte) iter.Seq2[Span, error] {
	return func(yield func(Span, error) bool) {
		d := decoder(raw)
		defer d.release()
		if err := open(d, '['); err != nil {
			yield(Span{}, err)
			return
		}
		for d.PeekKind() != ']' {
			s, err := value(d, raw)
			if !yield(s, err) || err != nil {
				return
			}
		}
		if _, err := d.ReadToken(); err != nil {
			yield(Span{}, fault(d, err))
		}
	}
}

// Span is one value: its exact bytes and where they start.
type Span struct {
	Raw    json.RawMessage
	Offset int
}

// Object yields the members of a JSON object in order. Iteration ends after the
// first error.
func Object(raw []byte) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		d := decoder(raw)
		defer d.release()
		if err := open(d, '{'); err != nil {
			yield(Member{}, err)
			return
		}
		for d.PeekKind() != '}' {
			t, err := d.ReadToken()
			if err != nil {
				yield(Member{}, fault(d, err))
				return
			}
			name := t.String()
			s, err := value(d, raw)
			if !yield(Member{Name: name, Span: s}, err) || err != nil {
				return
			}
		}
		if _, err := d.ReadToken(); err != nil {
			yield(Member{}, fault(d, err))
		}
	}
}

// Member is one name and value of an object.
type Member struct {
	Name string
	Span
}

// Fields returns the members of an object by name; of repeated names the last.
func Fields(raw []byte) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for m, err := range Object(raw) {
		if err != nil {
			return nil, err
		}
		out[m.Name] = m.Raw
	}
	return out, nil
}

// String decodes a JSON string. ok is false for any other value.
func String(raw []byte) (s string, ok bool) {
	raw = trim(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if body := raw[1 : len(raw)-1]; bytes.IndexByte(body, '\\') < 0 {
		return string(bytes.ToValidUTF8(body, []byte("\uFFFD"))), true
	}
	out, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
	if err != nil && !errors.As(err, new(*jsontext.SyntacticError)) {
		return "", false
	}
	return string(out), true
}

// reading is a decoder with its buffer, pooled because a recording has a million small values.
type reading struct {
	*jsontext.Decoder
	buf bytes.Buffer
}

var readings = sync.Pool{New: func() any { return &reading{Decoder: new(jsontext.Decoder)} }}

// decoder returns a decoder of data, to be released.
func decoder(data []byte) *reading {
	d := readings.Get().(*reading)
	d.reset(data)
	return d
}

func (d *reading) reset(data []byte) {
	d.buf = *bytes.NewBuffer(data)
	d.Reset(&d.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// release returns the decoder to the pool; the caller must not use it afterwards.
func (d *reading) release() {
	d.reset(nil)
	readings.Put(d)
}

func open(d *reading, want jsontext.Kind) error {
	if k := d.PeekKind(); k != want {
		if k == jsontext.KindInvalid {
			_, err := d.ReadToken()
			return fault(d, err)
		}
		return &Error{Offset: d.InputOffset(), Err: fmt.Errorf("%s where %s is wanted", name(k), name(want))}
	}
	_, err := d.ReadToken()
	return err
}

func name(k jsontext.Kind) string {
	switch k {
	case '[', ']':
		return "an array"
	case '{', '}':
		return "an object"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "something else"
}

func value(d *reading, raw []byte) (Span, error) {
	v, err := d.ReadValue()
	if err != nil {
		return Span{}, fault(d, err)
	}
	end := int(d.InputOffset())
	start := end - len(v)
	return Span{Raw: json.RawMessage(raw[start:end:end]), Offset: start}, nil
}

// fault turns the decoder's errors into an [*Error].
func fault(d *reading, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		return &Error{Offset: syntax.ByteOffset, Err: syntax.Err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Offset: d.InputOffset(), Err: errors.New("the text ends in the middle of a value")}
	}
	return &Error{Offset: d.InputOffset(), Err: err}
}
