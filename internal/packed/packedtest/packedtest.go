// Package packedtest checks in tests that an embedded, compressed file is up to date with its
// source text, and rewrites it with -update.
//
//precis:testonly
package packedtest

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/precis-dev/precis/internal/packed"
)

var update = flag.Bool("update", false, "pack the text anew")

// Check reports when the small form of a file in the folder of the test, NAME.packed, is not that of
// its text. With -update it writes that form. Embedded is the text that the package has.
func Check(t *testing.T, name string, embedded []byte, err error) {
	t.Helper()
	want, readErr := os.ReadFile(name)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if *update {
		small, err := packed.Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name+".packed", small, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil || !bytes.Equal(embedded, want) {
		t.Errorf("%s has changed: go test . -run Packed -update, in its folder; %v", name, err)
	}
}
