package precis

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"sync"
)

// Fingerprint identifies a position in a conversation: a SHA-256 hash chained over the canonical
// form of every message up to it. The zero value is the fingerprint of the empty conversation.
type Fingerprint [sha256.Size]byte

// String returns the fingerprint in hexadecimal.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Short returns the first twelve hexadecimal digits, for people.
func (f Fingerprint) Short() string { return hex.EncodeToString(f[:6]) }

// IsZero reports whether f is the fingerprint of the empty conversation.
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
	h := newHasher()
	h.message(m)
	return h.sum()
}

// HashBlock returns the hash of one block's canonical form.
func HashBlock(b Block) Fingerprint {
	h := newHasher()
	h.block(b)
	return h.sum()
}

// EqualBlocks reports whether two blocks have the same canonical form, see [HashBlock]. Blocks with
// the same bytes are not hashed.
func EqualBlocks(a, b Block) bool {
	switch a := a.(type) {
	case Text:
		b, ok := b.(Text)
		return ok && a.Text == b.Text
	case ToolUse:
		if b, ok := b.(ToolUse); ok && a.ID == b.ID && a.Name == b.Name && bytes.Equal(a.Input, b.Input) {
			return true
		}
	case ToolResult:
		b, ok := b.(ToolResult)
		return ok && a.ToolUseID == b.ToolUseID && a.IsError == b.IsError && slices.EqualFunc(a.Content,
			b.Content, EqualBlocks)
	case Opaque:
		if b, ok := b.(Opaque); ok && a.Type == b.Type && bytes.Equal(a.Raw, b.Raw) {
			return true
		}
	}
	return HashBlock(a) == HashBlock(b)
}

func chain(prev Fingerprint, m Message) Fingerprint {
	h := newHasher()
	h.Write(prev[:])
	h.message(m)
	return h.sum()
}

// hasher hashes canonical forms. It is used again after its sum.
type hasher struct {
	hash.Hash
	buf [4096]byte
}

var hashers = sync.Pool{New: func() any { return &hasher{Hash: sha256.New()} }}

func newHasher() *hasher { return hashers.Get().(*hasher) }

// sum returns the hash and gives the hasher back.
func (h *hasher) sum() (f Fingerprint) {
	copy(f[:], h.Sum(h.buf[:0]))
	h.Reset()
	hashers.Put(h)
	return f
}

func (h *hasher) message(m Message) {
	h.fields("message", string(m.Role))
	for _, b := range m.Content {
		if t, ok := b.(Text); ok && t.Text == "" {
			continue
		}
		h.block(b)
	}
}

func (h *hasher) block(b Block) {
	switch b := b.(type) {
	case Text:
		h.fields("text", b.Text)
	case Image:
		h.fields("image", b.MediaType, b.Data, b.URL)
	case Document:
		h.fields("document", b.MediaType, b.Title, b.Data, b.URL, b.Text)
	case Thinking:
		h.fields("thinking", b.Text, b.Signature)
	case RedactedThinking:
		h.fields("redacted_thinking", b.Data)
	case ToolUse:
		h.fields("tool_use", b.ID, b.Name)
		h.fieldJSON(b.Input)
	case ToolResult:
		h.fields("tool_result", b.ToolUseID, fmt.Sprint(b.IsError))
		for _, c := range b.Content {
			h.block(c)
		}
		h.fields("end")
	case Opaque:
		h.fields("opaque", b.Type)
		h.fieldJSON(b.Raw)
	}
}

// fields writes each field with its length, so that no two lists of fields give the same bytes.
func (h *hasher) fields(fields ...string) {
	for _, f := range fields {
		h.length(len(f))
		for len(f) > 0 {
			n := copy(h.buf[:], f)
			h.Write(h.buf[:n])
			f = f[n:]
		}
	}
}

// fieldJSON writes a field like [hasher.fields] with the canonical form of raw, without a
// copy of it.
func (h *hasher) fieldJSON(raw []byte) {
	c, ok := canonicalOf(raw)
	if !ok {
		h.fields(string(canonicalJSON(raw)))
		return
	}
	h.length(c.size())
	c.to(func(b []byte) { h.Write(b) })
}

func (h *hasher) length(n int) {
	binary.LittleEndian.PutUint64(h.buf[:8], uint64(n))
	h.Write(h.buf[:8])
}
