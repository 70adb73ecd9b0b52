// Package yamledit changes single values of a YAML file that a person maintains, and keeps every
// other byte: comments, order, indentation, quotes, line ends. Use [Set] and [Remove], and [Get] to
// read.
//
// A change is a splice at the position that the parser states. The result is parsed again, and
// refused unless it equals the old document with that one change. So unsupported layouts are
// errors, and never cause damage.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/precis-dev/precis/internal/strictyaml"
)

// Value is a value to set: a scalar or a list of scalars. Make one with [Text], [Lines] or [List].
type Value struct {
	text   string
	items  []string
	isList bool
	lines  bool // written as a block scalar if possible
}

// Text returns a scalar. It is written without quotes if YAML then reads the same text, so a number
// stays a number.
func Text(s string) Value { return Value{text: s} }

// Lines returns a scalar that is written as a block scalar, as people write texts of several lines.
// It is written on one line, in quotes, where that is not possible: in flow style, before a
// comment, or for characters that need escapes.
func Lines(s string) Value { return Value{text: s, lines: true} }

// List returns a list of scalars.
func List(items ...string) Value { return Value{items: items, isList: true} }

// ErrLayout is the cause of the error for a layout that cannot be changed in isolation.
var ErrLayout = errors.New("it is written in a way that cannot be changed alone; change it by hand")

// Set returns a document with the value at a path of keys set. A missing value is appended to its
// mapping, which is created if necessary. A list that replaces a list is written in brackets. The
// error concerns the document, which must have a mapping as its root, or is [ErrLayout].
func Set(data []byte, v Value, path ...string) ([]byte, error) {
	return change(data, &v, path)
}

// Found is the value at a path of keys.
type Found struct {
	There bool   // the value exists; it may be null
	Text  string // of a scalar, without quotes; "" for other values
	Empty bool   // it is an empty mapping or list
}

// Get returns the value at a path of keys. The error concerns the document.
func Get(data []byte, path ...string) (Found, error) {
	d, err := read(data)
	if err != nil {
		return Found{}, err
	}
	t := treeOf(d.root)
	for _, name := range path {
		i := slices.Index(t.keys, name)
		if i < 0 {
			return Found{}, nil
		}
		t = t.subs[i]
	}
	out := Found{There: true, Empty: (t.kind == "mapping" || t.kind == "list") && len(t.subs) == 0}
	if t.kind == "scalar" {
		out.Text = t.text
	}
	return out, nil
}

// Remove returns a document without the value at a path of keys. A mapping that loses its last key
// stays as {}. If the value does not exist, the document stays unchanged. Comments on lines of
// their own stay.
func Remove(data []byte, path ...string) ([]byte, error) {
	return change(data, nil, path)
}

// change sets or, with nil, removes a value, and checks the result.
func change(data []byte, v *Value, path []string) ([]byte, error) {
	if len(path) == 0 {
		return nil, errors.New("there is no path")
	}
	d, err := read(data)
	if err != nil {
		return nil, err
	}
	out, err := d.changed(v, path)
	if v != nil && v.lines && errors.Is(err, ErrLayout) {
		out, err = d.changed(&Value{text: v.text}, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(path, "."), err)
	}
	return out, nil
}

// changed returns the file with one value changed, if the result contains only that change.
func (d *doc) changed(v *Value, path []string) ([]byte, error) {
	want := treeOf(d.root).with(v, path)
	s, err := d.splice(v, path)
	if err != nil {
		return nil, err
	}
	out := d.apply(s)
	if after, err := read(out); err != nil || !treeOf(after.root).equal(want) {
		return nil, ErrLayout
	}
	return out, nil
}

// splice returns the splice for a change.
func (d *doc) splice(v *Value, path []string) (splice, error) {
	at := place{}
	if m, ok := d.root.(mapping); ok {
		at.in = m
	} else if d.root != nil {
		return splice{}, errors.New("the document is no mapping")
	}
	for i, name := range path {
		e := at.find(name)
		switch {
		case e == nil && v == nil:
			return splice{}, nil
		case e == nil:
			return d.add(at, path[i:], *v)
		case i == len(path)-1 && v == nil:
			return d.remove(at, e)
		case i == len(path)-1:
			return d.replace(at, e, *v)
		}
		m, ok := e.Value.(mapping)
		if !ok {
			return splice{}, fmt.Errorf("line %d: %w", strictyaml.Line(e.Key), ErrLayout)
		}
		at = place{in: m, of: e}
	}
	return splice{}, nil
}

// replace replaces the value of an existing key.
func (d *doc) replace(at place, e *ast.MappingValueNode, v Value) (splice, error) {
	old := e.Value
	written := v.flow()
	if at.flow() == nil {
		written = v.written(d.indent(e), d.step())
	}
	if a, ok := old.(*ast.AnchorNode); ok {
		old = a.Value
	}
	colon, err := d.offset(e.GetToken())
	if err != nil {
		return splice{}, err
	}
	if seq, ok := old.(*ast.SequenceNode); ok && !seq.IsFlowStyle {
		end, err := d.end(e)
		if err != nil {
			return splice{}, err
		}
		from := colon + 1
		if v.isList && e.Value == ast.Node(seq) && !strings.Contains(d.text[from:end], "#") {
			return splice{from, end, " " + written}, nil
		}
		return splice{}, ErrLayout // comments would be lost with the lines
	}
	if d.absent(old) {
		return splice{colon + 1, colon + 1, " " + written}, nil
	}
	if _, ok := old.(mapping); ok {
		return splice{}, ErrLayout
	}
	if l, ok := old.(*ast.LiteralNode); ok {
		from, to, err := d.literal(l, d.indent(e))
		if err == nil && strings.Contains(d.text[from:d.lineEnd(from)], "#") {
			err = ErrLayout // the comment would be lost with the text
		}
		return splice{from, to, written}, err
	}
	from, to, err := d.span(old)
	if err != nil {
		return splice{}, err
	}
	if strings.Contains(d.text[from:to], "\n") && strings.Contains(d.text[from:to], "#") {
		return splice{}, ErrLayout
	}
	return splice{from, to, written}, nil
}

// add appends a key, with missing mappings on its path.
func (d *doc) add(at place, path []string, v Value) (splice, error) {
	if at.in == nil {
		text := d.block("", path, v)
		if d.text != "" && !strings.HasSuffix(d.text, "\n") {
			text = "\n" + text
		}
		return splice{len(d.text), len(d.text), text + "\n"}, nil
	}
	entries := at.entries()
	flow := at.flow()
	if len(entries) == 0 {
		if flow == nil {
			return splice{}, ErrLayout
		}
		open, err := d.offset(flow.Start)
		return splice{open + 1, open + 1, nested(path, v)}, err
	}
	last := entries[len(entries)-1]
	end, err := d.end(last)
	if err != nil {
		return splice{}, err
	}
	if flow != nil {
		return splice{end, end, ", " + nested(path, v)}, nil
	}
	first, err := d.offset(entries[0].Key.GetToken())
	if err != nil {
		return splice{}, err
	}
	line := d.lineStart(first)
	indent := d.text[line:first]
	if strings.Trim(indent, " ") != "" {
		return splice{}, ErrLayout
	}
	end = d.lineEnd(end)
	return splice{end, end, "\n" + d.block(indent, path, v)}, nil
}

// remove removes a key.
func (d *doc) remove(at place, e *ast.MappingValueNode) (splice, error) {
	from, err := d.offset(e.Key.GetToken())
	if err != nil {
		return splice{}, err
	}
	end, err := d.end(e)
	if err != nil {
		return splice{}, err
	}
	entries := at.entries()
	i := 0
	for entries[i] != e {
		i++
	}
	if at.flow() != nil {
		return d.removeFlow(at, i, from, end)
	}
	line := d.lineStart(from)
	if strings.Trim(d.text[line:from], " ") != "" {
		return splice{}, ErrLayout
	}
	until := min(d.lineEnd(end)+1, len(d.text))
	if len(entries) > 1 || at.of == nil {
		return splice{line, until, ""}, nil
	}
	colon, err := d.offset(at.of.GetToken())
	if err != nil {
		return splice{}, err
	}
	return splice{colon + 1, until, " {}" + d.text[colon+1:line]}, nil
}

// removeFlow removes entry i, at the given range, from a mapping in flow style.
func (d *doc) removeFlow(at place, i, from, end int) (splice, error) {
	entries := at.entries()
	switch {
	case i+1 < len(entries):
		next, err := d.offset(entries[i+1].Key.GetToken())
		return splice{from, next, ""}, err
	case i > 0:
		before := entries[i-1]
		from, err := d.end(before)
		return splice{from, end, ""}, err
	}
	closing, err := d.offset(at.flow().End)
	if err == nil && strings.Contains(d.text[end:closing], "#") {
		err = ErrLayout
	}
	return splice{from, closing, ""}, err
}

// block returns the lines of a key with the mappings on its path, without the last line end.
func (d *doc) block(indent string, path []string, v Value) string {
	var b strings.Builder
	for i, name := range path {
		b.WriteString(indent + strings.Repeat(" ", i*d.step()) + scalar(name) + ":")
		if i < len(path)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + v.written(len(indent)+(len(path)-1)*d.step(), d.step())
}

// nested returns a key with the mappings on its path, in flow style.
func nested(path []string, v Value) string {
	if len(path) == 1 {
		return scalar(path[0]) + ": " + v.flow()
	}
	return scalar(path[0]) + ": {" + nested(path[1:], v) + "}"
}

// flow returns a value in its one-line form.
func (v Value) flow() string {
	if !v.isList {
		return scalar(v.text)
	}
	items := make([]string, len(v.items))
	for i, s := range v.items {
		items[i] = scalar(s)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// written returns a value as written in block style after a key with the given indentation: on
// lines of its own, indented by a further step, or on the same line.
func (v Value) written(indent, step int) string {
	text, ends := strings.CutSuffix(v.text, "\n")
	if !v.lines || !hasLines(text) {
		return v.flow()
	}
	var b strings.Builder
	b.WriteString("|")
	if text[0] == ' ' || text[0] == '\n' {
		b.WriteString(strconv.Itoa(step)) // the indentation is ambiguous otherwise
	}
	if !ends {
		b.WriteString("-")
	}
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("\n")
		if line != "" {
			b.WriteString(strings.Repeat(" ", indent+step) + line)
		}
	}
	return b.String()
}

// hasLines reports whether a text has several lines that can be written unescaped.
func hasLines(s string) bool {
	return strings.Contains(s, "\n") && !strings.HasSuffix(s, "\n") && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool {
			return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
				r == '\ufeff'
		})
}

// splice is a replacement of a range of a text.
type splice struct {
	from, to int
	text     string
}

// apply applies a change to the bytes of the file. New lines get the line end of its first one.
func (d *doc) apply(s splice) []byte {
	text := s.text
	if i := bytes.IndexByte(d.data, '\n'); i > 0 && d.data[i-1] == '\r' {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	from, to := d.original(s.from), d.original(s.to)
	return bytes.Join([][]byte{d.data[:from], []byte(text), d.data[to:]}, nil)
}
