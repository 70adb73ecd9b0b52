package gateway

import (
	"net/http"
	"slices"
	"strings"

	"precis"
	"precis/gateway/splice"
	"precis/gateway/tool"
	"precis/wire"
	"precis/wire/responses"
)

// composed is the request to send upstream.
type composed struct {
	body  []byte
	beta  string     // a beta that the body needs in addition to the client's own; "": none
	tools tool.Names // of the gateway's own that may be called; nil: none is offered
}

// compose returns the request to send: the client's own while its messages are
// shown as they were said, else with those of the view in their place. The same
// view gives the same bytes, whatever the client changed in what is hidden.
func (p *plan) compose() composed {
	c := &composer{plan: p, d: p.found.Body.Draft()}
	changed := edited(p.result) || p.plain
	if changed {
		view := splice.Messages(splice.Request{Dialect: p.dialect.Name(), Body: p.found.Body, Lead: p.found.Prompt.Lead[:p.found.Lead]}, p.result, &p.conv.Written)
		if p.plain {
			view = splice.WithoutReasoning(view)
		}
		c.d.Set(p.dialect.List(), p.dialect.AppendMessages(make([]byte, 0, len(p.body)), view))
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

// edited reports whether the view differs from what was said: by edits, or because
// what was said is not valid, such as a tool result without its call, which an
// upstream would refuse.
func edited(res precis.Result) bool {
	if len(res.Report.Repairs) > 0 {
		return true
	}
	for _, u := range res.Units {
		if !u.Original() || u.Changed {
			return true
		}
	}
	return false
}

// live is the request that a summary request rides on, to find its messages in the
// provider's prompt cache.
func (p *plan) live(edited bool) *precis.Live {
	l := &precis.Live{Dialect: p.dialect.Name(), Model: p.found.Prompt.Model, Body: p.body, Header: rideHeaders(p.r.Header)}
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

// offerTools adds the gateway's own tools that are offered, and removes what earlier answers
// have left behind of them. Reasoning that saw a tool, its calls or their results is bound
// to them, also when nothing is hidden any more.
func (c *composer) offerTools() {
	if c.dialect.Name() == responses.Format && tool.Marked(c.found.Body.Raw()) {
		c.d.Set(c.dialect.List(), tool.Unmark(c.d.Get(c.dialect.List())))
	}
	if !c.plan.recall && !c.plan.condense {
		return
	}
	list := c.d.Get("tools")
	free := tool.Free(list, c.g.ownTools())
	offered := slices.DeleteFunc(slices.Clone(free), func(t tool.Tool) bool { return !c.offers(t) })
	if len(offered) == 0 {
		return
	}
	c.tools = tool.NamesOf(free) // one of the others may be offered in a follow-up
	c.d.Set("tools", tool.Offer(list, c.dialect.Name(), offered))
	c.bindThinking()
}

// betas returns the betas of a request and one more.
func betas(h http.Header, more string) []string {
	list := strings.Join(h.Values(headerBeta), ",")
	if strings.Contains(list, more) {
		return []string{list}
	}
	return []string{strings.TrimPrefix(list+","+more, ",")}
}
