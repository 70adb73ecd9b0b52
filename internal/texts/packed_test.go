package texts

import (
	"testing"

	"github.com/precis-dev/precis/internal/packed"
	"github.com/precis-dev/precis/internal/packed/packedtest"
)

// TestSentencesArePacked: the program holds sentences.json as it is in the folder.
func TestSentencesArePacked(t *testing.T) {
	got, err := packed.Text(sentencesFile)
	packedtest.Check(t, "sentences.json", got, err)
}
