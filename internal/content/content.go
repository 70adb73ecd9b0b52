// Package content decodes the content format that all dialects share: a string, which counts as one
// text block, a list of blocks, or null.
package content

import (
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Decode decodes content. One decodes an element of a list; what names an element in errors, e.g.
// "block". Null, a missing value and an empty string have no blocks.
func Decode(raw []byte, what string, one func(raw []byte) (precis.Block, error)) ([]precis.Block, error) {
	switch jsonspan.Kind(raw) {
	case '"':
		s, ok := jsonspan.String(raw)
		if !ok {
			return nil, fmt.Errorf("malformed string")
		}
		if s == "" {
			return nil, nil
		}
		return []precis.Block{precis.Text{Text: s}}, nil
	case 'n', 0:
		return nil, nil
	}
	var out []precis.Block
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil, err
		}
		b, err := one(span.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, len(out), err)
		}
		out = append(out, b)
	}
	return out, nil
}
