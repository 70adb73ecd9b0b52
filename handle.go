package precis

import (
	"fmt"
	"strconv"
	"strings"
)

// Handle names messages [From,To) of a transcript, or one block inside the message From when Block
// is not negative. Its text form is what people and models use to read hidden content again: "m12"
// is one message, "m12-m40" are messages 12 to 40 inclusive, "m12.b3" is one block. Counting starts
// at 0. Messages never move, so a handle stays valid.
type Handle struct {
	From, To int
	Block    int // -1: whole messages
}

// MessageHandle names message i.
func MessageHandle(i int) Handle { return Handle{From: i, To: i + 1, Block: -1} }

// SpanHandle names messages [from,to).
func SpanHandle(from, to int) Handle { return Handle{From: from, To: to, Block: -1} }

// BlockHandle names block b of message i.
func BlockHandle(i, b int) Handle { return Handle{From: i, To: i + 1, Block: b} }

// String returns the text form, which [ParseHandle] reads.
func (h Handle) String() string {
	switch {
	case h.Block >= 0:
		return fmt.Sprintf("m%d.b%d", h.From, h.Block)
	case h.To == h.From+1:
		return fmt.Sprintf("m%d", h.From)
	default:
		return fmt.Sprintf("m%d-m%d", h.From, h.To-1)
	}
}

// ParseHandle reads the text form of a handle. The error is [CodeInvalid].
func ParseHandle(s string) (Handle, error) {
	bad := Errorf(CodeInvalid, "read handle", "%q is not a handle such as m12, m12-m40 or m12.b3", s)
	if first, last, ok := strings.Cut(s, "-"); ok {
		from, ok1 := parseIndex(first, "m")
		to, ok2 := parseIndex(last, "m")
		switch {
		case !ok1 || !ok2:
			return Handle{}, bad
		case to < from:
			return Handle{}, &Error{Code: CodeInvalid, Op: "read handle",
				Err:  fmt.Errorf("the range %q is backwards", s),
				Hint: fmt.Sprintf("messages are named oldest first: m%d-m%d", to, from)}
		}
		return SpanHandle(from, to+1), nil
	}
	msg, block, hasBlock := strings.Cut(s, ".")
	i, ok := parseIndex(msg, "m")
	if !ok {
		return Handle{}, bad
	}
	if !hasBlock {
		return MessageHandle(i), nil
	}
	b, ok := parseIndex(block, "b")
	if !ok {
		return Handle{}, bad
	}
	return BlockHandle(i, b), nil
}

func parseIndex(s, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(s, prefix)
	if !ok || digits == "" || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// MarshalText writes the text form.
func (h Handle) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the text form.
func (h *Handle) UnmarshalText(b []byte) (err error) {
	*h, err = ParseHandle(string(b))
	return err
}
