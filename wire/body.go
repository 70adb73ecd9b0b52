package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Body is a parsed request body, one JSON object. It is immutable and safe for concurrent use; it
// retains the bytes it was parsed from.
type Body struct {
	raw     []byte
	members []member
	list    int    // the member with the list of messages; -1: missing
	items   []Span // elements of the list
	end     int    // where a further member is written
	same    int    // number of elements taken over from an earlier body
}

// Span is a range of bytes [From,To).
type Span struct{ From, To int }

type member struct {
	name string
	key  int // where the name starts
	Span     // of the value
}

// Parse parses a body; list names the member that holds the messages, "" for a body without one. If
// the body begins like prev, which may be nil, only the rest is read. The whole body is checked to
// be one JSON object with distinct names (APIs differ on duplicates); the error is a
// [jsonspan.Error] with the byte at fault.
func Parse(raw []byte, list string, prev *Body) (*Body, error) {
	b := &Body{raw: raw, list: -1}
	s := jsonspan.NewScanner(raw)
	defer s.Close()
	if !b.resume(s, prev) {
		if err := s.Open('{'); err != nil {
			return nil, err
		}
		b.end = s.Offset()
	}
	if b.list >= 0 { // resumed inside the list
		if err := b.readItems(s); err != nil {
			return nil, err
		}
		if b.takeTail(s, prev) {
			return b, nil
		}
	}
	if err := b.readMembers(s, list); err != nil {
		return nil, err
	}
	if err := s.End(); err != nil {
		return nil, err
	}
	return b, nil
}

// resume takes over the common prefix of prev and b, up to the last list element that both have.
func (b *Body) resume(s *jsonspan.Scanner, prev *Body) bool {
	if prev == nil || prev.list < 0 || len(prev.items) == 0 {
		return false
	}
	n := Common(b.raw, prev.raw)
	k := len(prev.items)
	for k > 0 && prev.items[k-1].To > n {
		k--
	}
	if k == 0 {
		return false
	}
	b.list, b.same = prev.list, k
	b.members = append(make([]member, 0, len(prev.members)), prev.members[:prev.list+1]...)
	b.items = append(make([]Span, 0, len(prev.items)+8), prev.items[:k]...)
	s.Seek(prev.items[k-1].To)
	return true
}

// readItems reads the rest of the list after at least one element.
func (b *Body) readItems(s *jsonspan.Scanner) error {
	for {
		more, err := s.Next(']')
		if err != nil {
			return err
		}
		if !more {
			break
		}
		from, to, err := s.Value()
		if err != nil {
			return err
		}
		b.items = append(b.items, Span{from, to})
	}
	b.members[b.list].To = s.Offset()
	b.end = s.Offset()
	return nil
}

// takeTail takes over the members after the list if prev ends the same way.
func (b *Body) takeTail(s *jsonspan.Scanner, prev *Body) bool {
	at, was := b.members[b.list].To, prev.members[prev.list].To
	if !bytes.Equal(b.raw[at:], prev.raw[was:]) {
		return false
	}
	shift := at - was
	for _, m := range prev.members[prev.list+1:] {
		b.members = append(b.members, member{m.name, m.key + shift, Span{m.From + shift, m.To + shift}})
	}
	b.end = prev.end + shift
	return true
}

// readMembers reads members up to the end of the object.
func (b *Body) readMembers(s *jsonspan.Scanner, list string) error {
	first := len(b.members) == 0
	for {
		more, err := s.More('}', first)
		if err != nil || !more {
			return err
		}
		first = false
		key, name, err := s.Name()
		if err != nil {
			return err
		}
		if b.find(name) >= 0 {
			return &jsonspan.Error{Offset: int64(key), Err: fmt.Errorf("%.40q stands twice", name)}
		}
		if name == list && s.Peek() == '[' {
			if err := b.readList(s, name, key); err != nil {
				return err
			}
			continue
		}
		from, to, err := s.Value()
		if err != nil {
			return err
		}
		b.members = append(b.members, member{name, key, Span{from, to}})
		b.end = to
	}
}

func (b *Body) readList(s *jsonspan.Scanner, name string, key int) error {
	from := s.Offset()
	if err := s.Open('['); err != nil {
		return err
	}
	b.list = len(b.members)
	b.members = append(b.members, member{name, key, Span{From: from}})
	b.items = []Span{}
	more, err := s.More(']', true)
	if err != nil {
		return err
	}
	if !more {
		b.members[b.list].To, b.end = s.Offset(), s.Offset()
		return nil
	}
	start, to, err := s.Value()
	if err != nil {
		return err
	}
	b.items = append(b.items, Span{start, to})
	return b.readItems(s)
}

func (b *Body) find(name string) int {
	for i := range b.members {
		if b.members[i].name == name {
			return i
		}
	}
	return -1
}

// Raw returns the bytes of the body.
func (b *Body) Raw() []byte { return b.raw }

// Get returns the value of a member; nil when it is absent or null.
func (b *Body) Get(name string) json.RawMessage {
	i := b.find(name)
	if i < 0 {
		return nil
	}
	v := b.bytes(b.members[i].Span)
	if jsonspan.Kind(v) == 'n' {
		return nil
	}
	return v
}

// String returns the value of a member that is a string, "" for any other.
func (b *Body) String(name string) string {
	s, _ := jsonspan.String(b.Get(name))
	return s
}

// HasList reports whether the list of messages exists and is a list.
func (b *Body) HasList() bool { return b.list >= 0 }

// Items returns the positions of the elements of the list of messages. The slice must not be
// changed.
func (b *Body) Items() []Span { return b.items }

// Item returns element i of the list.
func (b *Body) Item(i int) json.RawMessage { return b.bytes(b.items[i]) }

// Same returns how many elements equal the earlier body's that was passed to Parse, byte for byte.
func (b *Body) Same() int { return b.same }

// Around returns the bytes before and after the list of messages; for a body without one, all bytes
// and none.
func (b *Body) Around() (before, after []byte) {
	if b.list < 0 {
		return b.raw, nil
	}
	l := b.members[b.list]
	return b.raw[:l.From:l.From], b.raw[l.To:]
}

// SameAround reports whether two bodies differ only in the list of messages.
func (b *Body) SameAround(o *Body) bool {
	if o == nil {
		return false
	}
	before, after := b.Around()
	otherBefore, otherAfter := o.Around()
	return bytes.Equal(before, otherBefore) && bytes.Equal(after, otherAfter)
}

func (b *Body) bytes(s Span) json.RawMessage { return json.RawMessage(b.raw[s.From:s.To:s.To]) }

// Common returns the length of the common prefix of a and b, in bytes.
func Common(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	at := 0
	for at < n {
		to := min(at+step, n)
		if !bytes.Equal(a[at:to], b[at:to]) {
			break
		}
		at = to
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}
