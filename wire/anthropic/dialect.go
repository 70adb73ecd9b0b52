package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
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

// AppendMessages calls the function [AppendMessages].
func (Dialect) AppendMessages(dst []byte, view []precis.Message) []byte {
	return AppendMessages(dst, view)
}

// Prompt decodes everything except the messages of a request. It ignores a malformed system prompt.
func (Dialect) Prompt(b *wire.Body) wire.Prompt {
	p := wire.Prompt{
		Model: b.String("model"), Tools: b.Get("tools"), MaxOutput: jsonspan.Int(b.Get("max_tokens")),
		Stream: jsonspan.Kind(b.Get("stream")) == 't',
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
	Input      float64 `json:"input_tokens"`
	Output     float64 `json:"output_tokens"`
	CacheRead  float64 `json:"cache_read_input_tokens"`
	CacheWrite float64 `json:"cache_creation_input_tokens"`
	Written    struct {
		Hour float64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	wire.Billed
	Tier       string  `json:"service_tier"`
	Iterations []usage `json:"iterations"` // everything billed, if the API compacted before it answered
}

// Observe processes an event or a whole message.
func (Dialect) Observe(r *wire.Response, data []byte) {
	switch kind, _ := jsonspan.String(jsonspan.Field(data, "type")); kind {
	case "message_start":
		m := jsonspan.Field(data, "message")
		r.Model, _ = jsonspan.String(jsonspan.Field(m, "model"))
		observeUsage(r, jsonspan.Field(m, "usage"))
	case "content_block_start":
		r.Spoken = r.Spoken || !empty(jsonspan.Field(data, "content_block"))
		if r.Keep > 0 {
			observeBlock(r, jsonspan.Field(data, "content_block"))
		}
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
			observeContent(r, jsonspan.Field(data, "content"))
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

// empty reports whether a block is text or reasoning without content, as at the start of a stream.
func empty(block []byte) bool {
	switch kind, _ := jsonspan.String(jsonspan.Field(block, "type")); kind {
	case "text", "thinking":
		words, _ := jsonspan.String(jsonspan.Field(block, kind))
		return words == ""
	}
	return false
}

// observeContent processes the content of a whole message.
func observeContent(r *wire.Response, list []byte) {
	r.Text = r.Text[:0]
	for b, err := range jsonspan.Array(list) {
		if err != nil {
			return
		}
		observeBlock(r, b.Raw)
	}
}

// observeBlock processes a block, or the start of one in a stream.
func observeBlock(r *wire.Response, raw []byte) {
	switch kind, _ := jsonspan.String(jsonspan.Field(raw, "type")); {
	case kind == "text":
		words, _ := jsonspan.String(jsonspan.Field(raw, "text"))
		r.Say(words)
	case strings.HasSuffix(kind, "thinking"):
		r.Reasoned = true
	case strings.HasSuffix(kind, "tool_use"):
		r.Calls++
	}
}

// observeUsage records counts. Some servers report the input at the start, others at the end, with
// 0 in the other place.
func observeUsage(r *wire.Response, raw []byte) {
	var u usage
	if raw == nil || jsonspan.Decode(raw, &u) != nil {
		return
	}
	wire.Take(&r.Usage.Input, u.Input)
	wire.Take(&r.Usage.Output, u.Output)
	wire.Take(&r.Usage.CacheRead, u.CacheRead)
	wire.Take(&r.Usage.CacheWrite, u.CacheWrite)
	wire.Take(&r.Usage.CacheWriteHour, u.Written.Hour)
	r.TakeTier(u.Tier)
	r.TakeBilled(u.Billed)
	if len(u.Iterations) == 0 {
		r.Input = r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
		return
	}
	add := func(to *int, reported float64) {
		n := 0
		wire.Take(&n, reported)
		*to += n
	}
	input := 0 // of the answer only, because only that had to fit the window
	add(&input, u.Input)
	add(&input, u.CacheRead)
	add(&input, u.CacheWrite)
	if input > 0 {
		r.Input = input
	}
	r.Usage = precis.Usage{Tier: r.Usage.Tier, WebSearches: r.Usage.WebSearches, StatedUSD: r.Usage.StatedUSD}
	for _, one := range u.Iterations {
		add(&r.Usage.Input, one.Input)
		add(&r.Usage.Output, one.Output)
		add(&r.Usage.CacheRead, one.CacheRead)
		add(&r.Usage.CacheWrite, one.CacheWrite)
		add(&r.Usage.CacheWriteHour, one.Written.Hour)
	}
}
