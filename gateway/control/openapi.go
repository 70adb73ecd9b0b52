package control

import (
	_ "embed" // openapi.json.packed
	"encoding/json"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/packed"
)

// openapiFile is openapi.json, packed: go test ./gateway/control -run Packed -update rewrites it.
//
//go:embed openapi.json.packed
var openapiFile []byte

// readOpenAPI returns the document of the API.
func readOpenAPI() (json.RawMessage, error) {
	text, err := packed.Text(openapiFile)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "unpack openapi.json", "%w", err)
	}
	return text, nil
}
