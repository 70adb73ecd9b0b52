package wire

import (
	"encoding/json"
	"slices"

	"precis"
	"precis/internal/jsonspan"
)

// Dialect is one model API as a gateway sees it. Implementations are stateless.
type Dialect interface {
	precis.Dialect // its name, and its rules for lists of messages

	// List names the member of a request body that holds the messages.
	List() string
	// Decode reads one element of that list. The message keeps the bytes.
	Decode(item []byte) (precis.Message, error)
	// AppendMessages appends a list of messages as a JSON array. What came from
	// this dialect and was not changed keeps its bytes.
	AppendMessages(dst []byte, view []precis.Message) []byte
	// Prompt reads everything but the messages of a request.
	Prompt(b *Body) Prompt
	// Observe reads what a response reports: one event of a stream, or a whole
	// body. What it does not know it ignores.
	Observe(r *Response, data []byte)
}

// Prompt is everything but the messages of a request.
type Prompt struct {
	Model      string
	System     precis.Message // the system prompt; no content when there is none
	Tools      []byte         // the tool definitions as sent; nil when there are none
	MaxOutput  int            // output tokens asked for; 0: not said
	Stream     bool           // the answer is to be streamed
	Structured bool           // the answer is to be JSON of a given shape
	Stateful   bool           // it refers to messages that are not in the request
	Thinking   bool           // reasoning is asked for (Anthropic)

	Lead []precis.Message // the messages of the system prompt that System holds, too
}

// Response is what the response to a request reports.
type Response struct {
	Model  string
	Usage  precis.Usage // in the dialect's way of counting
	Input  int          // input tokens, cached ones included; 0: not reported
	Stop   string       // why the model stopped, in the dialect's words; "" while it has not
	Cut    string       // why the answer is incomplete, where Stop says only that it is
	Done   bool         // the end marker came
	Error  []byte       // the event that reports an error; nil: none
	Spoken bool         // part of the answer came: what a client cannot unsee

	Keep int    // how many bytes of Text to keep, about; 0: none
	Text []byte // what the model said in words, reasoning left out

	// Read only where Keep is set, since every event has to be looked into.
	Reasoned bool // the model reasoned, shown or not
	Refused  bool // the model refused in a block or a field of its own
	Calls    int  // tool calls of the model
}

// fullStops are reasons to stop that name the window, and lengthStops those that name a
// length and do not say which.
var (
	fullStops   = []string{"model_context_window_exceeded", "context_window_exceeded", "context_length_exceeded", "max_context_length", "model_length", "max_prompt_tokens", "max_input_tokens", "prompt_too_long"}
	lengthStops = []string{"length", "max_tokens", "max_output_tokens", "incomplete"}
)

// Full reports whether the answer has no content since the request left no room for it,
// which some servers report as a success.
func (r *Response) Full() bool {
	if r.Spoken || r.Error != nil {
		return false
	}
	if slices.Contains(fullStops, r.Stop) || slices.Contains(fullStops, r.Cut) {
		return true
	}
	return r.Usage.Output == 0 && slices.Contains(lengthStops, r.Stop) && (r.Cut == "" || slices.Contains(lengthStops, r.Cut))
}

// Say takes down words of the model, behind those that came before.
func (r *Response) Say(words string) {
	if len(r.Text) < r.Keep {
		r.Text = append(r.Text, words...)
	}
}

// Said takes down all words of the model.
func (r *Response) Said(words ...string) {
	r.Text = r.Text[:0]
	for _, w := range words {
		r.Say(w)
	}
}

// TakeTier takes over the service tier that an answer was billed at. What asks for any tier,
// and the default by its names, is none.
func (r *Response) TakeTier(tier string) {
	const longest = 32
	switch tier {
	case "", "auto", "default", "standard":
	default:
		r.Usage.Tier = tier[:min(len(tier), longest)]
	}
}

// Billed is what some servers report in their usage beside tokens. The usage of each dialect embeds it.
type Billed struct {
	Cost    json.RawMessage `json:"cost"`    // in US dollars; OpenRouter: a number, Perplexity: an object
	OwnKey  bool            `json:"is_byok"` // OpenRouter: Cost is its fee, and the provider bills the user
	Details struct {
		Upstream float64 `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	Ticks float64 `json:"cost_in_usd_ticks"` // xAI: in 10⁻¹⁰ US dollars
	Tools struct {
		Searches float64 `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

// TakeBilled takes over the cost that a server states and the tools that it bills by use. A cost
// of 0 counts as none.
func (r *Response) TakeBilled(b Billed) {
	Take(&r.Usage.WebSearches, b.Tools.Searches)
	var usd float64
	_ = jsonspan.Decode(b.Cost, &usd)
	if jsonspan.Kind(b.Cost) == '{' {
		_ = jsonspan.Decode(jsonspan.Field(b.Cost, "total_cost"), &usd)
	}
	if usd += b.Ticks / 1e10; b.OwnKey {
		usd += b.Details.Upstream
	}
	if most := 1e6; usd > 0 && usd < most {
		r.Usage.StatedUSD = usd
	}
}

// Take sets a count that a server reports, once or in growing numbers. What is not
// reported, is 0 or is no count leaves it as it is.
func Take(count *int, reported float64) {
	if reported >= 1 && reported < 1<<53 {
		*count = int(reported)
	}
}
