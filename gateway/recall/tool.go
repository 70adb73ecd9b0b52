package recall

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/internal/jsonspan"
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

// Tool returns the definition of the tool.
func Tool() tool.Tool { return tool.Tool{Name: Name, Description: description, Schema: schema} }

// Input is the input of a call: a handle and an offset, or words.
type Input struct {
	Handle string
	Offset int
	Search string
}

// ReadInput reads the input of a call. Problem is an error text for the model; "" on success.
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

// Hides reports whether one of the edits, undone or not, hides or shortens content, so that recall
// is useful.
func Hides(edits []precis.Edit) bool {
	return slices.ContainsFunc(edits, func(e precis.Edit) bool {
		return slices.ContainsFunc(e.Replace, func(r precis.Replacement) bool { return !r.Restore })
	})
}
