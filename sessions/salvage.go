package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
)

// Salvaged is the result of [Salvage]: the content kept and the content lost.
type Salvaged struct {
	Name      string   `json:"name"`   // of the original
	Format    string   `json:"format"` // of the original
	Messages  int      `json:"messages"`
	Edits     int      `json:"edits"`
	Lost      []string `json:"lost"` // descriptions with the place; empty: the file was whole
	LostEdits int      `json:"lost_edits,omitempty"`
	Data      []byte   `json:"-"` // the salvaged file
}

// Salvage recovers the intact parts of precis's own file. If the original in it is truncated or
// changed, it keeps the readable messages and the edits that still fit them. Path names the file in
// errors. The error is [precis.CodeInvalid] if no part is intact.
func Salvage(path string, data []byte) (*Salvaged, error) {
	fail := func(err error) error {
		return &precis.Error{Code: precis.CodeInvalid, Op: "repair", Place: path, Err: err}
	}
	head, original, ok := bytes.Cut(data, []byte{'\n'})
	if !ok || len(bytes.TrimSpace(original)) == 0 {
		return nil, fail(errors.New("it ends in its first line: nothing of the recording is left"))
	}
	out := &Salvaged{Lost: []string{}}
	c := out.head(head)
	whole := archive.NewContainer(c.Format, c.Name, original)
	if c.SHA256 != whole.SHA256 {
		if c.Size > 0 && len(original) < c.Size {
			out.lose("the last %d bytes of %d: the file was cut off", c.Size-len(original), c.Size)
		}
		was := len(out.Lost)
		original = out.original(original)
		if len(out.Lost) == was {
			out.lose("the checksum: the content was changed, and nothing tells where; all of it can be read")
		}
	}
	r, err := read(path, c.Format, original)
	if err != nil {
		return nil, fail(fmt.Errorf("what is left of the recording cannot be read: %w", err))
	}
	fixed := archive.NewContainer(r.Format, filepath.Base(c.Name), original)
	fixed.Edits = c.Edits
	if c.SHA256 != whole.SHA256 {
		fixed.Edits = slices.DeleteFunc(slices.Clone(c.Edits),
			func(e precis.Edit) bool { return !fits(r.Conversation.Transcript, e) })
	}
	fixed.Apply(r)
	out.Name, out.Format, out.Messages, out.Edits = fixed.Name, fixed.Format, r.Conversation.Transcript.Len(), len(fixed.Edits)
	if n := len(c.Edits) - len(fixed.Edits); n > 0 {
		out.LostEdits += n
		out.lose("%d edits, which do not fit the messages that are left", n)
	}
	if out.Messages == 0 {
		return nil, fail(errors.New("no message in it is whole"))
	}
	out.Data, err = fixed.Bytes()
	return out, err
}

// fits reports whether an edit was made on the remaining messages: after a lost message the numbers
// of all later ones change.
func fits(t *precis.Transcript, e precis.Edit) bool {
	return e.Seen <= t.Len() && t.Fingerprint(e.Seen) == e.At
}

func (s *Salvaged) lose(format string, args ...any) {
	s.Lost = append(s.Lost, fmt.Sprintf(format, args...))
}

// headField finds fields in a damaged first line.
var headField = map[string]*lazyregexp.Regexp{
	"format": lazyregexp.New(`"format":"([a-z0-9_-]+)"`),
	"name":   lazyregexp.New(`"name":"([^"\\/]+)"`),
}

// head reads the first line, or its readable fields.
func (s *Salvaged) head(line []byte) *archive.Container {
	c := &archive.Container{}
	err := json.Unmarshal(line, c)
	if err == nil && len(c.Edits) <= archive.MaxEdits {
		return c
	}
	c = &archive.Container{}
	if m := headField["format"].FindStringSubmatch(string(line)); m != nil {
		c.Format = m[1]
	}
	if m := headField["name"].FindStringSubmatch(string(line)); m != nil {
		c.Name = m[1]
	}
	s.LostEdits = bytes.Count(line, []byte(`"kind":`))
	s.lose("the first line with the edits (about %d): %v", s.LostEdits, err)
	return c
}

// read reads an original; its format is named by the first line or recognized by content.
func read(path, format string, original []byte) (*archive.Recording, error) {
	if format != "" {
		c := archive.NewContainer(format, path, original)
		if r, err := c.Read(path, formats.All()); err == nil {
			return r, nil
		}
	}
	return archive.Read(archive.Source{Path: path, Data: original}, formats.All())
}

// original returns the intact parts of a recording: lines, or elements of its list of messages.
func (s *Salvaged) original(data []byte) []byte {
	if jsonspan.Valid(data) == nil {
		return data
	}
	if at := listIn(data); at >= 0 {
		return s.elements(bytes.ToValidUTF8(data, []byte("\ufffd")), at)
	}
	mended, done := mend(data, false)
	for _, d := range done {
		s.lose("%s", d)
	}
	var out bytes.Buffer
	n, jsonLines := 0, false
	for line := range bytes.Lines(mended) {
		n++
		raw := bytes.TrimSpace(line)
		isObject := len(raw) > 0 && raw[0] == '{'
		if jsonLines = jsonLines || isObject; jsonLines && len(raw) > 0 && jsonspan.Valid(raw) != nil {
			s.lose("line %d%s: it is damaged", n, roleIn(raw))
			continue
		}
		out.Write(line)
	}
	return out.Bytes()
}

var (
	rolePattern = lazyregexp.New(`"(?:role|type)" ?: ?"(user|assistant|system|tool|developer)"`)
	listPattern = lazyregexp.New(`^\s*(?:\[|\{(?s:.*?)"(?:messages|input|contents|history)"\s*:\s*\[)`)
)

// roleIn names the role of a damaged message, if it is readable.
func roleIn(raw []byte) string {
	if m := rolePattern.FindStringSubmatch(string(raw)); m != nil {
		return ", a message of the " + m[1]
	}
	return ""
}

// listIn returns the offset of the first element in a document's list of messages; -1 if the file
// has JSON lines, and so begins with an object on one line.
func listIn(data []byte) int {
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	if len(first) > 0 && first[0] == '{' && jsonspan.Valid(first) == nil {
		return -1
	}
	at := listPattern.FindStringIndex(string(data))
	if at == nil {
		return -1
	}
	return at[1]
}

// elements keeps the intact elements of a list and the text around it.
func (s *Salvaged) elements(data []byte, from int) []byte {
	out := bytes.Clone(data[:from])
	kept, tail := 0, []byte(nil)
	for at := from; at < len(data); {
		rest := bytes.TrimLeft(data[at:], " \t\r\n,")
		at = len(data) - len(rest)
		if len(rest) == 0 {
			break
		}
		if rest[0] == ']' {
			tail = rest
			break
		}
		element, n := element(rest)
		if element == nil {
			next := nextElement(rest)
			if next < 0 {
				s.lose("element %d of the list and what follows, from byte %d on%s", kept+1, at,
					roleIn(rest[:min(len(rest), 400)]))
				break
			}
			s.lose("an element behind %d whole ones, bytes %d to %d%s: it is damaged", kept, at, at+next,
				roleIn(rest[:next]))
			at += next
			continue
		}
		if kept > 0 {
			out = append(out, ',')
		}
		out = append(out, element...)
		kept++
		at += n
	}
	if whole := append(bytes.Clone(out), tail...); jsonspan.Valid(whole) == nil {
		return whole
	}
	out = append(out, ']')
	if jsonspan.Kind(data) == '{' {
		out = append(out, '}')
	}
	return out
}

// element returns the value at the beginning of a text and its length; nil: damaged.
func element(data []byte) ([]byte, int) {
	d := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if d.Decode(&raw) != nil {
		return nil, 0
	}
	n := int(d.InputOffset())
	if rest := bytes.TrimLeft(data[n:], " \t\r\n"); len(rest) > 0 && rest[0] != ',' && rest[0] != ']' {
		return nil, 0
	}
	return raw, n
}

// nextElement returns the offset of the next intact message after a damaged one; -1: not found.
func nextElement(data []byte) int {
	const most = 2000 // offsets to try
	at := 0
	for range most {
		n := bytes.IndexByte(data[min(at+1, len(data)):], '{')
		if n < 0 {
			return -1
		}
		at += 1 + n
		if raw, _ := element(data[at:]); raw != nil {
			if fields, err := jsonspan.Fields(raw); err == nil && fields["role"] != nil {
				return at
			}
		}
	}
	return -1
}
