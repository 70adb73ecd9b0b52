//go:build cgo

package outline

import (
	"time"

	treesitter "github.com/tree-sitter/go-tree-sitter"
)

const (
	parseTime = 300 * time.Millisecond
	// chunkSize is how much text the parser is handed at a time. The binding
	// copies a chunk each time the parser asks and keeps all copies until the
	// end: with whole files a few kilobytes of unclosed comments cost gigabytes.
	chunkSize = 8 << 10
	mostNodes = 300_000 // visited in one tree
	mostDepth = 200     // of the nodes visited
)

// parse reads the definitions of t by tree-sitter. Doubts are the line ranges
// that the parser could not make sense of. ok is false when the language has
// no grammar, the parser was stopped, or the content could harm the parser.
func parse(language string, t *text) (defs []Definition, doubts []doubt, ok bool) {
	g := grammarOf(language, t.content)
	if g == nil {
		return nil, nil, false
	}
	content, safe := harmless(language, t.content)
	if !safe {
		return nil, nil, false
	}
	parser := treesitter.NewParser()
	defer parser.Close()
	if err := parser.SetLanguage(treesitter.NewLanguage(g)); err != nil {
		return nil, nil, false
	}
	//lint:ignore SA1019 a progress callback, its successor, leaks in the binding (v0.25.0): what it saves for C is never released
	parser.SetTimeoutMicros(uint64(parseTime.Microseconds()))
	tree := parser.ParseWithOptions(chunks(content), nil, nil)
	if tree == nil {
		return nil, nil, false
	}
	defer tree.Close()
	w := newWalker(language, t, tree)
	defer w.cursor.Close()
	w.children(place{})
	return w.defs, w.doubts, true
}

func chunks(content string) func(int, treesitter.Point) []byte {
	data := []byte(content)
	return func(i int, _ treesitter.Point) []byte {
		if i >= len(data) {
			return nil
		}
		return data[i:min(i+chunkSize, len(data))]
	}
}
