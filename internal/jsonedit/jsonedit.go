// Package jsonedit changes single members of a JSON file that a person maintains, and keeps every
// other byte: comments, order, indentation, line ends. Use [Parse], then [Doc.Set], [Doc.Append],
// [Doc.Remove] and [Doc.Bytes].
//
// Comments and trailing commas are accepted as in the settings of many programs
// (https://nigeltao.github.io/blog/2021/json-with-commas-comments.html).
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// mark is the byte order mark, which some editors write.
const mark = "\xef\xbb\xbf"

// Doc is a JSON document that contains an object. It is not safe for concurrent use.
type Doc struct {
	root   hujson.Value
	mark   bool   // it begins with the mark
	indent string // per level; "": the document is one line
	line   string // the line end
}

// Parse parses a document. Empty data, or white space alone, is an empty object. Errors name line
// and column.
func Parse(data []byte) (*Doc, error) {
	d := &Doc{line: "\n"}
	if rest, ok := bytes.CutPrefix(data, []byte(mark)); ok {
		data, d.mark = rest, true
	}
	if bytes.Contains(data, []byte("\r\n")) {
		d.line = "\r\n"
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}" + d.line)
	}
	root, err := hujson.Parse(bytes.Clone(data))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("it is no JSON object")
	}
	d.root = root
	d.indent = indentOf(&d.root, data)
	return d, nil
}

// indentOf returns the indentation of the first member of an object.
func indentOf(root *hujson.Value, data []byte) string {
	o := root.Value.(*hujson.Object)
	if len(o.Members) == 0 {
		return "  "
	}
	before := string(o.Members[0].Name.BeforeExtra)
	at := strings.LastIndexByte(before, '\n')
	if at < 0 {
		if bytes.ContainsRune(bytes.TrimSpace(data), '\n') {
			return "  "
		}
		return ""
	}
	return before[at+1:]
}

// Bytes returns the document.
func (d *Doc) Bytes() []byte {
	out := d.root.Pack()
	if d.mark {
		out = append([]byte(mark), out...)
	}
	return out
}

// Get returns the value at a path, without comments; nil if it does not exist. A path consists of
// member names and decimal element indexes.
func (d *Doc) Get(path ...string) json.RawMessage {
	v := d.find(path)
	if v == nil {
		return nil
	}
	plain := v.Clone()
	plain.Minimize()
	return plain.Pack()
}

// find returns the value at a path; nil if it does not exist.
func (d *Doc) find(path []string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		switch at := v.Value.(type) {
		case *hujson.Object:
			i := member(at, name)
			if i < 0 {
				return nil
			}
			v = &at.Members[i].Value
		case *hujson.Array:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at.Elements) {
				return nil
			}
			v = &at.Elements[i]
		default:
			return nil
		}
	}
	return v
}

// member returns the index of the effective member: the last one with the name.
func member(o *hujson.Object, name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

// Set sets the value of the member at a path, and creates missing objects on the path. The value is
// anything that [json.Marshal] accepts. It is an error when a value on the path is no object.
func (d *Doc) Set(value any, path ...string) error {
	o, err := d.object(path[:len(path)-1])
	if err != nil {
		return err
	}
	v, err := d.value(value, len(path))
	if err != nil {
		return err
	}
	name := path[len(path)-1]
	if i := member(o, name); i >= 0 {
		was := o.Members[i].Value
		v.BeforeExtra, v.AfterExtra = was.BeforeExtra, was.AfterExtra
		o.Members[i].Value = v
		return nil
	}
	if d.indent != "" {
		v.BeforeExtra = hujson.Extra(" ")
	}
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: v}
	var last *hujson.Value
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Value
	}
	d.open(last, &o.AfterExtra, &m.Name, &m.Value, len(path))
	o.Members = append(o.Members, m)
	return nil
}

// Append adds an element to the end of the array at a path, and creates a missing array.
func (d *Doc) Append(value any, path ...string) error {
	v := d.find(path)
	if v == nil {
		return d.Set([]any{value}, path...)
	}
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return fmt.Errorf("%s is no array", strings.Join(path, "."))
	}
	e, err := d.value(value, len(path)+1)
	if err != nil {
		return err
	}
	var last *hujson.Value
	if n := len(a.Elements); n > 0 {
		last = &a.Elements[n-1]
	}
	d.open(last, &a.AfterExtra, &e, &e, len(path)+1)
	a.Elements = append(a.Elements, e)
	return nil
}

// open lays out values, from first to end, that are added after last (nil: the container is empty)
// at a depth. After is the white space and comments before the closing bracket.
func (d *Doc) open(last *hujson.Value, after *hujson.Extra, first, end *hujson.Value, depth int) {
	before := comment(*after) // stays after last
	rest := (*after)[len(before):]
	begin := d.line + strings.Repeat(d.indent, depth)
	if d.indent == "" {
		if begin = ""; strings.Contains(string(before), "//") {
			begin = d.line
		}
	} else if !bytes.Contains(rest, []byte("\n")) {
		rest = hujson.Extra(d.line + strings.Repeat(d.indent, depth-1))
	}
	first.BeforeExtra = append(bytes.Clone(before), begin...)
	if last != nil && last.AfterExtra != nil {
		end.AfterExtra = hujson.Extra{} // writes a comma, as after last
	}
	*after = rest
}

// Remove removes the member at a path, and reports whether it existed. Objects on the path stay,
// even if empty.
func (d *Doc) Remove(path ...string) bool {
	v := d.find(path[:len(path)-1])
	if v == nil {
		return false
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return false
	}
	i := member(o, path[len(path)-1])
	if i < 0 {
		return false
	}
	var before, next *hujson.Value
	if i > 0 {
		before = &o.Members[i-1].Value
	}
	if i < len(o.Members)-1 {
		next = &o.Members[i+1].Name
	}
	ahead := o.Members[i].Name.BeforeExtra
	closeUp(before, next, ahead, o.Members[i].Value.AfterExtra, &o.AfterExtra)
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	onLine := func(m hujson.ObjectMember) bool { return hasLine(m.Name.BeforeExtra) }
	if hasLine(ahead) && len(o.Members) > 0 && !hasComment(o.AfterExtra) &&
		!slices.ContainsFunc(o.Members, onLine) {
		o.AfterExtra = nil // a single line stays one
	}
	return true
}

// RemoveIf removes the elements of the array at a path that satisfy so, and returns their number.
func (d *Doc) RemoveIf(so func(json.RawMessage) bool, path ...string) int {
	v := d.find(path)
	if v == nil {
		return 0
	}
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return 0
	}
	n := 0
	for i := len(a.Elements) - 1; i >= 0; i-- {
		plain := a.Elements[i].Clone()
		plain.Minimize()
		if !so(plain.Pack()) {
			continue
		}
		n++
		var before, next *hujson.Value
		if i > 0 {
			before = &a.Elements[i-1]
		}
		if i < len(a.Elements)-1 {
			next = &a.Elements[i+1]
		}
		ahead := a.Elements[i].BeforeExtra
		closeUp(before, next, ahead, a.Elements[i].AfterExtra, &a.AfterExtra)
		a.Elements = append(a.Elements[:i:i], a.Elements[i+1:]...)
		onLine := func(e hujson.Value) bool { return hasLine(e.BeforeExtra) }
		if hasLine(ahead) && len(a.Elements) > 0 && !hasComment(a.AfterExtra) &&
			!slices.ContainsFunc(a.Elements, onLine) {
			a.AfterExtra = nil
		}
	}
	return n
}

// closeUp lays out the surroundings of a removed value between before and next, nil at an end.
// Comments ahead of it stay, and so does a comma at the end.
func closeUp(before, next *hujson.Value, ahead, behind hujson.Extra, after *hujson.Extra) {
	stays := bytes.Clone(comment(ahead))
	switch {
	case next != nil:
		next.BeforeExtra = append(stays, next.BeforeExtra...)
	case before == nil && len(stays) == 0 && len(comment(*after)) == 0:
		*after = nil
	case before != nil && behind == nil: // no comma at the end
		*after = append(append(bytes.Clone(before.AfterExtra), stays...), *after...)
		before.AfterExtra = nil
	default:
		*after = append(stays, *after...)
	}
}

func hasComment(e hujson.Extra) bool { return len(comment(e)) > 0 }

func hasLine(e hujson.Extra) bool { return bytes.Contains(e, []byte("\n")) }

// comment returns white space and comments without the white space at the end.
func comment(e hujson.Extra) hujson.Extra { return bytes.TrimRight(e, " \t\r\n") }

// object returns the object at a path, and creates missing ones.
func (d *Doc) object(path []string) (*hujson.Object, error) {
	v := &d.root
	for i, name := range path {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is no object", strings.Join(path[:i], "."))
		}
		at := member(o, name)
		if at < 0 {
			if err := d.Set(struct{}{}, path[:i+1]...); err != nil {
				return nil, err
			}
			at = member(o, name)
		}
		v = &o.Members[at].Value
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s is no object", strings.Join(path, "."))
	}
	return o, nil
}

// value makes a value for a depth, laid out like the document.
func (d *Doc) value(value any, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if d.indent != "" {
		e.SetIndent(strings.Repeat(d.indent, depth), d.indent)
	}
	if err := e.Encode(value); err != nil {
		return hujson.Value{}, err
	}
	text := strings.TrimSpace(b.String())
	if d.line != "\n" {
		text = strings.ReplaceAll(text, "\n", d.line)
	}
	return hujson.Parse([]byte(text))
}
