//go:build cgo

package outline

import (
	"maps"

	treesitter "github.com/tree-sitter/go-tree-sitter"
)

// shape says what a kind of syntax node means. Nodes without one are neither
// listed nor entered.
type shape struct {
	kind  string // of the definition; "" when it is none
	open  bool   // definitions inside are looked for
	judge func(w *walker, n *treesitter.Node) shape
}

// through are the nodes that only hold others.
func through(kinds ...string) map[string]shape {
	out := map[string]shape{}
	for _, k := range kinds {
		out[k] = shape{open: true}
	}
	return out
}

// table joins the nodes that only hold others with the definitions.
func table(holders map[string]shape, defs map[string]shape) map[string]shape {
	maps.Copy(holders, defs)
	return holders
}

func leaf(kind string) shape { return shape{kind: kind} }
func nest(kind string) shape { return shape{kind: kind, open: true} }

func judged(f func(w *walker, n *treesitter.Node) shape) shape { return shape{judge: f} }

// shapesOf is the table of all grammars: which nodes define something, and
// which are entered.
var shapesOf = map[string]map[string]shape{
	"go": table(through("type_declaration", "interface_type"), map[string]shape{
		"function_declaration": leaf(Function),
		"method_declaration":   leaf(Method),
		"method_elem":          leaf(Method),
		"type_spec":            judged(goType),
		"type_alias":           leaf(Type),
	}),
	"python": table(through("decorated_definition", "block", "if_statement", "elif_clause", "else_clause", "try_statement",
		"except_clause", "finally_clause", "with_statement", "for_statement", "while_statement"), map[string]shape{
		"function_definition":  leaf(Function),
		"class_definition":     nest(Class),
		"type_alias_statement": leaf(Type),
	}),
	"typescript": scriptShapes(), "tsx": scriptShapes(), "javascript": scriptShapes(),
	"rust": table(through("declaration_list", "foreign_mod_item"), map[string]shape{
		"function_item": leaf(Function), "function_signature_item": leaf(Function),
		"struct_item": leaf(Struct), "union_item": leaf(Struct), "enum_item": leaf(Enum),
		"trait_item": nest(Trait), "impl_item": nest(Impl), "mod_item": judged(withBody(nest(Module))),
		"macro_definition": leaf(Macro), "type_item": leaf(Type),
	}),
	"java": table(through("class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"), map[string]shape{
		"class_declaration": nest(Class), "record_declaration": nest(Class), "enum_declaration": nest(Enum),
		"interface_declaration": nest(Interface), "annotation_type_declaration": nest(Interface),
		"method_declaration": leaf(Method), "constructor_declaration": leaf(Method), "compact_constructor_declaration": leaf(Method),
		"annotation_type_element_declaration": leaf(Method),
		"module_declaration":                  leaf(Module),
	}),
	"c": cShapes(),
	"cpp": table(cShapes(), map[string]shape{
		"field_declaration_list": {open: true}, "template_declaration": {open: true},
		"class_specifier": judged(withBody(nest(Class))), "struct_specifier": judged(withBody(nest(Struct))),
		"namespace_definition": nest(Module), "alias_declaration": leaf(Type), "concept_definition": leaf(Type),
		"field_declaration": judged(cDeclaration),
	}),
	"csharp": table(through("declaration_list", "global_statement", "preproc_if", "preproc_else", "preproc_elif"), map[string]shape{
		"namespace_declaration": nest(Module), "file_scoped_namespace_declaration": nest(Module),
		"class_declaration": nest(Class), "record_declaration": nest(Class), "struct_declaration": nest(Struct),
		"interface_declaration": nest(Interface), "enum_declaration": leaf(Enum), "delegate_declaration": leaf(Type),
		"method_declaration": leaf(Method), "constructor_declaration": leaf(Method), "destructor_declaration": leaf(Method),
		"operator_declaration": leaf(Method), "conversion_operator_declaration": leaf(Method), "indexer_declaration": leaf(Method),
		"local_function_statement": leaf(Function),
	}),
	"ruby": table(through("body_statement", "call", "argument_list", "do_block", "block", "block_body", "assignment", "if", "unless", "then", "else", "begin", "rescue"), map[string]shape{
		"class": nest(Class), "singleton_class": nest(Class), "module": nest(Module),
		"method": leaf(Function), "singleton_method": leaf(Method),
	}),
	"php": table(through("declaration_list", "enum_declaration_list", "compound_statement", "colon_block", "if_statement", "else_clause",
		"return_statement", "object_creation_expression"), map[string]shape{
		"namespace_definition": nest(Module), "class_declaration": nest(Class), "anonymous_class": nest(Class),
		"interface_declaration": nest(Interface), "trait_declaration": nest(Trait), "enum_declaration": nest(Enum),
		"method_declaration": leaf(Method), "function_definition": leaf(Function),
	}),
	"bash": table(through("if_statement", "else_clause", "elif_clause", "list"), map[string]shape{
		"function_definition": leaf(Function),
	}),
	"kotlin": table(through("class_body", "enum_class_body"), map[string]shape{
		"class_declaration": judged(kotlinClass), "object_declaration": nest(Class), "companion_object": nest(Class),
		"function_declaration": leaf(Function), "secondary_constructor": leaf(Method), "type_alias": leaf(Type),
	}),
	"scala": table(through("template_body", "enum_body", "extension_definition", "package_clause", "with_template_body"), map[string]shape{
		"class_definition": nest(Class), "object_definition": nest(Class), "package_object": nest(Module),
		"trait_definition": nest(Trait), "enum_definition": nest(Enum), "given_definition": nest(Impl),
		"function_definition": leaf(Function), "function_declaration": leaf(Function), "type_definition": leaf(Type),
	}),
	"lua": table(through("variable_declaration", "expression_list", "table_constructor", "do_statement", "block", "if_statement"), map[string]shape{
		"function_declaration": leaf(Function),
		"assignment_statement": judged(luaAssignment),
		"field":                judged(assigned("value")),
	}),
}

func cShapes() map[string]shape {
	return table(through("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification", "declaration_list"), map[string]shape{
		"function_definition": leaf(Function), "declaration": judged(cDeclaration),
		"struct_specifier": judged(withBody(leaf(Struct))), "union_specifier": judged(withBody(leaf(Struct))),
		"enum_specifier": judged(withBody(leaf(Enum))), "type_definition": leaf(Type),
		"preproc_function_def": leaf(Macro),
	})
}

func scriptShapes() map[string]shape {
	return table(through("export_statement", "ambient_declaration", "statement_block", "if_statement", "else_clause", "try_statement",
		"lexical_declaration", "variable_declaration", "expression_statement", "call_expression", "parenthesized_expression", "arguments",
		"unary_expression", "function_expression", "arrow_function", "class_body", "interface_body", "object", "as_expression", "satisfies_expression"),
		map[string]shape{
			"function_declaration": leaf(Function), "generator_function_declaration": leaf(Function), "function_signature": leaf(Function),
			"class_declaration": nest(Class), "abstract_class_declaration": nest(Class), "class": nest(Class),
			"method_definition": leaf(Method), "method_signature": leaf(Method), "abstract_method_signature": leaf(Method),
			"public_field_definition": judged(field), "field_definition": judged(field),
			"interface_declaration": nest(Interface), "type_alias_declaration": leaf(Type), "enum_declaration": leaf(Enum),
			"internal_module": nest(Module), "module": nest(Module),
			"variable_declarator": judged(declarator), "assignment_expression": judged(assigned("right")), "pair": judged(assigned("value")),
		})
}
