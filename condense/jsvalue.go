package condense

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// jsValue is a JSON value with the property order of JavaScript.
type jsValue struct {
	kind    byte   // as jsonspan.Kind says
	literal string // a string's characters, or a number, boolean or null as written
	members []jsMember
	items   []jsValue
}

type jsMember struct {
	name  string
	value jsValue
}

// parseJS reads one JSON value. ok is false for invalid JSON.
func parseJS(raw []byte) (v jsValue, ok bool) {
	if jsonspan.Valid(raw) != nil {
		return v, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	return readJS(d), true
}

// readJS reads the next value of valid JSON, which nests at most 10,000 levels.
func readJS(d *jsontext.Decoder) jsValue {
	t, err := d.ReadToken()
	if err != nil {
		return jsValue{kind: 'n', literal: "null"}
	}
	switch k := t.Kind(); k {
	case '{':
		v := jsValue{kind: '{'}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return v
			}
			n := name.String() // a token is valid until the next is read
			v.members = append(v.members, jsMember{n, readJS(d)})
		}
		_, _ = d.ReadToken()
		return v
	case '[':
		v := jsValue{kind: '['}
		for d.PeekKind() != ']' && d.PeekKind() != jsontext.KindInvalid {
			v.items = append(v.items, readJS(d))
		}
		_, _ = d.ReadToken()
		return v
	default:
		return jsValue{kind: byte(k), literal: t.String()}
	}
}

// properties lists the own properties of an object or array in JavaScript's
// order: names that are array indices ascending, then the others as they were
// first written. Of a repeated name the last value counts.
func (v jsValue) properties() []jsMember {
	if v.kind == '[' {
		out := make([]jsMember, len(v.items))
		for i, item := range v.items {
			out[i] = jsMember{strconv.Itoa(i), item}
		}
		return out
	}
	var out []jsMember
	at := map[string]int{}
	for _, m := range v.members {
		if i, ok := at[m.name]; ok {
			out[i] = m
			continue
		}
		at[m.name] = len(out)
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b jsMember) int {
		return cmp.Compare(arrayIndex(a.name), arrayIndex(b.name))
	})
	return out
}

// arrayIndex returns the array index that a name spells in canonical form, if
// it is below 2^32-1; else a larger number.
func arrayIndex(name string) uint64 {
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || n == math.MaxUint32 || strconv.FormatUint(n, 10) != name {
		return math.MaxUint64
	}
	return n
}

// text is String(v) for plain values and JSON.stringify(v, null, 2) for objects
// and arrays.
func (v jsValue) text() string {
	switch v.kind {
	case '{', '[':
		return string(v.appendPretty(nil, 0))
	case '0':
		return jsNumber(v.literal)
	}
	return v.literal
}

// mostIndent bounds the white space before a deeply nested line.
const mostIndent = 50

func (v jsValue) appendPretty(dst []byte, depth int) []byte {
	switch v.kind {
	case '"':
		return jsonspan.AppendString(dst, v.literal)
	case '0':
		if n := jsNumber(v.literal); !strings.HasSuffix(n, "Infinity") {
			return append(dst, n...)
		}
		return append(dst, "null"...)
	case '{', '[':
	default:
		return append(dst, v.literal...)
	}
	end := v.kind + 2 // '}' and ']' in ASCII
	dst = append(dst, v.kind)
	list := v.properties()
	for i, p := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = newLine(dst, depth+1)
		if v.kind == '{' {
			dst = append(jsonspan.AppendString(dst, p.name), ": "...)
		}
		dst = p.value.appendPretty(dst, depth+1)
	}
	if len(list) > 0 {
		dst = newLine(dst, depth)
	}
	return append(dst, end)
}

func newLine(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	return append(dst, strings.Repeat("  ", min(depth, mostIndent))...)
}

// jsNumber writes a JSON number as JavaScript does (ECMAScript,
// Number::toString). encoding/json follows the same rule, except for minus
// zero.
func jsNumber(literal string) string {
	f, err := strconv.ParseFloat(literal, 64)
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case err != nil:
		return literal
	case f == 0:
		return "0"
	}
	out, _ := json.Marshal(f) // finite: no error
	return string(out)
}
