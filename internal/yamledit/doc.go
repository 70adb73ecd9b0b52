package yamledit

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/precis-dev/precis/internal/strictyaml"
)

// doc is a document with the positions of its values.
type doc struct {
	data  []byte   // of the file
	text  string   // without byte order mark and carriage returns, as parsed
	lines []int    // offsets of line starts in text
	cut   []int    // offsets in text of line ends that had a carriage return
	skip  int      // length of the byte order mark in bytes
	root  ast.Node // nil: the document is empty except for comments
}

// read parses a document.
func read(data []byte) (*doc, error) {
	root, err := strictyaml.ParseOwn(data)
	if err != nil {
		return nil, err
	}
	text := strictyaml.Normal(data)
	d := &doc{data: data, text: string(text), lines: []int{0}, root: root}
	if bytes.HasPrefix(data, []byte(strictyaml.Mark)) {
		d.skip = len(strictyaml.Mark)
	}
	if strings.Contains(d.text, "\r") {
		return nil, errors.New("a carriage return stands within a line")
	}
	at := d.skip
	for i := range len(d.text) {
		if data[at] == '\r' {
			d.cut = append(d.cut, i)
			at++
		}
		if d.text[i] == '\n' {
			d.lines = append(d.lines, i+1)
		}
		at++
	}
	return d, nil
}

// original returns the position in the file of an offset in text. For a line end, it is before the
// carriage return.
func (d *doc) original(at int) int {
	return d.skip + at + sort.SearchInts(d.cut, at)
}

// offset returns the offset of a token. Columns count characters.
func (d *doc) offset(t *token.Token) (int, error) {
	if t == nil || t.Position == nil || t.Position.Line < 1 || t.Position.Line > len(d.lines) {
		return 0, ErrLayout
	}
	at := d.lines[t.Position.Line-1]
	for n := t.Position.Column - 1; n > 0; n-- {
		if at >= len(d.text) || d.text[at] == '\n' {
			return 0, ErrLayout
		}
		at++
		for at < len(d.text) && d.text[at]&0xC0 == 0x80 {
			at++
		}
	}
	return at, nil
}

func (d *doc) lineStart(at int) int { return strings.LastIndexByte(d.text[:at], '\n') + 1 }

func (d *doc) lineEnd(at int) int {
	if i := strings.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(d.text)
}

// indent returns the indentation of the key of an entry.
func (d *doc) indent(e *ast.MappingValueNode) int { return e.Key.GetToken().Position.Column - 1 }

// step returns the additional indentation of nested mappings in the document.
func (d *doc) step() int {
	if root, ok := d.root.(mapping); ok {
		at := place{in: root}
		for _, e := range at.entries() {
			inner, ok := e.Value.(mapping)
			if !ok {
				continue
			}
			if sub := (place{in: inner}); sub.flow() == nil && len(sub.entries()) > 0 {
				if n := d.indent(sub.entries()[0]) - d.indent(e); n > 0 {
					return n
				}
			}
		}
	}
	return 2
}

// span returns the range of a scalar, an alias or a list in brackets.
func (d *doc) span(n ast.Node) (from, to int, err error) {
	t := n.GetToken()
	if from, err = d.offset(t); err != nil {
		return 0, 0, err
	}
	rest := d.text[from:]
	switch n := n.(type) {
	case *ast.SequenceNode:
		to, err = d.offset(n.End)
		return from, to + 1, err
	case *ast.AliasNode:
		return from, from + len("*") + len(n.Value.GetToken().Value), nil
	case *ast.LiteralNode, *ast.TagNode:
		return 0, 0, ErrLayout
	}
	switch t.Type {
	case token.DoubleQuoteType, token.SingleQuoteType:
		n := quoted(rest)
		if n < 0 {
			return 0, 0, ErrLayout
		}
		return from, from + n, nil
	}
	if t.Value == "" || !strings.HasPrefix(rest, t.Value) || strings.Contains(t.Value, "\n") {
		return 0, 0, ErrLayout
	}
	return from, from + len(t.Value), nil
}

// quoted returns the length of the quoted scalar at the beginning of a text; -1 without one.
func quoted(s string) int {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return -1
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[0] == '"' && s[i] == '\\':
			i++
		case s[0] == '\'' && strings.HasPrefix(s[i:], "''"):
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return -1
}

// absent reports whether a key has no value, not even null.
func (d *doc) absent(n ast.Node) bool {
	if _, ok := n.(*ast.NullNode); !ok {
		return false
	}
	_, _, err := d.span(n)
	return err != nil
}

// end returns the end of a key with its value.
func (d *doc) end(e *ast.MappingValueNode) (int, error) {
	if d.absent(e.Value) {
		colon, err := d.offset(e.GetToken())
		return colon + 1, err
	}
	return d.endOf(e.Value, d.indent(e))
}

// endOf returns the end of the value of a key with the given indentation.
func (d *doc) endOf(n ast.Node, indent int) (int, error) {
	switch n := n.(type) {
	case *ast.AnchorNode:
		return d.endOf(n.Value, indent)
	case *ast.TagNode:
		return d.endOf(n.Value, indent)
	case mapping:
		at := place{in: n}
		if f := at.flow(); f != nil {
			to, err := d.offset(f.End)
			return to + 1, err
		}
		entries := at.entries()
		return d.end(entries[len(entries)-1])
	case *ast.SequenceNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return d.endOf(n.Values[len(n.Values)-1], indent)
		}
	case *ast.LiteralNode:
		_, to, err := d.literal(n, indent)
		return to, err
	}
	_, to, err := d.span(n)
	if errors.Is(err, ErrLayout) && n.Type() == ast.StringType { // a plain text of several lines
		var from int
		if from, err = d.offset(n.GetToken()); err == nil {
			to = d.continued(from, indent)
		}
	}
	return to, err
}

// continued returns the end of the lines after an offset that are indented further than a key.
func (d *doc) continued(from, indent int) int {
	end := d.lineEnd(from)
	for at := end; at < len(d.text); {
		to := d.lineEnd(at + 1)
		line := d.text[at+1 : to]
		rest := strings.TrimLeft(line, " ")
		if strings.TrimSpace(rest) != "" {
			if len(line)-len(rest) <= indent {
				break
			}
			end = to
		}
		at = to
	}
	return end
}

// literal returns the range of a block scalar, from its indicator to the end of its last line; its
// key has the given indentation. A comment below with less indentation than the lines does not
// belong to it.
func (d *doc) literal(n *ast.LiteralNode, indent int) (from, to int, err error) {
	if from, err = d.offset(n.Start); err != nil {
		return 0, 0, err
	}
	to = d.lineEnd(from)
	mark, _, _ := strings.Cut(d.text[from:to], "#")
	least := 0 // indentation of its lines; 0: not known yet
	if i := strings.IndexAny(mark, "123456789"); i >= 0 {
		least = indent + int(mark[i]-'0')
	}
	for at := to; at < len(d.text); {
		end := d.lineEnd(at + 1)
		line := d.text[at+1 : end]
		in := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) != "" {
			if least == 0 && in > indent {
				least = in
			}
			if least == 0 || in < least {
				break
			}
			to = end
		}
		at = end
	}
	return from, to, nil
}

// mapping is a mapping, in flow or block style.
type mapping = ast.MapNode

// place is a mapping of a document; in is nil for an empty document.
type place struct {
	in mapping
	of *ast.MappingValueNode // the entry with this mapping as its value; nil: the root
}

// entries returns the entries of the mapping.
func (p place) entries() []*ast.MappingValueNode {
	switch m := p.in.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// flow returns the mapping if it is in flow style, else nil.
func (p place) flow() *ast.MappingNode {
	if m, ok := p.in.(*ast.MappingNode); ok && m.IsFlowStyle {
		return m
	}
	return nil
}

// find returns the entry with a name; nil if it does not exist.
func (p place) find(name string) *ast.MappingValueNode {
	for _, e := range p.entries() {
		if textOf(e.Key) == name {
			return e
		}
	}
	return nil
}

// textOf returns the text of a scalar in the file, without quotes.
func textOf(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	if n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}

// tree is the content of a document, independent of its layout.
type tree struct {
	kind string // of the node; "scalar" for every kind of scalar
	text string // of a scalar
	keys []string
	subs []*tree // of the keys, or the items of a list
}

func treeOf(n ast.Node) *tree {
	switch n := n.(type) {
	case nil:
		return &tree{kind: "mapping"}
	case *ast.AnchorNode:
		return &tree{kind: "anchor", text: textOf(n.Name), subs: []*tree{treeOf(n.Value)}}
	case *ast.AliasNode:
		return &tree{kind: "alias", text: textOf(n.Value)}
	case *ast.TagNode:
		return &tree{kind: "tag", text: n.GetToken().Value, subs: []*tree{treeOf(n.Value)}}
	case mapping:
		t := &tree{kind: "mapping"}
		for _, e := range (place{in: n}).entries() {
			t.keys, t.subs = append(t.keys, textOf(e.Key)), append(t.subs, treeOf(e.Value))
		}
		return t
	case *ast.SequenceNode:
		t := &tree{kind: "list"}
		for _, v := range n.Values {
			t.subs = append(t.subs, treeOf(v))
		}
		return t
	case *ast.LiteralNode:
		return &tree{kind: "scalar", text: n.Value.Value}
	case *ast.NullNode:
		return &tree{kind: "null"}
	}
	return &tree{kind: "scalar", text: textOf(n)}
}

// with returns the tree with the value at a path set or, with nil, removed.
func (t *tree) with(v *Value, path []string) *tree {
	out := &tree{kind: t.kind, text: t.text, keys: slices.Clone(t.keys), subs: slices.Clone(t.subs)}
	i := slices.Index(out.keys, path[0])
	switch {
	case i < 0 && v == nil:
	case i < 0 && len(path) > 1:
		out.keys, out.subs = append(out.keys, path[0]), append(out.subs,
			(&tree{kind: "mapping"}).with(v, path[1:]))
	case i < 0:
		out.keys, out.subs = append(out.keys, path[0]), append(out.subs, v.tree())
	case len(path) > 1:
		out.subs[i] = out.subs[i].with(v, path[1:])
	case v == nil:
		out.keys, out.subs = slices.Delete(out.keys, i, i+1), slices.Delete(out.subs, i, i+1)
	case out.subs[i].kind == "anchor":
		out.subs[i] = &tree{kind: "anchor", text: out.subs[i].text, subs: []*tree{v.tree()}}
	default:
		out.subs[i] = v.tree()
	}
	return out
}

func (v *Value) tree() *tree {
	if !v.isList {
		return &tree{kind: "scalar", text: v.text}
	}
	t := &tree{kind: "list"}
	for _, s := range v.items {
		t.subs = append(t.subs, &tree{kind: "scalar", text: s})
	}
	return t
}

func (t *tree) equal(o *tree) bool {
	return t.kind == o.kind && t.text == o.text && slices.Equal(t.keys, o.keys) && slices.EqualFunc(t.subs,
		o.subs, (*tree).equal)
}
