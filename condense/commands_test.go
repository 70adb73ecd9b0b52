package condense

import (
	"slices"
	"strings"
	"testing"

	"precis"
)

func TestCommandBlocks(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"do <command name=\"a\">\nx <b>\n</command> and <command>y</command>", []string{"<command name=\"a\">\nx <b>\n</command>", "<command>y</command>"}},
		{"<command</command>x</command>", []string{"<command</command>x</command>"}},
		{"<commands>x</command></commands>", []string{"<commands>x</command>"}},
		{"<command>x <command>y</command>", []string{"<command>x <command>y</command>"}},
		{"<command>x</COMMAND>", nil}, {"<command", nil}, {"</command>", nil}, {"", nil},
	} {
		if got := CommandBlocks(precis.NewText(precis.RoleUser, tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
	two := precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: "<command>a"}, precis.Image{}, precis.Text{Text: "b</command>"}}}
	if got := CommandBlocks(two); !slices.Equal(got, []string{"<command>a\nb</command>"}) {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("<command>", 200_000)
	if got := CommandBlocks(precis.NewText(precis.RoleUser, long)); got != nil {
		t.Errorf("%d blocks", len(got)) // and it must end: no block is closed
	}
}
