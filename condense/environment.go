package condense

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/harness"
)

// EnvironmentOf returns what a client says of its surroundings in the newest message that
// does, for [precis.Request]; "" when none does.
func EnvironmentOf(msgs []precis.Message) string {
	text, _ := newestEnvironment(msgs)
	return text
}

// newestEnvironment returns the newest such text (of agents of the Roo family: open files,
// time, mode, at the end of each turn) and its message; -1 when there is none.
func newestEnvironment(msgs []precis.Message) (string, int) {
	for i, m := range slices.Backward(msgs) {
		if m.Role != precis.RoleUser {
			continue
		}
		for _, b := range slices.Backward(m.Content) {
			t, ok := b.(precis.Text)
			if ok && harness.WholeState(t.Text) {
				return strings.TrimSpace(t.Text), i
			}
		}
	}
	return "", -1
}

// environment returns what a summary says of the client's surroundings: on automatic runs,
// and only where the view does not show the same after it anyway.
func environment(s *precis.Situation, covers func(i int) bool) string {
	if !s.Automatic || strings.TrimSpace(s.Environment) == "" {
		return ""
	}
	if newest, i := newestEnvironment(s.Transcript.Messages()); i >= 0 && newest == strings.TrimSpace(s.Environment) && !covers(i) {
		return ""
	}
	return s.Environment
}
