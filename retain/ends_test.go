package retain_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// Of a text of megabytes the facts of both ends are known, where they stand, and none between.
func TestLongTextsHaveFactsAtTheirEnds(t *testing.T) {
	filler := strings.Repeat("nothing of note here\n", 20_000)
	text := "see src/first.go\n" + filler + "see src/middle.go\n" + filler + "\xff\xff see src/last.go\n"
	x := retain.Read("", []precis.Message{precis.NewText(precis.RoleUser, text)})
	for name, want := range map[string]bool{"src/first.go": true, "src/middle.go": false, "src/last.go": true} {
		n, ok := x.Find(name, retain.KindPath)
		if ok != want {
			t.Errorf("%s is known: %v", name, ok)
		}
		if ok && x.Facts[n].Name != name {
			t.Errorf("%s is shown as %q", name, x.Facts[n].Name)
		}
	}
}
