package chat

import "precis"

// Dialect is the rules of the Chat Completions API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse: the breaches of [precis.Check],
// except that the assistant may speak first, content may be empty, and a later
// turn may use the ID of an earlier call again.
func (Dialect) Check(view []precis.Message) []precis.Breach {
	shift := 0
	for _, m := range view {
		if m.Role == precis.RoleSystem {
			continue
		}
		if m.Role == precis.RoleAssistant {
			view = append([]precis.Message{precis.NewText(precis.RoleUser, "-")}, view...)
			shift = 1
		}
		break
	}
	var out []precis.Breach
	for _, b := range precis.Check(view) {
		if b.Rule == "empty" || b.Rule == "duplicate" && !twiceInTurn(view, b.Message) {
			continue
		}
		if b.Message >= 0 {
			b.Message -= shift
		}
		out = append(out, b)
	}
	return out
}

// twiceInTurn reports whether message i, when it makes calls, shares an ID with
// another call of its turn. Answers are always told apart by their turn.
func twiceInTurn(view []precis.Message, i int) bool {
	if view[i].Role != precis.RoleAssistant {
		return true
	}
	for i > 0 && view[i-1].Role != precis.RoleUser {
		i--
	}
	seen := map[string]bool{}
	for ; i < len(view) && view[i].Role != precis.RoleUser; i++ {
		for _, b := range view[i].Content {
			use, ok := b.(precis.ToolUse)
			if ok && seen[use.ID] {
				return true
			}
			if ok {
				seen[use.ID] = true
			}
		}
	}
	return false
}
