package chat

import "precis"

// Dialect is the rules of the Chat Completions API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse: the breaches of [precis.Check],
// except that the assistant may speak first and content may be empty.
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
		if b.Rule == "empty" {
			continue
		}
		if b.Message >= 0 {
			b.Message -= shift
		}
		out = append(out, b)
	}
	return out
}
