package polyfill

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// Applied is an edit that took effect, as responses report it.
type Applied struct {
	Type   string // [TypeClearTools] or [TypeClearThinking]
	Count  int    // tool uses or turns
	Tokens int    // input tokens that were cleared
}

func (a Applied) append(dst []byte) []byte {
	count := "cleared_tool_uses"
	if a.Type == TypeClearThinking {
		count = "cleared_thinking_turns"
	}
	dst = jsonspan.AppendStringField(append(dst, '{'), "type", a.Type)
	dst = appendInt(dst, count, a.Count)
	return append(appendInt(dst, "cleared_input_tokens", max(a.Tokens, 0)), '}')
}

func appendInt(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(jsonspan.AppendField(dst, name), int64(n), 10)
}

// Answer holds the fields to add to an upstream's answer, or a whole answer of our own.
type Answer struct {
	ID      string // unique part of IDs, after msg_, resp_ or cmp_
	Model   string
	Created int64 // seconds since 1970
	Reports bool  // context_management is reported, because the request asked for it
	Applied []Applied
	Made    *Summary     // the summary made for this request; nil: no summary
	Usage   precis.Usage // for making the summary
}

// management returns the value of context_management. Other holds the edits that the upstream
// itself has applied.
func (a *Answer) management(other json.RawMessage) []byte {
	dst := []byte(`{"applied_edits":[`)
	for _, e := range a.Applied {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = e.append(dst)
	}
	for s, err := range jsonspan.Array(jsonspan.Field(other, "applied_edits")) {
		if err != nil {
			break
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = append(dst, s.Raw...)
	}
	return append(dst, "]}"...)
}

// sealed returns the encrypted_content of Anthropic's block. It omits the text, which the block has
// in another field.
func (a *Answer) sealed() string {
	s := *a.Made
	s.Text = ""
	return s.Seal()
}

// block returns Anthropic's compaction block.
func (a *Answer) block() []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "type", "compaction")
	dst = jsonspan.AppendStringField(dst, "content", a.Made.Text)
	return append(jsonspan.AppendStringField(dst, "encrypted_content", a.sealed()), '}')
}

// item returns OpenAI's compaction item.
func (a *Answer) item() []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "type", "compaction")
	dst = jsonspan.AppendStringField(dst, "id", "cmp_"+a.ID)
	return append(jsonspan.AppendStringField(dst, "encrypted_content", a.Made.Seal()), '}')
}

// iteration returns an entry of usage.iterations.
func iteration(kind, model string, u precis.Usage) []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "type", kind)
	if model != "" {
		dst = jsonspan.AppendStringField(dst, "model", model)
	}
	dst = appendInt(dst, "input_tokens", u.Input)
	dst = appendInt(dst, "output_tokens", u.Output)
	dst = appendInt(dst, "cache_read_input_tokens", u.CacheRead)
	dst = appendInt(dst, "cache_creation_input_tokens", u.CacheWrite)
	dst = append(jsonspan.AppendField(dst, "cache_creation"), `{"ephemeral_5m_input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.CacheWrite), 10)
	return append(dst, `,"ephemeral_1h_input_tokens":0}}`...)
}

// iterations returns usage.iterations: the making of the summary, then the upstream's own ones.
func (a *Answer) iterations(model string, u precis.Usage, theirs json.RawMessage) []byte {
	dst := append([]byte("["), iteration("compaction", "", a.Usage)...)
	if jsonspan.Kind(theirs) != '[' {
		return append(append(append(dst, ','), iteration("message", model, u)...), ']')
	}
	for s, err := range jsonspan.Array(theirs) {
		if err != nil {
			break
		}
		dst = append(append(dst, ','), s.Raw...)
	}
	return append(dst, ']')
}

// with returns an object with members set; nil for any other value.
func with(object []byte, set func(d *wire.Draft)) []byte {
	b, err := wire.Parse(object, "", nil)
	if err != nil {
		return nil
	}
	d := b.Draft()
	set(d)
	return d.Bytes()
}

// putFirst returns an array with an element inserted at the front.
func putFirst(element []byte, list json.RawMessage) []byte {
	dst := append([]byte("["), element...)
	for s, err := range jsonspan.Array(list) {
		if err != nil {
			break
		}
		dst = append(append(dst, ','), s.Raw...)
	}
	return append(dst, ']')
}

// withRaised returns an object with a number raised; nil when it lacks the number.
func withRaised(object []byte, name string, by int) []byte {
	raw := jsonspan.Field(object, name)
	if k := jsonspan.Kind(raw); k < '0' || k > '9' {
		return nil
	}
	return with(object, func(d *wire.Draft) { d.Set(name, []byte(strconv.Itoa(jsonspan.Int(raw)+by))) })
}

// AddUneditedCount adds to an answer of count_tokens the count without edits, scaled by the ratio of said to
// shown in our own count. It returns nil if body is no such answer.
func AddUneditedCount(body []byte, said, shown int) []byte {
	n := jsonspan.Field(body, "input_tokens")
	if jsonspan.Kind(n) < '0' || jsonspan.Kind(n) > '9' {
		return nil
	}
	count := jsonspan.Int(n)
	if said > shown && shown > 0 {
		count = int(float64(count) * float64(said) / float64(shown))
	}
	original := appendInt([]byte("{"), "original_input_tokens", count)
	return with(body, func(d *wire.Draft) { d.Set("context_management", append(original, '}')) })
}

// Answer returns the fields that polyfills add to the response; nil: no fields.
func (r *Request) Answer(now time.Time) *Answer {
	if r.answer == nil && (r.Asked || r.summary != nil) {
		r.answer = &Answer{
			ID: "precis" + hex.EncodeToString(r.Node[:12]), Model: r.Prompt.Model, Created: now.Unix(),
			Reports: r.Asked, Applied: r.applied, Made: r.summary, Usage: r.usage,
		}
	}
	return r.answer
}

// WholeAnswer returns the whole answer to a request that needs no upstream, and whether it is a stream.
// Ok is false when no summary could be made. An empty request has no messages to summarize, and
// gets a fixed summary.
func (r *Request) WholeAnswer(empty bool, now time.Time) (body []byte, stream, ok bool) {
	if r.summary == nil && empty {
		r.summary = &Summary{Text: "Nothing was said beside the messages of the user."}
	}
	if r.summary == nil {
		return nil, false, false
	}
	a := r.Answer(now)
	stream = r.Prompt.Stream && r.Mode != Window
	switch {
	case r.Mode == Window:
		body = a.Compacted(r.spoken())
	case r.Mode == Trigger && stream:
		body = a.TriggeredEvents()
	case r.Mode == Trigger:
		body = a.Triggered()
	case stream:
		body = a.PausedEvents()
	default:
		body = a.Paused()
	}
	return body, stream, true
}
