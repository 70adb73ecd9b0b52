package config

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/precis-dev/precis/internal/strictyaml"
)

// yamlReader reads the values of a file. Dotted keys are nested mappings there.
type yamlReader struct {
	values map[string]value
	name   string
	file   bool // the file is the user's, or the named one
	folder bool // the file is in the current folder and not trusted

	prefix string // of the names of values: the arm of an experiment; "": none
}

func (r yamlReader) read(data []byte) error {
	parse := strictyaml.ParseOwn // prompts are long
	if r.folder {
		parse = strictyaml.Parse
	}
	body, err := parse(data)
	if err != nil {
		return strictyaml.Place(r.name, err)
	}
	if body == nil {
		return nil
	}
	if err := strictyaml.Each(body, r.fields("")); err != nil {
		return strictyaml.Place(r.name, err)
	}
	return nil
}

// fields returns the table of the mapping with keys that begin with prefix.
func (r yamlReader) fields(prefix string) strictyaml.Fields {
	table := strictyaml.Fields{}
	for _, k := range every() {
		rest, ok := strings.CutPrefix(k.name, prefix)
		if !ok {
			continue
		}
		if group, _, nested := strings.Cut(rest, "."); nested {
			table[group] = func(n ast.Node) error { return strictyaml.Each(n, r.fields(prefix+group+".")) }
			continue
		}
		table[rest] = func(n ast.Node) error { return r.scalar(k, n) }
	}
	if prefix == "" {
		table["profiles"] = r.profiles
		table["experiments"] = r.experiments
	}
	return table
}

func (r yamlReader) put(name string, n ast.Node, text string) {
	r.values[r.prefix+name] = value{text: text, origin: fmt.Sprintf("%s:%d", r.name, strictyaml.Line(n)),
		file: r.file, folder: r.folder}
}

func (r yamlReader) scalar(k key, n ast.Node) error {
	if r.folder && !folderKeys[k.name] && !k.gone {
		return &strictyaml.Error{Line: strictyaml.Line(n), Key: k.name, Err: ErrRefused}
	}
	if r.prefix != "" && !ofArms(k.name) {
		return &strictyaml.Error{Line: strictyaml.Line(n), Key: k.name, Err: errArm}
	}
	if k.list {
		var list []string
		if err := strictyaml.Texts(&list)(n); err != nil {
			return err
		}
		r.put(k.name, n, strings.Join(list, ","))
		return nil
	}
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		r.put(k.name, n, scalarText(n))
		return nil
	case *ast.LiteralNode:
		if k.lines {
			r.put(k.name, n, scalarText(n))
			return nil
		}
	}
	return strictyaml.WrongType("a single value", n)
}

// profiles reads the thresholds by profile or model name.
func (r yamlReader) profiles(n ast.Node) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return strictyaml.WrongType("a mapping of names to percentages", n)
	}
	for it := m.MapRange(); it.Next(); {
		switch v := it.Value().(type) {
		case *ast.IntegerNode, *ast.FloatNode:
			r.put(profilePrefix+scalarText(it.Key()), v, scalarText(v))
		default:
			return strictyaml.WrongType("a percentage", v)
		}
	}
	return nil
}

func scalarText(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}
