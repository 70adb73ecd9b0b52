//go:build !(cgo && treesitter)

package treesitter

import "precis/outline"

// Available reports whether this build has the grammars.
const Available = false

// Parser is an [outline.Parser] that reads nothing.
type Parser struct{}

// Parse reports that it read nothing.
func (Parser) Parse(string, string) ([]outline.Definition, []outline.Doubt, bool) {
	return nil, nil, false
}
