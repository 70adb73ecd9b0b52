package roo

import (
	"encoding/json"
	"maps"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// TokenUsage is the usage of a task according to its UI messages. Input tokens include cached
// ones.
type TokenUsage struct {
	In, Out                 int
	CacheWrites, CacheReads int
	HasWrites, HasReads     bool // whether any request reported them
	Cost                    float64
	ContextTokens           int // in the last request with its answer, or after the last condensation
}

// Usage adds up the requests and condensations of a task.
func (u *UI) Usage() TokenUsage {
	var t TokenUsage
	requests := u.requests()
	for _, r := range requests {
		r.add(&t)
	}
	for i := len(requests) - 1; i >= 0; i-- {
		if n := requests[i].contextTokens(); n > 0 {
			t.ContextTokens = n
			break
		}
	}
	return t
}

// request is one api_req_started message, or one condensation.
type request struct {
	fields   map[string]json.RawMessage
	condense *event
}

// requests returns the requests with their results and the condensations, in order. A result may
// be a separate api_req_finished message; it belongs to the last request without a result.
func (u *UI) requests() []request {
	var out []request
	var open []int
	for i := range u.Len() {
		m := u.msgs[i]
		switch m.say {
		case "api_req_started":
			open = append(open, len(out))
			out = append(out, request{fields: parseFields(m.text)})
		case "api_req_finished":
			if n := len(open); n > 0 {
				maps.Copy(out[open[n-1]].fields, parseFields(m.text))
				open = open[:n-1]
			}
		case "condense_context":
			out = append(out, request{condense: &u.msgs[i].event})
		}
	}
	return out
}

func parseFields(text string) map[string]json.RawMessage {
	f, err := jsonspan.Fields([]byte(text))
	if err != nil {
		return map[string]json.RawMessage{}
	}
	return f
}

func (r request) add(t *TokenUsage) {
	if r.condense != nil {
		t.Cost += r.condense.cost
		return
	}
	count := func(name string) (int, bool) {
		raw := r.fields[name]
		return int(number(raw)), jsonspan.Kind(raw) == '0'
	}
	in, _ := count("tokensIn")
	out, _ := count("tokensOut")
	t.In, t.Out = t.In+in, t.Out+out
	if n, ok := count("cacheWrites"); ok {
		t.CacheWrites, t.HasWrites = t.CacheWrites+n, true
	}
	if n, ok := count("cacheReads"); ok {
		t.CacheReads, t.HasReads = t.CacheReads+n, true
	}
	t.Cost += number(r.fields["cost"])
}

// inputUsage returns the input tokens of a request; zero for a condensation. Roo's tokensIn includes
// cached tokens, Cline's excludes them.
func (r request) inputUsage() precis.Usage {
	if r.condense != nil {
		return precis.Usage{}
	}
	in, cached := int(number(r.fields["tokensIn"])), int(number(r.fields["cacheReads"])+
		number(r.fields["cacheWrites"]))
	if in < cached {
		return precis.Usage{Input: in, CacheRead: cached}
	}
	return precis.Usage{Input: in}
}

// contextTokens returns the tokens in the context after the request; 0 if unknown.
func (r request) contextTokens() int {
	if r.condense != nil {
		return r.condense.after
	}
	return int(number(r.fields["tokensIn"]) + number(r.fields["tokensOut"]))
}
