//go:build cgo && treesitter

package treesitter

import (
	"maps"

	ts "github.com/tree-sitter/go-tree-sitter"

	"github.com/precis-dev/precis/outline"
)

// shape is the meaning of a kind of syntax node. Nodes without one are neither listed nor entered.
type shape struct {
	kind  string // of the definition; "" for other nodes
	open  bool   // search for definitions inside
	judge func(w *walker, n *ts.Node) shape
}

// through are nodes that only contain others.
func through(kinds ...string) map[string]shape {
	out := map[string]shape{}
	for _, k := range kinds {
		out[k] = shape{open: true}
	}
	return out
}

// table joins the shapes of containers and definitions.
func table(holders map[string]shape, defs map[string]shape) map[string]shape {
	maps.Copy(holders, defs)
	return holders
}

func leaf(kind string) shape { return shape{kind: kind} }
func nest(kind string) shape { return shape{kind: kind, open: true} }

func judged(f func(w *walker, n *ts.Node) shape) shape { return shape{judge: f} }

// shapesOf is the table of all grammars: which nodes are definitions, and which are entered.
var shapesOf = map[string]map[string]shape{
	"go": table(through("type_declaration", "interface_type"), map[string]shape{
		"function_declaration": leaf(outline.Function),
		"method_declaration":   leaf(outline.Method),
		"method_elem":          leaf(outline.Method),
		"type_spec":            judged(goType),
		"type_alias":           leaf(outline.Type),
	}),
	"python": table(through("decorated_definition", "block", "if_statement", "elif_clause", "else_clause",
		"try_statement",
		"except_clause", "finally_clause", "with_statement", "for_statement", "while_statement"),
		map[string]shape{
			"function_definition":  leaf(outline.Function),
			"class_definition":     nest(outline.Class),
			"type_alias_statement": leaf(outline.Type),
		}),
	"typescript": scriptShapes(), "tsx": scriptShapes(), "javascript": scriptShapes(),
	"rust": table(through("declaration_list", "foreign_mod_item"), map[string]shape{
		"function_item": leaf(outline.Function), "function_signature_item": leaf(outline.Function),
		"struct_item": leaf(outline.Struct), "union_item": leaf(outline.Struct),
		"enum_item":  leaf(outline.Enum),
		"trait_item": nest(outline.Trait), "impl_item": nest(outline.Impl),
		"mod_item":         judged(withBody(nest(outline.Module))),
		"macro_definition": leaf(outline.Macro), "type_item": leaf(outline.Type),
	}),
	"java": table(through("class_body", "interface_body", "enum_body", "enum_body_declarations",
		"annotation_type_body"), map[string]shape{
		"class_declaration": nest(outline.Class), "record_declaration": nest(outline.Class),
		"enum_declaration":            nest(outline.Enum),
		"interface_declaration":       nest(outline.Interface),
		"annotation_type_declaration": nest(outline.Interface),
		"method_declaration":          leaf(outline.Method), "constructor_declaration": leaf(outline.Method),
		"compact_constructor_declaration":     leaf(outline.Method),
		"annotation_type_element_declaration": leaf(outline.Method),
		"module_declaration":                  leaf(outline.Module),
	}),
	"c": cShapes(),
	"cpp": table(cShapes(), map[string]shape{
		"field_declaration_list": {open: true}, "template_declaration": {open: true},
		"class_specifier":      judged(withBody(nest(outline.Class))),
		"struct_specifier":     judged(withBody(nest(outline.Struct))),
		"namespace_definition": nest(outline.Module), "alias_declaration": leaf(outline.Type),
		"concept_definition": leaf(outline.Type),
		"field_declaration":  judged(cDeclaration),
	}),
	"csharp": table(through("declaration_list", "global_statement", "preproc_if", "preproc_else",
		"preproc_elif"), map[string]shape{
		"namespace_declaration":             nest(outline.Module),
		"file_scoped_namespace_declaration": nest(outline.Module),
		"class_declaration":                 nest(outline.Class), "record_declaration": nest(outline.Class),
		"struct_declaration":    nest(outline.Struct),
		"interface_declaration": nest(outline.Interface), "enum_declaration": leaf(outline.Enum),
		"delegate_declaration": leaf(outline.Type),
		"method_declaration":   leaf(outline.Method), "constructor_declaration": leaf(outline.Method),
		"destructor_declaration":          leaf(outline.Method),
		"operator_declaration":            leaf(outline.Method),
		"conversion_operator_declaration": leaf(outline.Method),
		"indexer_declaration":             leaf(outline.Method),
		"local_function_statement":        leaf(outline.Function),
	}),
	"ruby": table(through("body_statement", "call", "argument_list", "do_block", "block", "block_body",
		"assignment", "if", "unless", "then", "else", "begin", "rescue"), map[string]shape{
		"class": nest(outline.Class), "singleton_class": nest(outline.Class), "module": nest(outline.Module),
		"method": leaf(outline.Function), "singleton_method": leaf(outline.Method),
	}),
	"php": table(through("declaration_list", "enum_declaration_list", "compound_statement", "colon_block",
		"if_statement", "else_clause",
		"return_statement", "object_creation_expression"), map[string]shape{
		"namespace_definition": nest(outline.Module), "class_declaration": nest(outline.Class),
		"anonymous_class":       nest(outline.Class),
		"interface_declaration": nest(outline.Interface), "trait_declaration": nest(outline.Trait),
		"enum_declaration":   nest(outline.Enum),
		"method_declaration": leaf(outline.Method), "function_definition": leaf(outline.Function),
	}),
	"bash": table(through("if_statement", "else_clause", "elif_clause", "list"), map[string]shape{
		"function_definition": leaf(outline.Function),
	}),
	"kotlin": table(through("class_body", "enum_class_body"), map[string]shape{
		"class_declaration": judged(kotlinClass), "object_declaration": nest(outline.Class),
		"companion_object":     nest(outline.Class),
		"function_declaration": leaf(outline.Function), "secondary_constructor": leaf(outline.Method),
		"type_alias": leaf(outline.Type),
	}),
	"scala": table(through("template_body", "enum_body", "extension_definition", "package_clause",
		"with_template_body"), map[string]shape{
		"class_definition": nest(outline.Class), "object_definition": nest(outline.Class),
		"package_object":   nest(outline.Module),
		"trait_definition": nest(outline.Trait), "enum_definition": nest(outline.Enum),
		"given_definition":    nest(outline.Impl),
		"function_definition": leaf(outline.Function), "function_declaration": leaf(outline.Function),
		"type_definition": leaf(outline.Type),
	}),
	"lua": table(through("variable_declaration", "expression_list", "table_constructor", "do_statement",
		"block", "if_statement"), map[string]shape{
		"function_declaration": leaf(outline.Function),
		"assignment_statement": judged(luaAssignment),
		"field":                judged(assigned("value")),
	}),
}

func cShapes() map[string]shape {
	return table(through("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef",
		"linkage_specification", "declaration_list"), map[string]shape{
		"function_definition": leaf(outline.Function), "declaration": judged(cDeclaration),
		"struct_specifier": judged(withBody(leaf(outline.Struct))),
		"union_specifier":  judged(withBody(leaf(outline.Struct))),
		"enum_specifier":   judged(withBody(leaf(outline.Enum))), "type_definition": leaf(outline.Type),
		"preproc_function_def": leaf(outline.Macro),
	})
}

func scriptShapes() map[string]shape {
	return table(through("export_statement", "ambient_declaration", "statement_block", "if_statement",
		"else_clause", "try_statement",
		"lexical_declaration", "variable_declaration", "expression_statement", "call_expression",
		"parenthesized_expression", "arguments",
		"unary_expression", "function_expression", "arrow_function", "class_body", "interface_body", "object",
		"as_expression", "satisfies_expression"),
		map[string]shape{
			"function_declaration":           leaf(outline.Function),
			"generator_function_declaration": leaf(outline.Function),
			"function_signature":             leaf(outline.Function),
			"class_declaration":              nest(outline.Class),
			"abstract_class_declaration":     nest(outline.Class),
			"class":                          nest(outline.Class),
			"method_definition":              leaf(outline.Method), "method_signature": leaf(outline.Method),
			"abstract_method_signature": leaf(outline.Method),
			"public_field_definition":   judged(field), "field_definition": judged(field),
			"interface_declaration": nest(outline.Interface), "type_alias_declaration": leaf(outline.Type),
			"enum_declaration": leaf(outline.Enum),
			"internal_module":  nest(outline.Module), "module": nest(outline.Module),
			"variable_declarator": judged(declarator), "assignment_expression": judged(assigned("right")),
			"pair": judged(member),
		})
}
