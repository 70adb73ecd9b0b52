package anthropic

import (
	"bytes"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// MaxBreakpoints is how many blocks of one request may carry cache_control.
const MaxBreakpoints = 4

// Breakpoint is the field that marks a block up to which the prompt is cached.
const Breakpoint = "cache_control"

// CapBreakpoints returns an array of messages with at most room blocks that carry cache_control.
// The last ones keep theirs, because APIs search for a cached prefix backward from a breakpoint;
// the others get null.
func CapBreakpoints(messages []byte, room int) []byte {
	if bytes.Count(messages, []byte(Breakpoint)) <= room {
		return messages
	}
	spans := Breakpoints(messages)
	room = max(0, room)
	if len(spans) <= room {
		return messages
	}
	out := make([]byte, 0, len(messages))
	at := 0
	for _, s := range spans[:len(spans)-room] {
		out = append(append(out, messages[at:s.Offset]...), "null"...)
		at = s.Offset + len(s.Raw)
	}
	return append(out, messages[at:]...)
}

// CountBreakpoints returns how many blocks carry cache_control among system
// blocks or tools.
func CountBreakpoints(list []byte) int {
	if bytes.Count(list, []byte(Breakpoint)) == 0 {
		return 0
	}
	return len(inBlocks(nil, list, 0))
}

// Breakpoints returns the values of cache_control in messages, in order.
func Breakpoints(messages []byte) (spans []jsonspan.Span) {
	for m, err := range jsonspan.Array(messages) {
		if err != nil {
			return spans
		}
		for f, err := range jsonspan.Object(m.Raw) {
			if err == nil && f.Name == "content" {
				spans = inBlocks(spans, f.Raw, m.Offset+f.Offset)
			}
		}
	}
	return spans
}

// inBlocks appends the values of cache_control in a list of blocks that starts
// at base, and in the content of tool results. Anything else in a block, such as
// the input of a tool use, may use the name for its own ends.
func inBlocks(spans []jsonspan.Span, list []byte, base int) []jsonspan.Span {
	if jsonspan.Kind(list) != '[' {
		return spans
	}
	for b, err := range jsonspan.Array(list) {
		if err != nil || jsonspan.Kind(b.Raw) != '{' {
			continue
		}
		for f, err := range jsonspan.Object(b.Raw) {
			at := base + b.Offset + f.Offset
			switch {
			case err != nil:
			case f.Name == "content":
				spans = inBlocks(spans, f.Raw, at)
			case f.Name == Breakpoint && jsonspan.Kind(f.Raw) != 'n':
				spans = append(spans, jsonspan.Span{Raw: f.Raw, Offset: at})
			}
		}
	}
	return spans
}
