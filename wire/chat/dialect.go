package chat

import (
	"bytes"
	"encoding/json"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
)

// Dialect is the rules of the Chat Completions API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse: the breaches of [precis.Check],
// except that the assistant may speak first, content may be empty, and a later
// turn may use the ID of an earlier call again.
func (Dialect) Check(view []precis.Message) []precis.Breach {
	shift := 0
	for _, m := range view {
		if m.Role == precis.RoleSystem {
			continue
		}
		if m.Role == precis.RoleAssistant {
			view = append([]precis.Message{precis.NewText(precis.RoleUser, "-")}, view...)
			shift = 1
		}
		break
	}
	var out []precis.Breach
	for _, b := range precis.Check(view) {
		if b.Rule == "empty" || b.Rule == "duplicate" && !twiceInTurn(view, b.Message) {
			continue
		}
		if b.Message >= 0 {
			b.Message -= shift
		}
		out = append(out, b)
	}
	return out
}

// twiceInTurn reports whether message i, when it makes calls, shares an ID with
// another call of its turn. Results always find their call by the turn.
func twiceInTurn(view []precis.Message, i int) bool {
	if view[i].Role != precis.RoleAssistant {
		return true
	}
	for i > 0 && view[i-1].Role != precis.RoleUser {
		i--
	}
	seen := map[string]bool{}
	for ; i < len(view) && view[i].Role != precis.RoleUser; i++ {
		for _, b := range view[i].Content {
			use, ok := b.(precis.ToolUse)
			if ok && seen[use.ID] {
				return true
			}
			if ok {
				seen[use.ID] = true
			}
		}
	}
	return false
}

var _ wire.Dialect = Dialect{}

// List returns "messages".
func (Dialect) List() string { return "messages" }

// Decode is [DecodeMessage].
func (Dialect) Decode(item []byte) (precis.Message, error) { return DecodeMessage(item) }

// AppendMessages calls the function [AppendMessages].
func (Dialect) AppendMessages(dst []byte, view []precis.Message) []byte {
	return AppendMessages(dst, view)
}

// Prompt decodes everything except the messages of a request. In this dialect, the system prompt is
// one of the messages.
func (Dialect) Prompt(b *wire.Body) wire.Prompt {
	p := wire.Prompt{Model: b.String("model"), Tools: b.Get("tools"),
		Stream: jsonspan.Kind(b.Get("stream")) == 't'}
	if p.Tools == nil {
		p.Tools = b.Get("functions")
	}
	p.MaxOutput = max(jsonspan.Int(b.Get("max_completion_tokens")), jsonspan.Int(b.Get("max_tokens")))
	kind, _ := jsonspan.String(jsonspan.Field(b.Get("response_format"), "type"))
	p.Structured = kind == "json_schema" || kind == "json_object"
	return p
}

// usage is the usage object of the API.
type usage struct {
	Input   float64 `json:"prompt_tokens"`
	Output  float64 `json:"completion_tokens"`
	Details struct {
		Cached float64 `json:"cached_tokens"`
		Write  float64 `json:"cache_write_tokens"`    // OpenRouter
		Made   float64 `json:"cache_creation_tokens"` // LiteLLM
		ByTime struct {
			Hour float64 `json:"ephemeral_1h_input_tokens"`
		} `json:"cache_creation_token_details"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit    float64 `json:"prompt_cache_hit_tokens"`     // DeepSeek
	Cached float64 `json:"cached_tokens"`               // Moonshot
	Made   float64 `json:"cache_creation_input_tokens"` // LiteLLM
	wire.Billed
}

type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Tier    string          `json:"service_tier"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   json.RawMessage `json:"delta"`
	Message json.RawMessage `json:"message"`
	Finish  string          `json:"finish_reason"`
	Usage   *usage          `json:"usage"` // Moonshot
}

// Observe processes a chunk, the end marker or a whole completion.
func (Dialect) Observe(r *wire.Response, data []byte) {
	if string(data) == "[DONE]" {
		r.Done = true
		return
	}
	var c chunk
	if jsonspan.Decode(data, &c) != nil {
		return
	}
	if c.Error != nil && jsonspan.Kind(c.Error) != 'n' {
		r.Error = bytes.Clone(data)
	}
	if c.Model != "" {
		r.Model = c.Model
	}
	for _, choice := range c.Choices {
		if choice.Finish != "" && choice.Index == 0 {
			r.Stop = choice.Finish
		}
		r.Spoken = r.Spoken || says(choice.Message) || says(choice.Delta)
		r.Done = r.Done || choice.Message != nil
		if r.Keep > 0 && choice.Index == 0 {
			observeWords(r, choice)
		}
		observeUsage(r, choice.Usage)
	}
	observeUsage(r, c.Usage)
	r.TakeTier(c.Tier)
}

// observeWords records the text of a choice.
func observeWords(r *wire.Response, c choice) {
	of := c.Delta
	if c.Message != nil {
		r.Text, of = r.Text[:0], c.Message
	}
	f, err := jsonspan.Fields(of)
	if err != nil {
		return
	}
	words, _ := jsonspan.String(f["content"])
	r.Say(words)
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
		r.Reasoned = r.Reasoned || holds(f[name])
	}
	r.Refused = r.Refused || holds(f["refusal"])
	at := 0
	for call, err := range jsonspan.Array(f["tool_calls"]) {
		if err != nil {
			break
		}
		if c.Message == nil { // a piece names its call
			at = jsonspan.Int(jsonspan.Field(call.Raw, "index"))
		}
		at++
		r.Calls = max(r.Calls, at)
	}
	if holds(f["function_call"]) {
		r.Calls = max(r.Calls, 1)
	}
}

// holds reports whether a value is present and not empty.
func holds(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return false
	}
	return true
}

// says reports whether a delta or message contains more than a role.
func says(delta []byte) bool {
	f, err := jsonspan.Fields(delta)
	if err != nil {
		return false
	}
	for name, v := range f {
		if s := string(v); name != "role" && jsonspan.Kind(v) != 'n' && s != `""` && s != "[]" && s != "{}" {
			return true
		}
	}
	return false
}

func observeUsage(r *wire.Response, u *usage) {
	if u == nil {
		return
	}
	wire.Take(&r.Usage.Input, u.Input)
	wire.Take(&r.Usage.Output, u.Output)
	wire.Take(&r.Usage.CacheRead, max(u.Details.Cached, u.Hit, u.Cached))
	wire.Take(&r.Usage.CacheWrite, max(u.Details.Write, u.Details.Made, u.Made))
	wire.Take(&r.Usage.CacheWriteHour, u.Details.ByTime.Hour)
	r.TakeBilled(u.Billed)
	r.Input = r.Usage.Input
	r.Reasoned = r.Reasoned || u.OutputDetails.Reasoning > 0
}
