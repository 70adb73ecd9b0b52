package anthropic

import (
	"bytes"
	"encoding/json"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
)

// Dialect is the Messages API. It is a [wire.Dialect].
type Dialect struct{}

var _ wire.Dialect = Dialect{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse, see [precis.Check] and [precis.CheckPlacement].
func (Dialect) Check(view []precis.Message) []precis.Breach {
	return append(precis.Check(view), precis.CheckPlacement(view)...)
}

// List returns "messages".
func (Dialect) List() string { return "messages" }

// Decode is [DecodeMessage].
func (Dialect) Decode(item []byte) (precis.Message, error) { return DecodeMessage(item) }

// AppendMessages is the function of that name.
func (Dialect) AppendMessages(dst []byte, view []precis.Message) []byte {
	return AppendMessages(dst, view)
}

// Prompt reads everything but the messages of a request. A system prompt of
// another shape is left out.
func (Dialect) Prompt(b *wire.Body) wire.Prompt {
	p := wire.Prompt{
		Model: b.String("model"), Tools: b.Get("tools"), MaxOutput: jsonspan.Int(b.Get("max_tokens")), Stream: jsonspan.Kind(b.Get("stream")) == 't',
	}
	if system := json.RawMessage(bytes.Clone(b.Get("system"))); system != nil {
		p.System = precis.Message{Role: precis.RoleSystem, Raw: system, Format: Format}
		p.System.Content, _ = DecodeContent(system)
	}
	kind, _ := jsonspan.String(jsonspan.Field(b.Get("thinking"), "type"))
	p.Thinking = kind == "enabled" || kind == "adaptive"
	p.Structured = jsonspan.Field(b.Get("output_config"), "format") != nil || b.Get("output_format") != nil
	return p
}

// usage is the usage object of the API; its counts are cumulative in a stream.
type usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// Observe takes in an event or a whole message.
func (Dialect) Observe(r *wire.Response, data []byte) {
	switch kind, _ := jsonspan.String(jsonspan.Field(data, "type")); kind {
	case "message_start":
		m := jsonspan.Field(data, "message")
		r.Model, _ = jsonspan.String(jsonspan.Field(m, "model"))
		observeUsage(r, jsonspan.Field(m, "usage"))
	case "content_block_start":
		r.Spoken = r.Spoken || !empty(jsonspan.Field(data, "content_block"))
	case "content_block_delta":
		r.Spoken = true
		if r.Keep > 0 {
			words, _ := jsonspan.String(jsonspan.Field(jsonspan.Field(data, "delta"), "text"))
			r.Say(words)
		}
	case "message_delta":
		r.Stop, _ = jsonspan.String(jsonspan.Field(jsonspan.Field(data, "delta"), "stop_reason"))
		observeUsage(r, jsonspan.Field(data, "usage"))
	case "message_stop":
		r.Done = true
	case "message":
		r.Model, _ = jsonspan.String(jsonspan.Field(data, "model"))
		r.Stop, _ = jsonspan.String(jsonspan.Field(data, "stop_reason"))
		observeUsage(r, jsonspan.Field(data, "usage"))
		r.Spoken, r.Done = r.Spoken || says(jsonspan.Field(data, "content")), true
		if r.Keep > 0 {
			r.Said(texts(jsonspan.Field(data, "content"))...)
		}
	case "error":
		r.Error = bytes.Clone(data)
	}
}

// says reports whether a list of blocks has any content.
func says(list []byte) bool {
	for b, err := range jsonspan.Array(list) {
		if err != nil || !empty(b.Raw) {
			return true
		}
	}
	return false
}

// empty reports whether a block is a text or reasoning without a word, as it is when a
// stream begins it.
func empty(block []byte) bool {
	switch kind, _ := jsonspan.String(jsonspan.Field(block, "type")); kind {
	case "text", "thinking":
		words, _ := jsonspan.String(jsonspan.Field(block, kind))
		return words == ""
	}
	return false
}

// texts returns the words of the text blocks of a list.
func texts(list []byte) (out []string) {
	for b, err := range jsonspan.Array(list) {
		if err != nil {
			return out
		}
		if kind, _ := jsonspan.String(jsonspan.Field(b.Raw, "type")); kind == "text" {
			words, _ := jsonspan.String(jsonspan.Field(b.Raw, "text"))
			out = append(out, words)
		}
	}
	return out
}

// observeUsage takes over counts; some servers report the input at the start, some
// at the end, and 0 in the other place.
func observeUsage(r *wire.Response, raw []byte) {
	var u usage
	if raw == nil || json.Unmarshal(raw, &u) != nil {
		return
	}
	for count, reported := range map[*int]int{
		&r.Usage.Input: u.Input, &r.Usage.Output: u.Output, &r.Usage.CacheRead: u.CacheRead, &r.Usage.CacheWrite: u.CacheWrite,
	} {
		if reported > 0 {
			*count = reported
		}
	}
	r.Input = r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
}
