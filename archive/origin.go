package archive

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Origin is information about a recording besides its messages. The zero value of a field means
// that it is not recorded.
type Origin struct {
	Agent   string       // the program, if several share the format: "cline"
	Project string       // the folder the agent worked in
	Parent  string       // ID of the conversation that began this one
	State   string       // in the program's words: "completed"
	Begun   time.Time    // when the conversation began
	Spent   []ModelUsage // by model, in order of first use
	Window  int          // tokens of the model's context window, as recorded; 0: not recorded

	// Measured is the newest request on the conversation's path with a size reported by the
	// provider. Readers do not set [precis.Conversation.Measured]: callers that make a view for
	// another program or window must count the content of the recording alone.
	Measured precis.Measured

	// Requests are the requests in Spent that have an ID, in order. A forked recording repeats the
	// requests of its original.
	Requests []Request
}

// Request is one request to a model, as the provider reported it.
type Request struct {
	ID    string       `json:"id"` // of the answer: "msg_…"
	Model string       `json:"model,omitempty"`
	Usage precis.Usage `json:"usage"` // as in [ModelUsage]
}

// ModelUsage is the usage of one model, as the provider reported it.
type ModelUsage struct {
	Model    string       `json:"model,omitempty"`
	Requests int          `json:"requests"`
	Usage    precis.Usage `json:"usage"`    // Input excludes tokens read from or written to the cache
	CostUSD  float64      `json:"cost_usd"` // as recorded; 0: not recorded

	// Unpriced is the part of Usage without a recorded cost.
	Unpriced precis.Usage `json:"unpriced,omitzero"`
}

// AddUsage adds the usage of one request. Zero usage without cost is ignored.
func (o *Origin) AddUsage(model string, u precis.Usage, cost float64) {
	if u == (precis.Usage{}) && cost == 0 {
		return
	}
	for i := range o.Spent {
		if o.Spent[i].Model == model {
			o.Spent[i].add(u, cost)
			return
		}
	}
	o.Spent = append(o.Spent, ModelUsage{Model: model})
	o.Spent[len(o.Spent)-1].add(u, cost)
}

// RecordRequest records the provider's count for a request. Call it before the answer is appended to the
// conversation.
func (o *Origin) RecordRequest(c *precis.Conversation, u precis.Usage) {
	o.measure(c.Transcript.Len(), u)
}

// RecordAnswered records the provider's count for a request with its answer already in the conversation,
// as the model's newest messages.
func (o *Origin) RecordAnswered(c *precis.Conversation, u precis.Usage) {
	n := c.Transcript.Len()
	for n > 0 && c.Transcript.At(n-1).Role != precis.RoleAssistant {
		n--
	}
	for n > 0 && c.Transcript.At(n-1).Role == precis.RoleAssistant {
		n--
	}
	o.measure(n, u)
}

func (o *Origin) measure(messages int, u precis.Usage) {
	if sent := u.Input + u.CacheRead + u.CacheWrite; sent > 0 && messages > 0 {
		o.Measured = precis.Measured{Messages: messages, Tokens: sent}
	}
}

func (s *ModelUsage) add(u precis.Usage, cost float64) {
	s.Requests++
	s.Usage.Add(u)
	s.CostUSD += cost
	if cost == 0 {
		s.Unpriced.Add(u)
	}
}

// ParseCounts reads non-negative numbers of an object by name. A missing or invalid number is 0.
func ParseCounts(raw json.RawMessage, names ...string) []int {
	out := make([]int, len(names))
	if jsonspan.Kind(raw) != '{' {
		return out
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return out
	}
	for i, name := range names {
		out[i] = int(ParseAmount(f[name]))
	}
	return out
}

// ParseAmount reads a non-negative number of at most 2⁵³; 0 for anything else.
func ParseAmount(raw json.RawMessage) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(string(raw)), 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return n
}
