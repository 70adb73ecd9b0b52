// Package reasoning knows which reasoning of earlier turns an API still accepts when a view changes
// the messages before it.
//
// Newer Claude models bind each block of reasoning to everything before it. When a view changes
// those messages, the API refuses the block, or drops it if the request asks for that. So an edit
// removes the reasoning from before the change. In an unfinished turn the API requires the
// reasoning, so it stays and the request asks the API to drop it.
package reasoning

import (
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/wire"
)

const betaBinding = "thinking-binding-controls-2026-08-01"

// unbound matches Claude models with signatures that cover only their own block.
var unbound = lazyregexp.New(`claude-(3|2|instant|(sonnet|opus|haiku)-4|opus-5-[0-4]([^0-9]|$)|(sonnet|haiku)-5-[0-4]([^0-9]|$))`)

// Binds reports whether a model's reasoning is bound to the messages before it. Unknown models are
// assumed to bind it.
func Binds(model string) bool {
	model = strings.ToLower(strings.ReplaceAll(model, ".", "-"))
	return !unbound.MatchString(model)
}

// DropInvalid makes a request ask the API to drop reasoning that is no longer valid, and returns the
// beta that this needs; "" when the request has its own rule for such reasoning.
func DropInvalid(d *wire.Draft) (beta string) {
	b, err := wire.Parse(d.Get("thinking"), "", nil)
	if err != nil || b.Get("block_binding") != nil {
		return ""
	}
	thinking := b.Draft()
	thinking.Set("block_binding", []byte(`{"prefix_mismatch_behavior":"drop_block"}`))
	d.Set("thinking", thinking.Bytes())
	return betaBinding
}

// SwitchOff switches reasoning off in a request.
func SwitchOff(d *wire.Draft) {
	d.Set("thinking", []byte(`{"type":"disabled"}`))
	dropThinkingEdits(d)
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

// IsControlError reports whether an error means that the control for bound reasoning is unknown.
func IsControlError(status int, body []byte) bool { return status == 400 && controlError.Match(body) }

// IsReasoningError reports whether an error concerns reasoning that was sent back.
func IsReasoningError(status int, body []byte) bool {
	return status == 400 && signatureError.Match(body)
}
