package precis

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
)

// Fingerprint identifies a position in a conversation: a SHA-256 hash chained
// over the canonical form of every message up to it. The zero value stands for
// the empty conversation.
type Fingerprint [sha256.Size]byte

// String returns the fingerprint in hexadecimal.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Short returns the first twelve hexadecimal digits, for people.
func (f Fingerprint) Short() string { return hex.EncodeToString(f[:6]) }

// IsZero reports whether f is that of the empty conversation.
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// Next returns the fingerprint after one more message.
func (f Fingerprint) Next(m Message) Fingerprint { return chain(f, m) }

// MarshalText writes the fingerprint in hexadecimal.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (f *Fingerprint) UnmarshalText(b []byte) error {
	if len(b) != 2*len(f) {
		return Errorf(CodeInvalid, "read fingerprint", "%d digits, want %d", len(b), 2*len(f))
	}
	if _, err := hex.Decode(f[:], b); err != nil {
		return Errorf(CodeInvalid, "read fingerprint", "%w", err)
	}
	return nil
}

// HashMessage returns the hash of the message's canonical form: its role and
// blocks. Identifiers, times, JSON key order and white space, cache markers and
// empty text blocks do not count; text, signatures and tool arguments do.
func HashMessage(m Message) Fingerprint {
	h := sha256.New()
	hashMessage(h, m)
	return sum(h)
}

// HashBlock returns the hash of one block's canonical form.
func HashBlock(b Block) Fingerprint {
	h := sha256.New()
	hashBlock(h, b)
	return sum(h)
}

func chain(prev Fingerprint, m Message) Fingerprint {
	h := sha256.New()
	h.Write(prev[:])
	hashMessage(h, m)
	return sum(h)
}

func sum(h hash.Hash) (f Fingerprint) {
	h.Sum(f[:0])
	return f
}

func hashMessage(h hash.Hash, m Message) {
	hashFields(h, "message", string(m.Role))
	for _, b := range m.Content {
		if t, ok := b.(Text); ok && t.Text == "" {
			continue
		}
		hashBlock(h, b)
	}
}

func hashBlock(h hash.Hash, b Block) {
	switch b := b.(type) {
	case Text:
		hashFields(h, "text", b.Text)
	case Image:
		hashFields(h, "image", b.MediaType, b.Data, b.URL)
	case Document:
		hashFields(h, "document", b.MediaType, b.Title, b.Data, b.URL, b.Text)
	case Thinking:
		hashFields(h, "thinking", b.Text, b.Signature)
	case RedactedThinking:
		hashFields(h, "redacted_thinking", b.Data)
	case ToolUse:
		hashFields(h, "tool_use", b.ID, b.Name, string(canonicalJSON(b.Input)))
	case ToolResult:
		hashFields(h, "tool_result", b.ToolUseID, fmt.Sprint(b.IsError))
		for _, c := range b.Content {
			hashBlock(h, c)
		}
		hashFields(h, "end")
	case Opaque:
		hashFields(h, "opaque", b.Type, string(canonicalJSON(b.Raw)))
	}
}

// hashFields writes each field with its length, so that no two lists of fields
// give the same bytes.
func hashFields(h hash.Hash, fields ...string) {
	var n [8]byte
	for _, f := range fields {
		binary.LittleEndian.PutUint64(n[:], uint64(len(f)))
		h.Write(n[:])
		h.Write([]byte(f))
	}
}

// canonicalJSON returns raw with sorted keys and no white space, numbers as
// written and cache markers gone; raw itself when it is not valid JSON.
func canonicalJSON(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return raw
	}
	if m, ok := v.(map[string]any); ok {
		delete(m, "cache_control")
		delete(m, "prompt_cache_breakpoint")
	}
	out, err := json.Marshal(v)
	if err != nil {
		return raw
	}
	return out
}
