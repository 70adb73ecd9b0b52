//go:build cgo && treesitter

package treesitter

import (
	"strings"

	ts "github.com/tree-sitter/go-tree-sitter"

	"github.com/precis-dev/precis/outline"
)

// name returns the name of a definition. Most grammars call the field "name"; C calls it
// "declarator", and assignments "left" or "key".
func (w *walker) name(n *ts.Node) string {
	switch n.Kind() {
	case "impl_item":
		return w.implName(n)
	case "singleton_class":
		return w.words(n.ChildByFieldName("value"))
	case "companion_object":
		if name := w.words(n.ChildByFieldName("name")); name != "" {
			return name
		}
		return "companion"
	case "type_alias": // of Kotlin; Go's has a name
		if n.ChildByFieldName("name") == nil {
			return w.words(n.ChildByFieldName("type"))
		}
	case "secondary_constructor":
		return "constructor"
	case "destructor_declaration":
		return "~" + w.words(n.ChildByFieldName("name"))
	case "operator_declaration":
		return "operator " + w.words(n.ChildByFieldName("operator"))
	case "assignment_statement": // of Lua
		if n.NamedChildCount() > 0 {
			return w.words(n.NamedChild(0))
		}
	}
	for _, field := range []string{"name", "property", "left", "key"} {
		if c := n.ChildByFieldName(field); c != nil {
			return w.words(c)
		}
	}
	if d := n.ChildByFieldName("declarator"); d != nil {
		return w.words(declared(d))
	}
	if p := n.Parent(); p != nil && p.Kind() == "variable_declarator" {
		return w.words(p.ChildByFieldName("name"))
	}
	return ""
}

// implName is "Trait for Type" or "Type".
func (w *walker) implName(n *ts.Node) string {
	of := w.words(n.ChildByFieldName("type"))
	if trait := w.words(n.ChildByFieldName("trait")); trait != "" {
		return trait + " for " + of
	}
	return of
}

// declared follows a C declarator to the name.
func declared(n *ts.Node) *ts.Node {
	for range 20 {
		c := n.ChildByFieldName("declarator")
		if c == nil && (n.Kind() == "parenthesized_declarator" || n.Kind() == "reference_declarator") &&
			n.NamedChildCount() > 0 {
			c = n.NamedChild(n.NamedChildCount() - 1)
		}
		if c == nil {
			return n
		}
		n = c
	}
	return n
}

// isFunction reports whether a C declarator declares a function, not a pointer
// to one.
func isFunction(n *ts.Node) bool {
	for range 20 {
		if n == nil {
			return false
		}
		switch n.Kind() {
		case "function_declarator":
			inner := n.ChildByFieldName("declarator")
			return inner != nil && inner.Kind() != "parenthesized_declarator"
		case "reference_declarator":
			if n.NamedChildCount() == 0 {
				return false
			}
			n = n.NamedChild(n.NamedChildCount() - 1)
		case "pointer_declarator":
			n = n.ChildByFieldName("declarator")
		default:
			return false
		}
	}
	return false
}

// words returns the beginning of a node's text on one line; "" for nil.
func (w *walker) words(n *ts.Node) string {
	if n == nil {
		return ""
	}
	from, to := n.ByteRange()
	size := uint(len(w.content))
	s := w.content[min(from, size):min(to, size, from+outline.MaxLine)]
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
}
