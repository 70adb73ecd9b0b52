package transfer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/transfer"
)

// An export of any bytes is taken, or refused with a typed error; what was taken can be
// exported again.
func FuzzImport(f *testing.F) {
	lines := []string{
		`{"format":"precis-store","version":1}`, `{"owner":"a"}`,
		`{"edit":{"edit":{"id":"x","kind":"pin","at":"` + strings.Repeat("01", 32) + `"}}}`, `{"end":{}}`,
	}
	f.Add([]byte(strings.Join(lines, "\n") + "\n"))
	f.Add([]byte(lines[0] + "\n"))
	f.Add([]byte("\x00\xff\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := memory.New()
		defer s.Close()
		_, err := transfer.Import(t.Context(), bytes.NewReader(data), s)
		if err != nil && precis.CodeOf(err) == precis.CodeInternal {
			t.Fatalf("an export is at fault, not the store: %v", err)
		}
		if _, err := transfer.Export(t.Context(), s, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
	})
}
