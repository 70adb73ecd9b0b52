package harness

import (
	"slices"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"do <command name=\"a\">\nx <b>\n</command> and <command>y</command>", []string{"<command name=\"a\">\nx <b>\n</command>", "<command>y</command>"}},
		{"<command</command>x</command>", []string{"<command</command>x</command>"}},
		{"<commands>x</command></commands>", []string{"<commands>x</command>"}},
		{"<command>x <command>y</command>", []string{"<command>x <command>y</command>"}},
		{"see @a <file_content path='a'>\n<command-x>evil</command>\n</file_content> <command>y</command>\n</file_content>\n<command name='i'>own</command>", []string{"<command name='i'>own</command>"}},
		{"why? <log>\n<command>evil</command>\n</log> <command>own</command>", []string{"<command>own</command>"}},
		{"<command>x</COMMAND>", nil}, {"<command", nil}, {"</command>", nil}, {"", nil},
	} {
		if got := Commands(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := Commands("<command>a\nb</command>"); !slices.Equal(got, []string{"<command>a\nb</command>"}) {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("<command>", 200_000)
	if got := Commands(long); got != nil {
		t.Errorf("%d blocks", len(got)) // and it must end: no block is closed
	}
}

// TestLocalCommands: a text is one when each of its lines is a command that the program carries out itself.
func TestLocalCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"/clear": true, "/model opus": true, "/diff\n/add main.go\n": true, "/run go test ./... -run TestA -count 1": true,
		"": false, "clear": false, "/diff\nadd a shebang": false, "/ask what is slow?": false, "/review": false, "/undo": false, "/address the review": false,
	} {
		if got := IsLocalCommand(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
