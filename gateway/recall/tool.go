package recall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/chat"
)

// Name is the name of the tool.
const Name = "precis_recall"

const description = "Reads again what was said earlier in this conversation. Old messages and tool results may be shown shortened, or as a summary or digest; " +
	"they name what they stand for by handles such as m12 (a message), m12-m14 (messages 12 to 14) or m12.b3 (one block of message 12). " +
	"Give such a handle to get the original text, and the offset that an earlier answer named to go on reading. " +
	"Or give words to search for; the answer names the handles of the best places. " +
	"Use it when you need exact text that is not shown any more, instead of guessing or doing the work again."

const schema = `{"type":"object","properties":{` +
	`"handle":{"type":"string","description":"What to read: m12, m12-m14 or m12.b3"},` +
	`"offset":{"type":"integer","description":"Where to go on reading, as an earlier answer said"},` +
	`"search":{"type":"string","description":"Words to look for, instead of a handle"}}}`

// definition returns the tool as a dialect writes it. It is always the same.
func definition(dialect string) []byte {
	about := jsonspan.AppendStringField(nil, "name", Name)
	about = jsonspan.AppendStringField(about, "description", description)
	switch dialect {
	case anthropic.Format:
		return []byte(`{` + string(about) + `,"input_schema":` + schema + `}`)
	case chat.Format:
		return []byte(`{"type":"function","function":{` + string(about) + `,"parameters":` + schema + `}}`)
	}
	return []byte(`{"type":"function",` + string(about) + `,"parameters":` + schema + `,"strict":false}`)
}

// Offer returns a list of tools with ours at its end. Not ok: there are no tools,
// or one of them has the name already.
func Offer(tools json.RawMessage, dialect string) (out []byte, ok bool) {
	n := 0
	for s, err := range jsonspan.Array(tools) {
		if err != nil {
			return nil, false
		}
		n++
		name, _ := jsonspan.String(jsonspan.Field(s.Raw, "name"))
		inner, _ := jsonspan.String(jsonspan.Field(jsonspan.Field(s.Raw, "function"), "name"))
		if name == Name || inner == Name {
			return nil, false
		}
	}
	end := bytes.LastIndexByte(tools, ']')
	if n == 0 || end < 0 {
		return nil, false
	}
	out = append(append(make([]byte, 0, len(tools)+2048), tools[:end]...), ',')
	return append(append(out, definition(dialect)...), tools[end:]...), true
}

// Input is what a call asks for: a handle, from an offset on, or words.
type Input struct {
	Handle string
	Offset int
	Search string
}

// ReadInput reads what a call asks for. Problem says, for the model, why it
// cannot be read; "" when it can.
func ReadInput(raw json.RawMessage) (in Input, problem string) {
	const want = `the input must be {"handle":"m12"}, {"handle":"m12-m14","offset":0} or {"search":"words"}`
	fields, err := jsonspan.Fields(raw)
	if err != nil {
		return in, "The input is no JSON object; " + want + "."
	}
	in.Handle = word(fields["handle"])
	in.Search = word(fields["search"])
	in.Offset = max(jsonspan.Int(fields["offset"]), 0)
	if (in.Handle == "") == (in.Search == "") {
		return in, "Give a handle or words to search for, one of them; " + want + "."
	}
	return in, ""
}

func word(raw json.RawMessage) string {
	s, _ := jsonspan.String(raw)
	return strings.Trim(s, " \t\r\n[]")
}

// with returns an object with members set; nil when it is none.
func with(object []byte, set func(d *wire.Draft)) []byte {
	b, err := wire.Parse(object, "", nil)
	if err != nil {
		return nil
	}
	d := b.Draft()
	set(d)
	return d.Bytes()
}

// kindOf returns the type of an object.
func kindOf(object []byte) string {
	kind, _ := jsonspan.String(jsonspan.Field(object, "type"))
	return kind
}

// list returns an array of values.
func list(values ...json.RawMessage) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// Hides reports whether one of the edits, undone or not, hides or shortens
// something, so that there is something to read again.
func Hides(edits []precis.Edit) bool {
	return slices.ContainsFunc(edits, func(e precis.Edit) bool {
		return slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool { return !r.Restore })
	})
}
