package control

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"precis/internal/packed"
)

var update = flag.Bool("update", false, "pack openapi.json anew")

// TestOpenAPIIsPacked: the program holds openapi.json as it is in the folder.
func TestOpenAPIIsPacked(t *testing.T) {
	want, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		small, err := packed.Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("openapi.json.packed", small, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := readOpenAPI(); err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json has changed: go test ./gateway/control -run Packed -update; %v", err)
	}
}
