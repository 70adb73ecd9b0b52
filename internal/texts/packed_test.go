package texts

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"precis/internal/packed"
)

var update = flag.Bool("update", false, "pack sentences.json anew")

// TestSentencesArePacked: the program holds sentences.json as it is in the folder.
func TestSentencesArePacked(t *testing.T) {
	want, err := os.ReadFile("sentences.json")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		small, err := packed.Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("sentences.json.packed", small, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := packed.Text(sentencesFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("sentences.json has changed: go test ./internal/texts -run Packed -update; %v", err)
	}
}
