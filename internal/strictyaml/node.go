// Package strictyaml reads YAML configuration strictly: an unknown or repeated key, or a value of
// another type, is an error that names key and line.
package strictyaml

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/precis-dev/precis/internal/suggest"
)

// The library's own decoder is not strict enough: it silently reads "1000" and 1.5 into an int. So
// we walk the tree.

// Error is a fault in a file with its line, from 1, and the innermost key; an empty key is not
// known yet.
type Error struct {
	Line int
	Key  string
	Err  error
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %s: %v", e.Line, e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Place returns err as "NAME:LINE: key: what", or "NAME: what" without a line.
func Place(name string, err error) error {
	var at *Error
	switch {
	case !errors.As(err, &at):
		return fmt.Errorf("%s: %w", name, err)
	case at.Key != "":
		return fmt.Errorf("%s:%d: %s: %w", name, at.Line, at.Key, at.Err)
	}
	return fmt.Errorf("%s:%d: %w", name, at.Line, at.Err)
}

// within records the key of the value that err concerns, unless an inner key is recorded.
func within(key string, err error) error {
	var at *Error
	if errors.As(err, &at) && at.Key == "" {
		at.Key = key
	}
	return err
}

// Line returns the line of a node, 0 when it has none.
func Line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// Wrong returns an error about a node.
func Wrong(n ast.Node, format string, args ...any) error {
	return &Error{Line: Line(n), Err: fmt.Errorf(format, args...)}
}

// WrongType returns an error that states the expected type.
func WrongType(want string, got ast.Node) error {
	return Wrong(got, "want %s, not %s", want, strings.ToLower(got.Type().String()))
}

// Fields maps each allowed key of a mapping to the function that reads its value.
type Fields map[string]func(ast.Node) error

// Each visits a mapping; a key that is not in the table is an error.
func Each(n ast.Node, table Fields) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return WrongType("a mapping", n)
	}
	seen := make(map[string]bool, len(table))
	for it := m.MapRange(); it.Next(); {
		k, isText := it.Key().(*ast.StringNode)
		if !isText {
			return WrongType("a key", it.Key())
		}
		visit, known := table[k.Value]
		if !known {
			return within(k.Value, Wrong(k, "%s", unknownKey(k.Value, table)))
		}
		if seen[k.Value] {
			return within(k.Value, Wrong(k, "the key is repeated"))
		}
		seen[k.Value] = true
		if err := visit(it.Value()); err != nil {
			return within(k.Value, err)
		}
	}
	return nil
}

// Text reads a text.
func Text(to *string) func(ast.Node) error {
	return func(v ast.Node) error {
		s, ok := v.(*ast.StringNode)
		if !ok {
			return WrongType("a text", v)
		}
		*to = s.Value
		return nil
	}
}

// Texts reads a list of texts.
func Texts(to *[]string) func(ast.Node) error {
	return func(v ast.Node) error {
		seq, ok := v.(*ast.SequenceNode)
		if !ok {
			return WrongType("a list of texts", v)
		}
		for _, item := range seq.Values {
			var s string
			if err := Text(&s)(item); err != nil {
				return err
			}
			*to = append(*to, s)
		}
		return nil
	}
}

// Count reads a positive whole number.
func Count(to **int) func(ast.Node) error {
	return func(v ast.Node) error {
		n, ok := Whole(v)
		if !ok {
			return WrongType("a whole number", v)
		}
		if n <= 0 {
			return Wrong(v, "must be positive, not %d", n)
		}
		*to = &n
		return nil
	}
}

// Whole returns the value of a whole number.
func Whole(v ast.Node) (int, bool) {
	i, ok := v.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	switch n := i.Value.(type) {
	case int64:
		return int(n), n >= math.MinInt && n <= math.MaxInt
	case uint64:
		return int(n), n <= math.MaxInt
	}
	return 0, false
}

// Amount reads a number that is not negative.
func Amount(to **float64) func(ast.Node) error {
	return func(v ast.Node) error {
		var f float64
		switch n := v.(type) {
		case *ast.FloatNode:
			f = n.Value
		case *ast.IntegerNode:
			whole, ok := Whole(n)
			if !ok {
				return Wrong(v, "the number is too large")
			}
			f = float64(whole)
		default:
			return WrongType("a number", v)
		}
		if f < 0 {
			return Wrong(v, "%v is negative", f)
		}
		*to = &f
		return nil
	}
}

// unknownKey returns an error for an unknown key, with the most similar known one.
func unknownKey(name string, table Fields) string {
	if near := suggest.DidYouMean(name, slices.Sorted(maps.Keys(table))); near != "" {
		return "unknown key; " + near
	}
	return "unknown key"
}
