package models

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// The library's own decoder is not strict enough for us: it reads "1000" and
// 1.5 into an int without a word. So we walk the tree.

// lineError is an error, the line of the file it is about, from 1, and the
// innermost key; an empty key is one not yet known.
type lineError struct {
	line int
	key  string
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s: %v", e.line, e.key, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// within notes the key whose value err is about, unless an inner one is noted.
func within(key string, err error) error {
	var at *lineError
	if errors.As(err, &at) && at.key == "" {
		at.key = key
	}
	return err
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

func wrong(n ast.Node, format string, args ...any) error {
	return &lineError{line: lineOf(n), err: fmt.Errorf(format, args...)}
}

func wrongType(want string, got ast.Node) error {
	return wrong(got, "want %s, not %s", want, strings.ToLower(got.Type().String()))
}

// fields says what to do with the value of each key a mapping may have.
type fields map[string]func(ast.Node) error

// eachField visits a mapping; a key that is not in the table is an error.
func eachField(n ast.Node, table fields) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return wrongType("a mapping", n)
	}
	seen := make(map[string]bool, len(table))
	for it := m.MapRange(); it.Next(); {
		k, isText := it.Key().(*ast.StringNode)
		if !isText {
			return wrongType("a key", it.Key())
		}
		visit, known := table[k.Value]
		if !known {
			return within(k.Value, wrong(k, "unknown key"))
		}
		if seen[k.Value] {
			return within(k.Value, wrong(k, "the key is repeated"))
		}
		seen[k.Value] = true
		if err := visit(it.Value()); err != nil {
			return within(k.Value, err)
		}
	}
	return nil
}

func text(to *string) func(ast.Node) error {
	return func(v ast.Node) error {
		s, ok := v.(*ast.StringNode)
		if !ok {
			return wrongType("a text", v)
		}
		*to = s.Value
		return nil
	}
}

func texts(to *[]string) func(ast.Node) error {
	return func(v ast.Node) error {
		seq, ok := v.(*ast.SequenceNode)
		if !ok {
			return wrongType("a list of texts", v)
		}
		for _, item := range seq.Values {
			var s string
			if err := text(&s)(item); err != nil {
				return err
			}
			*to = append(*to, s)
		}
		return nil
	}
}

func count(to **int) func(ast.Node) error {
	return func(v ast.Node) error {
		n, ok := wholeNumber(v)
		if !ok {
			return wrongType("a whole number", v)
		}
		if n <= 0 {
			return wrong(v, "must be positive, not %d", n)
		}
		*to = &n
		return nil
	}
}

func wholeNumber(v ast.Node) (int, bool) {
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

func amount(to **float64) func(ast.Node) error {
	return func(v ast.Node) error {
		var f float64
		switch n := v.(type) {
		case *ast.FloatNode:
			f = n.Value
		case *ast.IntegerNode:
			whole, ok := wholeNumber(n)
			if !ok {
				return wrong(v, "the number is too large")
			}
			f = float64(whole)
		default:
			return wrongType("a number", v)
		}
		if f < 0 {
			return wrong(v, "%v is negative", f)
		}
		*to = &f
		return nil
	}
}
