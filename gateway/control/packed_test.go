package control

import (
	"testing"

	"github.com/precis-dev/precis/internal/packed/packedtest"
)

// TestOpenAPIIsPacked: the program holds openapi.json as it is in the folder.
func TestOpenAPIIsPacked(t *testing.T) {
	got, err := readOpenAPI()
	packedtest.Check(t, "openapi.json", got, err)
}
