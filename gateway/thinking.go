package gateway

import (
	"regexp"
	"strings"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/anthropic"
)

// Newer Claude models bind each block of reasoning to everything before it. Once
// a view differs from what a block was made on, the API refuses the block, or
// drops it when the request asks for that. So reasoning from before the change
// leaves with the edit; in a turn that is still being worked on, where the API
// wants it back, it stays and the request asks for dropping.

const (
	headerBeta  = "Anthropic-Beta"
	betaBinding = "thinking-binding-controls-2026-08-01"
)

// unbound are Claude models whose signatures are bound to their own block alone.
var unbound = regexp.MustCompile(`claude-(3|2|instant|(sonnet|opus|haiku)-4|opus-5-[0-4]([^0-9]|$)|(sonnet|haiku)-5-[0-4]([^0-9]|$))`)

// binds reports whether a model's reasoning is bound to what came before it.
// Models nobody knows are taken to.
func binds(model string) bool {
	model = strings.ToLower(strings.ReplaceAll(model, ".", "-"))
	return !unbound.MatchString(model)
}

// binds reports whether the reasoning in this request is bound to what came
// before it. An upstream that does not know the control for it has no such
// models.
func (t *turn) binds() bool {
	_, refused := t.g.freeModels.Load([2]string{t.upstream.Name, t.found.Prompt.Model})
	return !refused && binds(t.found.Prompt.Model)
}

// reasoning returns the rule for signed reasoning in this request.
func (t *turn) reasoning() precis.Reasoning {
	p := t.found.Prompt
	switch {
	case t.dialect.Name() != anthropic.Format:
		return precis.ReasoningStays // that of others is bound to its own item at most
	case !p.Thinking || t.plain:
		return precis.ReasoningLeaves
	case !t.binds():
		return precis.ReasoningStays
	}
	return precis.ReasoningLoop
}

// bindThinking asks the API to drop reasoning that no longer fits, in a request
// whose view differs from what was said.
func (t *turn) bindThinking(d *wire.Draft) {
	if t.dialect.Name() != anthropic.Format || !t.found.Prompt.Thinking {
		return
	}
	if t.plain {
		d.Set("thinking", []byte(`{"type":"disabled"}`))
		dropThinkingEdits(d)
		return
	}
	if !t.binds() {
		return
	}
	b, err := wire.Parse(d.Get("thinking"), "", nil)
	if err != nil || b.Get("block_binding") != nil {
		return
	}
	thinking := b.Draft()
	thinking.Set("block_binding", []byte(`{"prefix_mismatch_behavior":"drop_block"}`))
	d.Set("thinking", thinking.Bytes())
	t.beta = betaBinding
}

// dropThinkingEdits takes out the context edits that only work with thinking.
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

// withoutThinking returns messages without any reasoning that is signed.
func withoutThinking(view []precis.Message) []precis.Message {
	out := make([]precis.Message, 0, len(view))
	for _, m := range view {
		var content []precis.Block
		for _, b := range m.Content {
			switch b.(type) {
			case precis.Thinking, precis.RedactedThinking:
			default:
				content = append(content, b)
			}
		}
		if len(content) < len(m.Content) {
			if len(content) == 0 {
				continue
			}
			m.Content, m.Raw = content, nil
			m = unmark(m) // its breakpoints are those of the time it was said
		}
		out = append(out, m)
	}
	return out
}

var (
	signatureError = regexp.MustCompile("(?i)invalid `?signature`? in `?thinking`?|bound to a different conversation|expected `?thinking`? or `?redacted_thinking`?")
	controlError   = regexp.MustCompile("(?i)block_binding|prefix_mismatch|" + betaBinding)
)

// aboutControl reports whether an error says that the control for bound
// reasoning is unknown.
func aboutControl(status int, body []byte) bool { return status == 400 && controlError.Match(body) }

// aboutThinking reports whether an error is about reasoning that was sent back.
func aboutThinking(status int, body []byte) bool {
	return status == 400 && signatureError.Match(body)
}
