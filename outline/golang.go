package outline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Limits for Go's own parser: it is recursive, and a syntax tree takes up to 130 times the memory
// of its source.
const (
	mostBrackets = 1000 // maximal nesting of brackets
	mostGo       = 128 << 10
)

// goParser reads Go by the standard library's parser, and no other language. It reports a file with
// errors as not read, so that it is read by lines.
type goParser struct{}

// Parse returns the definitions of a Go source.
func (goParser) Parse(language, source string) (defs []Definition, doubts []Doubt, ok bool) {
	if language != "go" || len(source) > mostGo || nesting(source) > mostBrackets {
		return nil, nil, false
	}
	files := token.NewFileSet()
	if !strings.Contains(source, "package ") {
		source = "package p;" + source
	}
	f, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil || f == nil {
		return nil, nil, false
	}
	line := func(p token.Pos) int { return files.PositionFor(p, false).Line }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			kind := Function
			if d.Recv != nil {
				kind = Method
			}
			defs = append(defs, Definition{Name: d.Name.Name, Kind: kind, Start: line(d.Pos()),
				End: line(d.End() - 1)})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					defs = append(defs, goType(s, line)...)
				}
			}
		}
	}
	return defs, nil, true
}

// goType returns the definition of a type and, for an interface, of its methods.
func goType(s *ast.TypeSpec, line func(token.Pos) int) []Definition {
	d := Definition{Name: s.Name.Name, Kind: Type, Start: line(s.Pos()), End: line(s.End() - 1)}
	switch t := s.Type.(type) {
	case *ast.StructType:
		d.Kind = Struct
	case *ast.InterfaceType:
		d.Kind = Interface
		out := []Definition{d}
		for _, m := range t.Methods.List {
			if _, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
				out = append(out, Definition{Name: m.Names[0].Name, Kind: Method, Start: line(m.Pos()),
					End: line(m.End() - 1), Depth: 1})
			}
		}
		return out
	}
	return []Definition{d}
}

// nesting returns an upper bound for the nesting depth of brackets; it also counts brackets in
// strings and comments.
func nesting(content string) int {
	depth, most := 0, 0
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '(', '[', '{':
			depth++
			most = max(most, depth)
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}
