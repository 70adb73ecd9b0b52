//go:build cgo && treesitter

package treesitter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	ts "github.com/tree-sitter/go-tree-sitter"

	"github.com/precis-dev/precis/outline"
)

// withBody accepts a node as a definition only if it has a body: "struct x" alone is a use of the
// type.
func withBody(s shape) func(*walker, *ts.Node) shape {
	return func(_ *walker, n *ts.Node) shape {
		if n.ChildByFieldName("body") == nil {
			return shape{}
		}
		return s
	}
}

func goType(_ *walker, n *ts.Node) shape {
	if t := n.ChildByFieldName("type"); t != nil {
		switch t.Kind() {
		case "interface_type":
			return nest(outline.Interface)
		case "struct_type":
			return leaf(outline.Struct)
		}
	}
	return leaf(outline.Type)
}

// cDeclaration is a prototype, or declares variables, possibly with the definition of their type.
func cDeclaration(_ *walker, n *ts.Node) shape {
	if isFunction(n.ChildByFieldName("declarator")) {
		return leaf(outline.Function)
	}
	if t := n.ChildByFieldName("type"); t != nil && t.ChildByFieldName("body") != nil {
		return shape{open: true}
	}
	return shape{}
}

func kotlinClass(w *walker, n *ts.Node) shape {
	for i := uint(0); i < min(n.ChildCount(), 20); i++ {
		switch c := n.Child(i); c.Kind() {
		case "modifiers":
			if strings.Contains(" "+w.words(c)+" ", " enum ") {
				return nest(outline.Enum)
			}
		case "interface":
			return nest(outline.Interface)
		case "class_body", "enum_class_body":
			return nest(outline.Class)
		}
	}
	return nest(outline.Class)
}

// luaAssignment uses the first assigned value.
func luaAssignment(_ *walker, n *ts.Node) shape {
	if n.NamedChildCount() < 2 || n.NamedChild(1).NamedChildCount() == 0 {
		return shape{}
	}
	return valueShape(n.NamedChild(1).NamedChild(0))
}

// assigned uses the value in a field of the node.
func assigned(name string) func(*walker, *ts.Node) shape {
	return func(_ *walker, n *ts.Node) shape { return valueShape(n.ChildByFieldName(name)) }
}

// member is "name: value" of an object. The get and set of a property descriptor are not
// definitions.
func member(w *walker, n *ts.Node) shape {
	switch w.words(n.ChildByFieldName("key")) {
	case "get", "set":
		return shape{}
	}
	return valueShape(n.ChildByFieldName("value"))
}

// valueShape returns the shape of an assigned value: functions are definitions, objects and classes
// are entered.
func valueShape(value *ts.Node) shape {
	if value == nil {
		return shape{}
	}
	switch value.Kind() {
	case "arrow_function", "function_expression", "generator_function", "function_definition":
		return leaf(outline.Function)
	case "object", "class", "as_expression", "satisfies_expression", "table_constructor":
		return shape{open: true}
	}
	return shape{}
}

// field handles a class field: a method if it contains a function.
func field(_ *walker, n *ts.Node) shape {
	if s := valueShape(n.ChildByFieldName("value")); s.kind != "" {
		return leaf(outline.Method)
	}
	return shape{}
}

// declarator is "name = value" of a const, let or var. A capitalized name with the result of a call
// that takes a function is a component.
func declarator(w *walker, n *ts.Node) shape {
	value := n.ChildByFieldName("value")
	if value == nil || value.Kind() != "call_expression" {
		return valueShape(value)
	}
	first, _ := utf8.DecodeRuneInString(w.words(n.ChildByFieldName("name")))
	args := value.ChildByFieldName("arguments")
	if !unicode.IsUpper(first) || args == nil {
		return shape{}
	}
	for i := uint(0); i < min(args.NamedChildCount(), 10); i++ {
		if valueShape(args.NamedChild(i)).kind == outline.Function {
			return leaf(outline.Function)
		}
	}
	return shape{}
}
