package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/precis-dev/precis/gateway/splice"
	"github.com/precis-dev/precis/gateway/tool"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/responses"
)

// composed is the request to send upstream.
type composed struct {
	body  []byte
	beta  string     // beta that the body needs in addition to the client's; "": no beta
	tools tool.Names // the gateway's own tools that the model may call; nil: no tool is offered
}

// compose returns the request to send: the client's own if no message is edited, else with the
// messages of the view. The same view gives the same bytes, however the client changes hidden
// messages.
func (p *plan) compose() composed {
	c := &composer{plan: p, d: p.found.Body.Draft()}
	changed := splice.Edited(p.result) || p.reasoningOff
	if changed {
		view := splice.Messages(splice.Request{Dialect: p.Dialect.Name(), Body: p.found.Body,
			Lead: p.found.Prompt.Lead[:p.found.Lead]}, p.result, &p.conv.Written)
		if p.reasoningOff {
			view = splice.WithoutReasoning(view)
		}
		c.d.Set(p.Dialect.List(), p.Dialect.AppendMessages(make([]byte, 0, len(p.body)), view))
		c.bindThinking()
	}
	c.poly.Remove(c.d)
	c.offerTools()
	out := composed{body: c.d.Bytes(), beta: c.beta, tools: c.tools}
	if p.unlisted && !changed && !p.poly.Active && len(out.tools) == 0 {
		out.body = p.body
	}
	return out
}

// live returns the request that a summary request extends, so that its messages are found in the
// provider's prompt cache.
func (p *plan) live(edited bool) *policy.LiveRequest {
	l := &policy.LiveRequest{Dialect: p.Dialect.Name(), Model: p.found.Prompt.Model, Body: p.body,
		Header: rideHeaders(p.r.Header)}
	p.poly.RemoveBetas(l.Header)
	if edited || p.poly.Asked {
		c := &composer{plan: p, d: p.found.Body.Draft()}
		if edited {
			c.bindThinking()
		}
		c.poly.Remove(c.d)
		c.offerTools()
		l.Body = c.d.Bytes()
		if c.beta != "" {
			l.Header[headerBeta] = betas(p.r.Header, c.beta)
		}
	}
	return l
}

// composer changes the fields of one request.
type composer struct {
	*plan
	d     *wire.Draft
	beta  string
	tools tool.Names
}

// offerTools adds the gateway's own tools, and removes their marks from earlier answers. Reasoning
// that saw a tool, its calls or their results is bound to them, even when no message is hidden.
func (c *composer) offerTools() {
	if c.Dialect.Name() == responses.Format && tool.Marked(c.found.Body.Raw()) {
		c.d.Set(c.Dialect.List(), tool.Unmark(c.d.Get(c.Dialect.List())))
	}
	if !c.plan.recall && !c.plan.condense {
		return
	}
	list := c.d.Get("tools")
	free := tool.Available(list, c.g.ownTools())
	offered := slices.DeleteFunc(slices.Clone(free), func(t tool.Tool) bool { return !c.offers(t) })
	if len(offered) == 0 {
		return
	}
	c.tools = tool.NamesOf(free) // a follow-up may offer one of the others
	c.d.Set("tools", tool.Offer(list, c.Dialect.Name(), offered))
	c.bindThinking()
}

// betas returns the betas of a request plus one.
func betas(h http.Header, more string) []string {
	list := strings.Join(h.Values(headerBeta), ",")
	if strings.Contains(list, more) {
		return []string{list}
	}
	return []string{strings.TrimPrefix(list+","+more, ",")}
}
