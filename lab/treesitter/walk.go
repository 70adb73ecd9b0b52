//go:build cgo && treesitter

package treesitter

import (
	"strings"

	ts "github.com/tree-sitter/go-tree-sitter"

	"github.com/precis-dev/precis/outline"
)

// walker collects the definitions of one syntax tree.
type walker struct {
	content string
	lang    string
	shapes  map[string]shape
	cursor  *ts.TreeCursor
	broken  bool // the tree has errors
	visits  int
	defs    []outline.Definition
	doubts  []outline.Doubt
}

// place is the position of the walker in the tree.
type place struct {
	nodes int    // depth of the node
	depth int    // number of enclosing definitions
	kind  string // of the innermost one
}

func newWalker(language, content string, tree *ts.Tree) *walker {
	root := tree.RootNode()
	return &walker{content: content, lang: language, shapes: shapesOf[language], cursor: tree.Walk(),
		broken: root.HasError()}
}

// children visits the children of the cursor's node.
func (w *walker) children(p place) {
	p.nodes++
	if p.nodes > mostDepth || !w.cursor.GotoFirstChild() {
		return
	}
	for {
		w.visit(w.cursor.Node(), p)
		if w.visits++; w.visits > mostNodes || len(w.defs) > outline.MaxDefinitions ||
			!w.cursor.GotoNextSibling() {
			break
		}
	}
	w.cursor.GotoParent()
}

func (w *walker) visit(n *ts.Node, p place) {
	s, known := w.shapes[n.Kind()]
	if known && !n.IsNamed() { // a keyword with the same name as its node
		known = false
	}
	if known && s.judge != nil {
		s = s.judge(w, n)
	}
	faulty := w.broken && n.HasError()
	switch {
	case n.IsError():
		w.doubt(n, -1)
		w.children(p)
	case !known, s.kind == "" && !s.open:
		if faulty || n.IsMissing() {
			w.doubt(n, -1)
		}
	case s.kind == "":
		w.children(p)
	default:
		w.define(n, s, p, faulty)
	}
}

// define records a definition and searches inside it if it may contain others.
func (w *walker) define(n *ts.Node, s shape, p place, faulty bool) {
	d := outline.Definition{Name: w.name(n), Kind: s.kind, Start: w.signature(n), End: w.lastLine(n),
		Depth: p.depth}
	if d.Kind == outline.Function && holdsMethods(p.kind) ||
		d.Kind == outline.Function && strings.Contains(d.Name, "::") {
		d.Kind = outline.Method
	}
	w.defs = append(w.defs, d)
	if !s.open {
		if faulty {
			w.doubt(n, len(w.defs)-1)
		}
		return
	}
	w.children(place{nodes: p.nodes, depth: p.depth + 1, kind: d.Kind})
}

func (w *walker) doubt(n *ts.Node, def int) {
	if len(w.doubts) < outline.MaxDefinitions {
		w.doubts = append(w.doubts, outline.Doubt{Start: int(n.StartPosition().Row) + 1, End: lastLine(n),
			Def: def})
	}
}

// holdsMethods reports whether functions inside a definition of this kind are methods.
func holdsMethods(kind string) bool {
	switch kind {
	case outline.Class, outline.Struct, outline.Interface, outline.Trait, outline.Impl, outline.Enum:
		return true
	}
	return false
}

// lastLine returns the last line of a definition. In the grammar of Scala, a definition without
// braces extends to the next one, including comments between them.
func (w *walker) lastLine(n *ts.Node) int {
	for range 50 {
		if w.lang != "scala" {
			break
		}
		i := n.ChildCount()
		for i > 0 && standsBefore(n.Child(i-1).Kind()) {
			i--
		}
		if i == 0 {
			break
		}
		n = n.Child(i - 1)
	}
	return lastLine(n)
}

func lastLine(n *ts.Node) int {
	end := n.EndPosition()
	if end.Column == 0 && end.Row > n.StartPosition().Row {
		return int(end.Row)
	}
	return int(end.Row) + 1
}

// signature returns the line of the first word of a definition that is not a decorator, an
// annotation or a comment.
func (w *walker) signature(n *ts.Node) int {
	for range 4 {
		first := firstOwn(n)
		if first == nil {
			break
		}
		if n = first; n.Kind() != "modifiers" {
			break
		}
	}
	return int(n.StartPosition().Row) + 1
}

// firstOwn returns the first child that belongs to the signature.
func firstOwn(n *ts.Node) *ts.Node {
	for i := uint(0); i < min(n.ChildCount(), 100); i++ {
		if c := n.Child(i); !standsBefore(c.Kind()) && !allBefore(c) {
			return c
		}
	}
	return nil
}

// allBefore reports whether a list of modifiers contains only nodes that precede a signature.
func allBefore(n *ts.Node) bool {
	if n.Kind() != "modifiers" || n.ChildCount() == 0 {
		return false
	}
	for i := uint(0); i < min(n.ChildCount(), 100); i++ {
		if !standsBefore(n.Child(i).Kind()) {
			return false
		}
	}
	return true
}

func standsBefore(kind string) bool {
	switch kind {
	case "decorator", "annotation", "marker_annotation", "attribute_list", "attribute_item",
		"attribute_declaration",
		"comment", "line_comment", "block_comment", "multiline_comment":
		return true
	}
	return false
}
