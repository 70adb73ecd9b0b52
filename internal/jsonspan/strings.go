package jsonspan

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Strings yields every string and number of a JSON value, decoded, with the name of the innermost
// member that contains it, or "". Iteration ends silently at the first fault.
func Strings(raw []byte) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		d := decoder(raw)
		defer d.release()
		names := []string{""} // of the member being read at each depth
		for {
			t, err := d.ReadToken()
			if err != nil {
				return
			}
			depth := d.StackDepth()
			switch t.Kind() {
			case '{', '[':
				names = append(names[:depth], names[depth-1])
				continue
			case '}', ']':
				if depth == 0 {
					return
				}
				continue
			case '"':
				if kind, n := d.StackIndex(depth); kind == jsontext.KindBeginObject && n%2 == 1 {
					names[depth] = t.String()
					continue
				}
			case '0':
			default:
				if depth == 0 {
					return
				}
				continue
			}
			if !yield(names[depth], t.String()) || depth == 0 {
				return
			}
		}
	}
}
