package polyfill

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// The types of context edits.
const (
	TypeClearTools    = "clear_tool_uses_20250919"
	TypeClearThinking = "clear_thinking_20251015"
	TypeCompact       = "compact_20260112"
)

// The betas that announce the fields.
const (
	BetaContextManagement = "context-management-2025-06-27"
	BetaCompact           = "compact-2026-01-12"
)

// The API's defaults for omitted fields.
const (
	defaultToolTrigger    = 100_000 // input tokens
	defaultToolKeep       = 3
	defaultCompactTrigger = 150_000
)

// Edits are the edits of a request's context_management; nil fields are not requested.
type Edits struct {
	Order    []string // the types, as listed
	Tools    *ClearTools
	Thinking *ClearThinking
	Compact  *Compact
	Unknown  []json.RawMessage // edits of unknown types
}

// ClearTools requests clearing old tool results.
type ClearTools struct {
	Tokens   int // clear when the input has more tokens; 0: Uses decides
	Uses     int // clear when there are more tool uses
	Keep     int // number of newest tool uses that stay
	AtLeast  int // fewest tokens that a clearing must save to be made; 0: any
	Exclude  []string
	Inputs   bool     // inputs are cleared, too
	InputsOf []string // clear only inputs of these tools; nil: of all
}

// ClearsInput reports whether the input of a tool is cleared with its result.
func (c *ClearTools) ClearsInput(tool string) bool {
	return c.Inputs && (c.InputsOf == nil || slices.Contains(c.InputsOf, tool))
}

// ClearThinking requests leaving out the reasoning of old turns.
type ClearThinking struct {
	Keep int // number of newest turns with reasoning that keep it; 0: all
}

// Compact requests a summary in place of the messages.
type Compact struct {
	Tokens       int    // input tokens above which it is made; 0: the gateway's own threshold
	Instructions string // for the summary
	Pause        bool   // answer only with the summary
}

// ParseEdits reads Anthropic's context_management. The error is an [*Invalid].
func ParseEdits(raw json.RawMessage) (Edits, error) {
	const at = "context_management"
	var out Edits
	f := &fields{}
	m := f.object(raw, at, "edits")
	for i, e := range f.list(m["edits"], at+".edits") {
		out.add(f, e, at+".edits."+strconv.Itoa(i))
	}
	if i := slices.Index(out.Order, TypeClearThinking); i > 0 {
		f.fail(at+".edits", "`%s` must be the first strategy in the list", TypeClearThinking)
	}
	return out, f.err()
}

// add reads one edit.
func (o *Edits) add(f *fields, raw json.RawMessage, at string) {
	kind, _ := jsonspan.String(f.object(raw, at)["type"])
	if slices.Contains(o.Order, kind) {
		f.fail(at, "`%.40s` is listed twice", kind)
	}
	at += "." + kind
	switch kind {
	case TypeClearTools:
		o.Tools = f.clearTools(raw, at)
	case TypeClearThinking:
		o.Thinking = f.clearThinking(raw, at)
	case TypeCompact:
		o.Compact = f.compact(raw, at)
	case "":
		f.tag(at[:len(at)-1], "", nil)
	default:
		o.Unknown = append(o.Unknown, raw)
	}
	o.Order = append(o.Order, kind)
}

func (f *fields) clearTools(raw json.RawMessage, at string) *ClearTools {
	m := f.object(raw, at, "type", "trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs")
	c := &ClearTools{Tokens: defaultToolTrigger, Keep: defaultToolKeep}
	if v := m["trigger"]; !absent(v) {
		kind, n := f.amount(v, at+".trigger", 1, "input_tokens", "tool_uses")
		c.Tokens = n
		if kind == "tool_uses" {
			c.Tokens, c.Uses = 0, n
		}
	}
	if v := m["keep"]; !absent(v) {
		_, c.Keep = f.amount(v, at+".keep", 0, "tool_uses")
	}
	if v := m["clear_at_least"]; !absent(v) {
		_, c.AtLeast = f.amount(v, at+".clear_at_least", 0, "input_tokens")
	}
	c.Exclude = f.texts(m["exclude_tools"], at+".exclude_tools")
	if v := m["clear_tool_inputs"]; jsonspan.Kind(v) == '[' {
		c.Inputs, c.InputsOf = true, append([]string{}, f.texts(v, at+".clear_tool_inputs")...)
	} else {
		c.Inputs = f.boolean(v, at+".clear_tool_inputs")
	}
	return c
}

func (f *fields) clearThinking(raw json.RawMessage, at string) *ClearThinking {
	m := f.object(raw, at, "type", "keep")
	v := m["keep"]
	if absent(v) {
		return &ClearThinking{Keep: 1}
	}
	if s, ok := jsonspan.String(v); ok {
		if s != "all" {
			f.fail(at+".keep", "Input should be 'all'")
		}
		return &ClearThinking{}
	}
	keep, at := f.object(v, at+".keep", "type", "value"), at+".keep"
	switch kind, _ := jsonspan.String(keep["type"]); kind {
	case "all":
		return &ClearThinking{}
	case "thinking_turns":
		return &ClearThinking{Keep: f.number(keep["value"], at+".value", 1)}
	default:
		f.tag(at, kind, []string{"thinking_turns", "all"})
	}
	return &ClearThinking{}
}

func (f *fields) compact(raw json.RawMessage, at string) *Compact {
	m := f.object(raw, at, "type", "trigger", "instructions", "pause_after_compaction")
	c := &Compact{Tokens: defaultCompactTrigger}
	if v := m["trigger"]; !absent(v) {
		_, c.Tokens = f.amount(v, at+".trigger", 1, "input_tokens")
	}
	c.Instructions = f.text(m["instructions"], at+".instructions")
	c.Pause = f.boolean(m["pause_after_compaction"], at+".pause_after_compaction")
	return c
}

// Rest returns the context_management with only the edits of unknown types, to be forwarded; nil
// when there are no such edits.
func (o Edits) Rest() []byte {
	if len(o.Unknown) == 0 {
		return nil
	}
	out := []byte(`{"edits":[`)
	for i, e := range o.Unknown {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, "]}"...)
}
