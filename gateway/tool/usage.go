package tool

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// maxDepth is how deep usage objects are processed.
const maxDepth = 4

// sum returns the sum of two usage objects: numbers are added, lists are joined, and of other
// values the later one is kept.
func sum(a, b json.RawMessage) json.RawMessage { return combine(a, b, maxDepth, added) }

// latest merges the usage reports of a stream: later numbers replace earlier ones, unless they are
// 0.
func latest(a, b json.RawMessage) json.RawMessage { return combine(a, b, maxDepth, later) }

func combine(a, b json.RawMessage, depth int,
	number func(a, b json.RawMessage) json.RawMessage) json.RawMessage {
	ka, kb := jsonspan.Kind(a), jsonspan.Kind(b)
	switch {
	case kb == 0 || kb == 'n':
		return a
	case ka == '0' && kb == '0':
		return number(a, b)
	case ka == '[' && kb == '[':
		return number(a, b)
	case ka != '{' || kb != '{' || depth == 0:
		return b
	}
	theirs, err := jsonspan.Fields(b)
	if err != nil {
		return b
	}
	out := []byte{'{'}
	seen := map[string]bool{}
	add := func(name string, value json.RawMessage) {
		out = append(jsonspan.AppendField(out, name), value...)
		seen[name] = true
	}
	for m, err := range jsonspan.Object(a) {
		if err != nil {
			return b
		}
		if !seen[m.Name] {
			add(m.Name, combine(m.Raw, theirs[m.Name], depth-1, number))
		}
	}
	for m := range jsonspan.Object(b) {
		if !seen[m.Name] {
			add(m.Name, theirs[m.Name])
		}
	}
	return append(out, '}')
}

// added adds two numbers, or joins two lists.
func added(a, b json.RawMessage) json.RawMessage {
	if jsonspan.Kind(a) == '[' {
		var all []json.RawMessage
		for _, l := range []json.RawMessage{a, b} {
			for s, err := range jsonspan.Array(l) {
				if err != nil {
					return b
				}
				all = append(all, s.Raw)
			}
		}
		return list(all...)
	}
	x, errX := strconv.ParseInt(strings.TrimSpace(string(a)), 10, 48)
	y, errY := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 48)
	if errX == nil && errY == nil {
		return strconv.AppendInt(nil, x+y, 10)
	}
	f, errF := strconv.ParseFloat(strings.TrimSpace(string(a)), 64)
	g, errG := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	if s := f + g; errF == nil && errG == nil && s-s == 0 { // not infinite
		return strconv.AppendFloat(nil, s, 'g', -1, 64)
	}
	return b
}

func later(a, b json.RawMessage) json.RawMessage {
	if f, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64); err == nil && f == 0 {
		return a
	}
	return b
}
