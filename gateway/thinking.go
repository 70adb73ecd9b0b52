package gateway

import (
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// Newer Claude models bind each block of reasoning to everything before it. When a view changes
// those messages, the API refuses the block, or drops it if the request asks for that. So an edit
// removes the reasoning from before the change. In an unfinished turn the API requires the
// reasoning, so it stays and the request asks the API to drop it.

const (
	headerBeta  = "Anthropic-Beta"
	betaBinding = "thinking-binding-controls-2026-08-01"
)

// unbound matches Claude models with signatures that cover only their own block.
var unbound = lazyregexp.New(`claude-(3|2|instant|(sonnet|opus|haiku)-4|opus-5-[0-4]([^0-9]|$)|(sonnet|haiku)-5-[0-4]([^0-9]|$))`)

// binds reports whether a model's reasoning is bound to the messages before it. Unknown models are
// assumed to bind it.
func binds(model string) bool {
	model = strings.ToLower(strings.ReplaceAll(model, ".", "-"))
	return !unbound.MatchString(model)
}

// binds reports whether the reasoning in this request is bound to the messages before it. An
// upstream that does not know the control for it has no such models.
func (p *placed) binds() bool {
	_, refused := p.g.freeModels.Load([2]string{p.Upstream.Name, p.found.Prompt.Model})
	return !refused && binds(p.found.Prompt.Model)
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
	if c.Dialect.Name() != anthropic.Format || !c.found.Prompt.Thinking {
		return
	}
	if c.reasoningOff {
		c.d.Set("thinking", []byte(`{"type":"disabled"}`))
		dropThinkingEdits(c.d)
		return
	}
	if !c.binds() {
		return
	}
	b, err := wire.Parse(c.d.Get("thinking"), "", nil)
	if err != nil || b.Get("block_binding") != nil {
		return
	}
	thinking := b.Draft()
	thinking.Set("block_binding", []byte(`{"prefix_mismatch_behavior":"drop_block"}`))
	c.d.Set("thinking", thinking.Bytes())
	c.beta = betaBinding
}

// dropThinkingEdits removes the context edits that only work with thinking.
func dropThinkingEdits(d *wire.Draft) {
	b, err := wire.Parse(d.Get("context_management"), "edits", nil)
	if err != nil || !b.HasList() {
		return
	}
	out := []byte("[")
	for i := range b.Items() {
		kind, _ := jsonspan.String(jsonspan.Field(b.Item(i), "type"))
		if strings.HasPrefix(kind, "clear_thinking") {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, b.Item(i)...)
	}
	if len(out) == 1 {
		d.Remove("context_management")
		return
	}
	edits := b.Draft()
	edits.Set("edits", append(out, ']'))
	d.Set("context_management", edits.Bytes())
}

var (
	signatureError = lazyregexp.New("(?i)invalid `?signature`? in `?thinking`?|bound to a different conversation|expected `?thinking`? or `?redacted_thinking`?")
	controlError   = lazyregexp.New("(?i)block_binding|prefix_mismatch|" + betaBinding)
)

// aboutControl reports whether an error means that the control for bound reasoning is unknown.
func aboutControl(status int, body []byte) bool { return status == 400 && controlError.Match(body) }

// aboutThinking reports whether an error concerns reasoning that was sent back.
func aboutThinking(status int, body []byte) bool {
	return status == 400 && signatureError.Match(body)
}
