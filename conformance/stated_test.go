package conformance

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// make figures sets it.
var updateFigures = flag.Bool("update-figures", false, "write measured figures into the documents")

// stated compares the figures that a document states with measured ones: the groups of a pattern that occurs in it once.
func stated(t *testing.T, document, pattern string, measured ...string) {
	t.Helper()
	path := filepath.Join("..", document)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(pattern).FindAllSubmatchIndex(text, -1)
	if len(found) != 1 || len(found[0]) != 2*len(measured)+2 {
		t.Fatalf("%s has the text %s %d times", document, pattern, len(found))
	}
	changed := false
	for i := len(measured) - 1; i >= 0; i-- { // from behind, so that places stay
		from, to := found[0][2*i+2], found[0][2*i+3]
		if string(text[from:to]) == measured[i] {
			continue
		}
		if !*updateFigures {
			t.Errorf("%s states %s, measured is %s; make figures writes it", document, text[from:to], measured[i])
		}
		text, changed = append(text[:from:from], append([]byte(measured[i]), text[to:]...)...), true
	}
	if changed && *updateFigures {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
