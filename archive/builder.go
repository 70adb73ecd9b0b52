package archive

import (
	"fmt"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Builder assembles one conversation of a recording, message by message. Make one with
// [NewBuilder].
type Builder struct {
	Rec  *Recording
	Conv *precis.Conversation

	names CallIDs
	ids   UniqueIDs
}

// NewBuilder returns a builder of an empty conversation. It does not become rec's own.
func NewBuilder(rec *Recording) *Builder {
	return &Builder{Rec: rec, Conv: &precis.Conversation{Transcript: &precis.Transcript{}}}
}

// Append appends a message without its blank texts, and with an ID of its own for each call. One
// without other content is ignored, see [Recording.Ignored]: then it returns false.
func (b *Builder) Append(m precis.Message) bool {
	if m = WithoutBlank(m); len(m.Content) == 0 {
		b.Rec.Ignored++
		return false
	}
	b.Conv.Transcript.Append(b.ids.Assign(b.names.Assign(m)))
	return true
}

// Each calls read for every element of a list. An error names the element, with its offset in the
// document.
func Each(list jsonspan.Span, name string, read func(raw []byte) error) error {
	n := 0
	for span, err := range jsonspan.Array(list.Raw) {
		if err == nil {
			err = read(span.Raw)
		}
		if err != nil {
			return Invalid(fmt.Sprintf("%s %d at byte %d", name, n, list.Offset+span.Offset), err)
		}
		n++
	}
	return nil
}

// ParseMillis reads a time in milliseconds; zero for anything else.
func ParseMillis(raw []byte) time.Time {
	if ms := ParseAmount(raw); ms > 0 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// ParseTime reads a time with a zone, or without one as UTC; zero for anything else.
func ParseTime(s string) time.Time {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t
	}
	t, _ := time.Parse("2006-01-02T15:04:05.999999999", s)
	return t
}

// DecodeReasoning reads a list of blocks of reasoning as the Messages API has them.
func DecodeReasoning(list []byte) []precis.Block {
	var out []precis.Block
	for _, raw := range jsonspan.Elements(list) {
		f := jsonspan.Members(raw)
		switch jsonspan.Text(f, "type") {
		case "thinking":
			out = append(out, precis.Thinking{Text: jsonspan.Text(f, "thinking"),
				Signature: jsonspan.Text(f, "signature")})
		case "redacted_thinking":
			out = append(out, precis.RedactedThinking{Data: jsonspan.Text(f, "data")})
		}
	}
	return out
}
