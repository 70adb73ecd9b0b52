package digest

import (
	"testing"

	"precis/workstate"
)

// TestEnvironmentsAreToldFieldByField: of an older environment only what no later one says anew is told.
func TestEnvironmentsAreToldFieldByField(t *testing.T) {
	const old = "<environment_context>\n  <cwd>/w</cwd>\n  <network>off</network>\n  <shell>zsh</shell>\n</environment_context>"
	for _, tt := range []struct{ name, text, later, want string }{
		{"a part", old, "<environment_context>\n  <cwd>/v</cwd>\n  <network>on</network>\n</environment_context>", "<environment_context>\n  <shell>zsh</shell>\n</environment_context>"},
		{"all of it", old, "<environment_context>\n  <cwd>/v</cwd>\n  <network>on</network>\n  <shell>sh</shell>\n</environment_context>", ""},
		{"another element", old, "<settings>\n  <cwd>/v</cwd>\n</settings>", old},
		{"with words", "<environment_context>\nThe shell is slow.\n  <cwd>/w</cwd>\n</environment_context>", "<environment_context>\n  <cwd>/v</cwd>\n</environment_context>", "<environment_context>\nThe shell is slow.\n</environment_context>"},
		{"no element", "Never force-push.", old, "Never force-push."},
	} {
		if got := stillSaid(tt.text, []workstate.Item{{Text: tt.later}}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
