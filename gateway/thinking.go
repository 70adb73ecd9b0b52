package gateway

import (
	"cmp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/reasoning"
	"github.com/precis-dev/precis/wire/anthropic"
)

// binds reports whether the reasoning in this request is bound to the messages before it. An
// upstream that does not know the control for it has no such models.
func (p *placed) binds() bool {
	_, refused := p.g.freeModels.Load([2]string{p.Upstream.Name, p.found.Prompt.Model})
	return !refused && reasoning.Binds(p.found.Prompt.Model)
}

// withoutReasoning returns the plan with reasoning switched off, and left out of the view, for the
// rest of the unfinished turn.
func (p *plan) withoutReasoning() *plan {
	if p.conv.Lock(p.r.Context()) == nil {
		p.conv.Plain = lastTurn(p.found.Messages, p.found.Line.Transcript)
		p.conv.Unlock()
	}
	next := *p
	next.reasoningOff = true
	return &next
}

// lastTurn returns the node of the last message of the user.
func lastTurn(msgs []precis.Message, t *precis.Transcript) precis.Fingerprint {
	return t.Fingerprint(max(precis.LastUserTurn(msgs), 0) + 1)
}

// bindThinking asks the API to drop reasoning that is no longer valid, because the view differs
// from the client's messages.
func (c *composer) bindThinking() {
	switch {
	case c.Dialect.Name() != anthropic.Format || !c.found.Prompt.Thinking:
	case c.reasoningOff:
		reasoning.SwitchOff(c.d)
	case c.binds():
		c.beta = cmp.Or(reasoning.DropInvalid(c.d), c.beta)
	}
}
