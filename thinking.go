package precis

// ReasoningRule decides about signed reasoning in a view with changed earlier messages.
type ReasoningRule string

// The rules for reasoning.
const (
	ReasoningLeaves ReasoningRule = ""      // all reasoning after a change is dropped
	ReasoningLoop   ReasoningRule = "loop"  // as above, but the reasoning after the last user turn stays
	ReasoningStays  ReasoningRule = "stays" // all stays: its signature does not bind it to earlier messages
)

// IsReasoning reports whether a block is a model's reasoning, visible or redacted.
func IsReasoning(b Block) bool {
	switch b.(type) {
	case Thinking, RedactedThinking:
		return true
	}
	return false
}

// Unbind returns the edit that drops signed reasoning after the first change of a view, unless the
// rule lets it stay: a signature binds reasoning to the messages before it, and providers refuse it
// when these have changed. Reasoning of the Responses API is bound to its own item alone and stays.
// The edit has no replacements if no reasoning must be dropped.
func Unbind(t *Transcript, units []Unit, rule ReasoningRule) Edit {
	e := Edit{Kind: KindThinking,
		Report: EditReport{Reason: "its signature binds it to messages that are no longer shown as they were"}}
	if rule == ReasoningStays {
		return e
	}
	changed := false
	loop := openLoop(units, rule)
	for k, u := range units {
		if k >= loop {
			break
		}
		if !u.Original() || len(u.Messages) == 0 {
			changed = true
			continue
		}
		if changed {
			e.Replace = append(e.Replace, signed(t, u)...)
		}
		changed = changed || u.Changed
	}
	return e
}

// openLoop returns the first unit that keeps its reasoning: the one after the last user turn. Text
// next to a tool result continues the turn.
func openLoop(units []Unit, rule ReasoningRule) int {
	if rule != ReasoningLoop {
		return len(units)
	}
	for k := len(units) - 1; k >= 0; k-- {
		if LastUserTurn(units[k].Messages) >= 0 {
			return k
		}
	}
	return len(units)
}

func signed(t *Transcript, u Unit) []Replacement {
	if t.At(u.From).Format == FormatResponses {
		return nil
	}
	var out []Replacement
	shown := map[Fingerprint]bool{}
	for _, b := range u.Messages[0].Content {
		if IsReasoning(b) {
			shown[HashBlock(b)] = true
		}
	}
	if len(shown) == 0 {
		return nil
	}
	for i, b := range t.At(u.From).Content {
		th, isText := b.(Thinking)
		if !IsReasoning(b) || isText && th.Signature == "" || !shown[HashBlock(b)] {
			continue
		}
		out = append(out, ReplaceBlock(t, u.From, i, nil))
	}
	return out
}
