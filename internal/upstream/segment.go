package upstream

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
)

type hash = [sha256.Size]byte

// segment is the smallest cached part of a prompt: a tool, a block of the system prompt, or a block
// of a message.
type segment struct {
	text    []byte // canonical
	own     hash   // of the segment itself
	prefix  hash   // of everything up to and including it
	chars   int
	message int  // index of its message; -1 before the messages
	marked  bool // it has cache_control
}

// segmentsOf splits a request in the order of the prompt cache.
func segmentsOf(d *dialect, body object) (out []segment) {
	add := func(v any, role string, message int) {
		if isBillingBlock(v) {
			return
		}
		o, _ := v.(object)
		clean := simplify(v)
		s := segment{text: append([]byte(role+":"), encode(clean)...), chars: chars(clean), message: message,
			marked: o["cache_control"] != nil}
		s.own = sha256.Sum256(s.text)
		link := s.own[:]
		if n := len(out); n > 0 {
			link = slices.Concat(out[n-1].prefix[:], link)
		}
		s.prefix = sha256.Sum256(link)
		out = append(out, s)
	}
	for _, name := range d.before {
		for _, v := range elements(body[name]) {
			add(v, name, -1)
		}
	}
	for i, m := range elements(body[d.messages]) {
		for _, b := range d.blocks(m) {
			add(b, str(m, "role"), i)
		}
	}
	if n := len(out); n > 0 && body["cache_control"] != nil {
		out[n-1].marked = true
	}
	return out
}

// elements returns a list, or for a string a list with one block of text.
func elements(v any) []any {
	if s, ok := v.(string); ok {
		return []any{object{"type": "text", "text": s}}
	}
	return list(v)
}

// isBillingBlock reports whether v is the block by Claude Code that changes with versions and is not part
// of the prompt.
func isBillingBlock(v any) bool {
	return strings.HasPrefix(str(v, "text"), "x-anthropic-billing-header:")
}

// unread are fields ignored by the model.
var unread = []string{"cache_control", "prompt_cache_breakpoint", "annotations", "logprobs", "status",
	"internal_chat_message_metadata_passthrough"}

// simplify returns v without differences that the model ignores: unread fields, nulls, and the
// choice between a string and a block of text.
func simplify(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = simplify(v[i])
		}
		return out
	case object:
		out := make(object, len(v))
		for name, field := range v {
			switch {
			case field == nil, slices.Contains(unread, name):
			case name == "input" || name == "input_schema" || name == "parameters":
				out[name] = field // opaque: not simplified
			case name == "content":
				out[name] = simplify(elements(field))
			case name == "id" && str(v, "call_id")+str(v, "role")+str(v, "encrypted_content") != "":
				// the API's own name of an item
			default:
				out[name] = simplify(field)
			}
		}
		return out
	}
	return v
}

// imageChars is the size of an image in characters, whatever its bytes.
const imageChars = 6000

// chars counts the characters that the model reads.
func chars(v any) (n int) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "data:image/") {
			return imageChars
		}
		return utf8.RuneCountInString(v)
	case []any:
		for _, e := range v {
			n += chars(e)
		}
	case object:
		if str(v, "type") == "base64" {
			return imageChars
		}
		for name, field := range v {
			n += len(name) + chars(field)
		}
	default:
		n = 4
	}
	return n
}

// countTokens returns the number of tokens in segments.
func countTokens(segments []segment) int {
	n := 0
	for _, s := range segments {
		n += s.chars
	}
	return n / 4
}
