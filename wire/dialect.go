package wire

import (
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Dialect is one model API. Implementations are stateless.
type Dialect interface {
	precis.Dialect // its name, and its rules for lists of messages

	// List names the member of a request body that holds the messages.
	List() string
	// Decode decodes one element of that list. The message retains the bytes.
	Decode(item []byte) (precis.Message, error)
	// AppendMessages appends a list of messages as a JSON array. Unchanged messages from this
	// dialect keep their bytes.
	AppendMessages(dst []byte, view []precis.Message) []byte
	// Prompt decodes everything except the messages of a request.
	Prompt(b *Body) Prompt
	// Observe decodes one event of a streamed response, or a whole body, into r. It ignores unknown
	// content.
	Observe(r *Response, data []byte)
}

// Prompt is a request without its messages.
type Prompt struct {
	Model      string
	System     precis.Message // the system prompt; empty content without one
	Tools      []byte         // the tool definitions as sent; nil without tools
	MaxOutput  int            // requested output tokens; 0: not stated
	Stream     bool           // a streamed answer is requested
	Structured bool           // an answer as JSON of a given shape is requested
	Stateful   bool           // it refers to messages outside the request
	Thinking   bool           // reasoning is requested (Anthropic)

	Lead []precis.Message // the messages with the system prompt, which System contains, too
}

// Response is the data that a response reports.
type Response struct {
	Model  string
	Usage  precis.Usage // in the dialect's way of counting
	Input  int          // input tokens, cached ones included; 0: not reported
	Stop   string       // stop reason in the dialect's words; "" before it
	Cut    string       // why the answer is incomplete, if Stop only states that it is
	Done   bool         // the end marker was received
	Error  []byte       // the event that reports an error; nil: no error
	Spoken bool         // part of the answer was received, so it cannot be withdrawn from a client

	Keep int    // roughly how many bytes of Text to keep; 0: none
	Text []byte // the model's text, without reasoning

	// Set only if Keep is set, because it requires parsing every event.
	Reasoned bool // the model reasoned, visibly or not
	Refused  bool // the model refused in a dedicated block or field
	Calls    int  // number of tool calls
}

// fullStops are stop reasons that name the window; lengthStops name an unspecified length.
var (
	fullStops = []string{"model_context_window_exceeded", "context_window_exceeded",
		"context_length_exceeded", "max_context_length", "model_length", "max_prompt_tokens",
		"max_input_tokens", "prompt_too_long"}
	lengthStops = []string{"length", "max_tokens", "max_output_tokens", "incomplete"}
)

// Full reports whether the answer is empty because the request left no room for it. Some servers
// report that as a success.
func (r *Response) Full() bool {
	if r.Spoken || r.Error != nil {
		return false
	}
	if slices.Contains(fullStops, r.Stop) || slices.Contains(fullStops, r.Cut) {
		return true
	}
	return r.Usage.Output == 0 && slices.Contains(lengthStops, r.Stop) &&
		(r.Cut == "" || slices.Contains(lengthStops, r.Cut))
}

// Say appends text of the model to Text.
func (r *Response) Say(words string) {
	if len(r.Text) < r.Keep {
		r.Text = append(r.Text, words...)
	}
}

// Said sets the complete text of the model.
func (r *Response) Said(words ...string) {
	r.Text = r.Text[:0]
	for _, w := range words {
		r.Say(w)
	}
}

// TakeTier records the service tier that an answer was billed at. The default tier, under any of
// its names, is not recorded.
func (r *Response) TakeTier(tier string) {
	const longest = 32
	switch tier {
	case "", "auto", "default", "standard":
	default:
		r.Usage.Tier = tier[:min(len(tier), longest)]
	}
}

// Billed is billing data that some servers report in their usage in addition to tokens. The usage
// of each dialect embeds it.
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

// TakeBilled records the cost that a server states and the tools that it bills by use. A cost of 0
// counts as not stated.
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

// Take sets a count that a server reports, once or with growing numbers. A missing, zero or invalid
// number leaves it unchanged.
func Take(count *int, reported float64) {
	if reported >= 1 && reported < 1<<53 {
		*count = int(reported)
	}
}
