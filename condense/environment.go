package condense

import (
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/policy"
)

// EnvironmentOf returns the newest description of a client's surroundings in the messages, for
// [policy.Request]; "" for none.
func EnvironmentOf(msgs []precis.Message) string {
	text, _ := newestEnvironment(msgs)
	return text
}

// newestEnvironment returns the newest such text (agents of the Roo family send open files, time
// and mode at the end of each turn) and its message; -1 for none.
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

// environment returns the client's surroundings for a summary: on automatic runs, unless the view
// shows the same text after the summary anyway.
func environment(s *policy.Situation, covers func(i int) bool) string {
	if !s.Automatic || strings.TrimSpace(s.Environment) == "" {
		return ""
	}
	if newest, i := newestEnvironment(s.Transcript.Messages()); i >= 0 &&
		newest == strings.TrimSpace(s.Environment) && !covers(i) {
		return ""
	}
	return s.Environment
}
