package archive

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"precis"
	"precis/internal/jsonspan"
)

// Origin is what a recording says of where it comes from, besides its messages.
// The zero value of a field means that the recording does not say it.
type Origin struct {
	Agent   string    // the program, where several share the format: "cline"
	Project string    // the folder the agent worked in
	Parent  string    // ID of the conversation that began this one
	State   string    // as the program words it: "completed"
	Begun   time.Time // when the conversation began
	Spent   []Spend   // by model, in the order of their first use
	Window  int       // tokens of the model's context window, as the program recorded it; 0: it did not

	// Measured is the newest request, on the path that the conversation took, with a size that the
	// provider reported. Readers leave [precis.Conversation.Measured] to the caller: who makes
	// a view for another program or window counts what is in the recording alone.
	Measured precis.Measured

	// Requests are those of Spent that the provider named, in order. A recording that
	// was forked from another one repeats what it began with.
	Requests []Request
}

// Request is one request to a model, as the provider reported it.
type Request struct {
	ID    string       `json:"id"` // of the answer: "msg_…"
	Model string       `json:"model,omitempty"`
	Usage precis.Usage `json:"usage"` // as in [Spend]
}

// Spend is what the requests to one model used, as the provider reported it.
type Spend struct {
	Model    string       `json:"model,omitempty"`
	Requests int          `json:"requests"`
	Usage    precis.Usage `json:"usage"`    // Input leaves out what the cache served or stored
	CostUSD  float64      `json:"cost_usd"` // as the program recorded it; 0: it did not

	// Unpriced is the part of Usage for which the program recorded no cost.
	Unpriced precis.Usage `json:"unpriced,omitzero"`
}

// Spend adds what one request to a model used. One that used nothing is left out.
func (o *Origin) Spend(model string, u precis.Usage, cost float64) {
	if u == (precis.Usage{}) && cost == 0 {
		return
	}
	for i := range o.Spent {
		if o.Spent[i].Model == model {
			o.Spent[i].add(u, cost)
			return
		}
	}
	o.Spent = append(o.Spent, Spend{Model: model})
	o.Spent[len(o.Spent)-1].add(u, cost)
}

// Answered notes what the provider counted for the request that the message added next to a
// conversation answers.
func (o *Origin) Answered(c *precis.Conversation, u precis.Usage) { o.measure(c.Transcript.Len(), u) }

// Counted notes what the provider counted for the request that the newest messages of the model
// answer.
func (o *Origin) Counted(c *precis.Conversation, u precis.Usage) {
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

func (s *Spend) add(u precis.Usage, cost float64) {
	s.Requests++
	s.Usage.Add(u)
	s.CostUSD += cost
	if cost == 0 {
		s.Unpriced.Add(u)
	}
}

// Counts reads non-negative numbers of an object by their names; 0 stands for those
// that are missing or no numbers.
func Counts(raw json.RawMessage, names ...string) []int {
	out := make([]int, len(names))
	if jsonspan.Kind(raw) != '{' {
		return out
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return out
	}
	for i, name := range names {
		out[i] = int(Amount(f[name]))
	}
	return out
}

// Amount reads a non-negative number of at most 2⁵³; 0 for anything else.
func Amount(raw json.RawMessage) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(string(raw)), 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return n
}
