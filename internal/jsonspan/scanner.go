package jsonspan

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Scanner walks JSON text value by value and can start anywhere in it. It suits texts with a known
// part. Make one with [NewScanner] and close it.
type Scanner struct {
	raw []byte
	at  int
	dec *reading
}

// NewScanner returns a scanner at the start of raw.
func NewScanner(raw []byte) *Scanner {
	return &Scanner{raw: raw, dec: decoder(nil)}
}

// Close releases the scanner; the caller must not use it afterwards.
func (s *Scanner) Close() {
	s.raw = nil
	s.dec.release()
}

// Offset returns the scanner's position.
func (s *Scanner) Offset() int { return s.at }

// Seek moves to a position between two values.
func (s *Scanner) Seek(at int) { s.at = at }

func (s *Scanner) space() {
	for s.at < len(s.raw) {
		switch s.raw[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// Peek returns the first byte of the next token, 0 at the end.
func (s *Scanner) Peek() byte {
	s.space()
	if s.at == len(s.raw) {
		return 0
	}
	return s.raw[s.at]
}

func (s *Scanner) fail(format string, args ...any) error {
	if s.at >= len(s.raw) {
		return &Error{Offset: int64(len(s.raw)), Err: errors.New("the text ends in the middle of a value")}
	}
	return &Error{Offset: int64(s.at), Err: fmt.Errorf(format, args...)}
}

// Open reads the bracket that opens an object or array.
func (s *Scanner) Open(bracket byte) error {
	if c := s.Peek(); c != bracket {
		return s.fail("%s where %s is wanted", name(jsontext.Kind(Kind(s.raw[s.at:]))),
			name(jsontext.Kind(bracket)))
	}
	s.at++
	return nil
}

// More reports whether another element follows, and reads the comma before it, or else the closing
// bracket. First means that no element was read yet.
func (s *Scanner) More(closing byte, first bool) (bool, error) {
	if !first {
		return s.Next(closing)
	}
	if s.Peek() == closing {
		s.at++
		return false, nil
	}
	return true, nil
}

// Next is More after the first element.
func (s *Scanner) Next(closing byte) (bool, error) {
	switch s.Peek() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.at++
		return false, nil
	}
	return false, s.fail("a comma or %q is wanted", string(closing))
}

// Name reads the name of a member and its colon. It returns the offset of the name.
func (s *Scanner) Name() (at int, name string, err error) {
	if s.Peek() != '"' {
		return 0, "", s.fail("a name is wanted")
	}
	from, to, err := s.Value()
	if err != nil {
		return 0, "", err
	}
	name, _ = String(s.raw[from:to])
	if s.Peek() != ':' {
		return 0, "", s.fail("a colon is wanted")
	}
	s.at++
	return from, name, nil
}

// Value reads and validates one value, and returns its bounds.
func (s *Scanner) Value() (from, to int, err error) {
	if c := s.Peek(); c == 0 || c == ',' || c == ']' || c == '}' || c == ':' {
		return 0, 0, s.fail("a value is wanted")
	}
	s.dec.reset(s.raw[s.at:])
	v, err := s.dec.ReadValue()
	if err != nil {
		e := fault(s.dec, err)
		var place *Error
		if errors.As(e, &place) {
			place.Offset += int64(s.at)
		}
		return 0, 0, e
	}
	end := s.at + int(s.dec.InputOffset())
	from = end - len(v)
	s.at = end
	return from, end, nil
}

// End returns an error if anything but white space follows.
func (s *Scanner) End() error {
	if s.Peek(); s.at < len(s.raw) { // a NUL byte is text, too
		return s.fail("more text after the end of the value")
	}
	return nil
}
