package harness

import (
	"strings"
	"testing"
)

// TestMessagesWithoutAnEndAreReadOnce: what ends nowhere is looked at once, not once for each line of it.
func TestMessagesWithoutAnEndAreReadOnce(t *testing.T) {
	if got := Documents(strings.Repeat("del : no such file\nAt line:1 char:1\n", 50_000), func(string) bool { return false }); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
}
