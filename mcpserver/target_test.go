package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/mcpserver"
)

// A doubtful target is refused, and what would be lost altogether wants force; nothing is
// changed by either.
func TestTargetsOfTools(t *testing.T) {
	for name, connect := range transports {
		h := home(t, talk(20))
		cs := connect(t, mcpserver.Options{Home: h, Edits: true})
		edits := func() int {
			list, err := conversation.Edits(t.Context(), h, "c1")
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		for _, target := range []any{20, 20.0, "20", " 20 ", 1, "1.0", 999, -20, "-20%", "120%", "0%", "NaN", 1e30, true, []int{20}, "twenty"} {
			for _, apply := range []bool{false, true} {
				_, _, err := call(t.Context(), cs, "condense", arguments{"target": target, "apply": apply})
				if err == nil {
					t.Errorf("%s: %v is taken", name, target)
				} else if text := err.Error(); (target == 20 || target == "20") && (!strings.Contains(text, "20%") || !strings.Contains(text, "20 tokens")) {
					t.Errorf("%s: not both readings: %s", name, text)
				}
			}
		}
		out, text := want(t, cs, "condense", arguments{"target": "0.1%"})
		if !strings.Contains(text, "refused without force") || at(out, "applied") == true {
			t.Errorf("%s: the preview does not say what would be lost: %s", name, text)
		}
		if _, _, err := call(t.Context(), cs, "condense", arguments{"target": "0.1%", "apply": true}); err == nil || !strings.Contains(err.Error(), "would_lose") || !strings.Contains(err.Error(), "force") {
			t.Errorf("%s: %v", name, err)
		}
		if edits() != 0 {
			t.Fatalf("%s: %d edits were made", name, edits())
		}
		if out, _ := want(t, cs, "condense", arguments{"target": 0.2, "apply": true}); at(out, "applied") != true {
			t.Errorf("%s: an ordinary target is not taken", name)
		}
		if out, _ := want(t, cs, "condense", arguments{"target": "0.1%", "apply": true, "force": true}); at(out, "applied") != true {
			t.Errorf("%s: force does not help", name)
		}
	}
}
