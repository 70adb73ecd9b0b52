//go:build cgo && treesitter

package treesitter

import (
	"time"

	ts "github.com/tree-sitter/go-tree-sitter"

	"github.com/precis-dev/precis/outline"
)

const (
	parseTime = 200 * time.Millisecond
	// chunkSize is the amount of text passed to the parser at a time. The binding copies a chunk
	// for each request of the parser and keeps all copies until the end: with whole files, a few
	// kilobytes of unclosed comments cost gigabytes.
	chunkSize = 8 << 10
	mostNodes = 300_000 // visited in one tree
	mostDepth = 200     // of visited nodes
)

// Parser is an [outline.Parser] for sixteen languages.
type Parser struct{}

// Parse reads the definitions of a file. It gives up after 200 milliseconds and on content known to
// harm a grammar. Other content may still crash the process or take gigabytes.
func (Parser) Parse(language, source string) (defs []outline.Definition, doubts []outline.Doubt, ok bool) {
	g := grammarOf(language, source)
	if g == nil {
		return nil, nil, false
	}
	content, safe := harmless(language, source)
	if !safe {
		return nil, nil, false
	}
	parser := ts.NewParser()
	defer parser.Close()
	if err := parser.SetLanguage(ts.NewLanguage(g)); err != nil {
		return nil, nil, false
	}
	//lint:ignore SA1019 a progress callback, its successor, leaks in the binding (v0.25.0): what it saves for C is never released
	parser.SetTimeoutMicros(uint64(parseTime.Microseconds()))
	tree := parser.ParseWithOptions(chunks(content), nil, nil)
	if tree == nil {
		return nil, nil, false
	}
	defer tree.Close()
	w := newWalker(language, source, tree)
	defer w.cursor.Close()
	w.children(place{})
	return w.defs, w.doubts, true
}

func chunks(content string) func(int, ts.Point) []byte {
	data := []byte(content)
	return func(i int, _ ts.Point) []byte {
		if i >= len(data) {
			return nil
		}
		return data[i:min(i+chunkSize, len(data))]
	}
}
