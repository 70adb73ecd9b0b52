package models

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// ParseOverrides reads an override file, one YAML document:
//
//	models:
//	  - id: claude-opus-4-6
//	    window: 1000000          # tokens
//	    max_output: 128000
//	    input: 5                 # US dollars per million tokens
//	    output: 25
//	    cache_read: 0.5
//	    cache_write: 6.25
//	    long_context:            # multiplies the prices of long requests
//	      threshold: 200000      # input tokens
//	      input: 2
//	      output: 1.5
//	      cache_read: 2
//	      cache_write: 2
//	      tiers: [default, flex] # absent: every service tier
//
// Only id is required. It is strict: an unknown or repeated key, a value of
// another type (a quoted number, a fraction where tokens are counted, an
// alias) or out of range is an error that says name and line. So is a file
// over a megabyte or a line over 1000 bytes. Empty data, or an empty list,
// means no overrides. name is only used in errors; it is usually the file's
// path.
func ParseOverrides(data []byte, name string) ([]Override, error) {
	list, err := parseOverrides(data)
	if err == nil {
		return list, nil
	}
	var at *lineError
	if errors.As(err, &at) {
		if at.key != "" {
			return nil, fmt.Errorf("models: %s:%d: %s: %w", name, at.line, at.key, at.err)
		}
		return nil, fmt.Errorf("models: %s:%d: %w", name, at.line, at.err)
	}
	return nil, fmt.Errorf("models: %s: %w", name, err)
}

func parseOverrides(data []byte) ([]Override, error) {
	if err := checkShape(data); err != nil {
		return nil, err
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	if len(file.Docs) > 1 {
		return nil, errors.New("there is more than one document in the file")
	}
	if len(file.Docs) == 0 || empty(file.Docs[0].Body) {
		return nil, nil
	}
	var list []Override
	err = eachField(file.Docs[0].Body, fields{
		"models": func(v ast.Node) (err error) {
			list, err = overrideList(v)
			return err
		},
	})
	return list, err
}

func empty(body ast.Node) bool {
	switch body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

func overrideList(v ast.Node) ([]Override, error) {
	if empty(v) {
		return nil, nil
	}
	seq, ok := v.(*ast.SequenceNode)
	if !ok {
		return nil, wrongType("a list", v)
	}
	list := make([]Override, 0, len(seq.Values))
	seen := make(overrideIDs, len(seq.Values))
	for _, item := range seq.Values {
		o, err := decodeOverride(item)
		if err != nil {
			return nil, err
		}
		if err := seen.accept(o); err != nil {
			return nil, &lineError{line: lineOf(item), err: err}
		}
		list = append(list, o)
	}
	return list, nil
}

func decodeOverride(v ast.Node) (Override, error) {
	var o Override
	err := eachField(v, fields{
		"id":          text(&o.ID),
		"window":      count(&o.Window),
		"max_output":  count(&o.MaxOutput),
		"input":       amount(&o.Input),
		"output":      amount(&o.Output),
		"cache_read":  amount(&o.CacheRead),
		"cache_write": amount(&o.CacheWrite),
		"long_context": func(v ast.Node) error {
			l, err := decodeLong(v)
			o.LongContext = &l
			return err
		},
	})
	return o, err
}

func decodeLong(v ast.Node) (LongOverride, error) {
	var threshold *int
	var in, out, read, write *float64
	var l LongOverride
	err := eachField(v, fields{
		"threshold":   count(&threshold),
		"input":       amount(&in),
		"output":      amount(&out),
		"cache_read":  amount(&read),
		"cache_write": amount(&write),
		"tiers":       texts(&l.Tiers),
	})
	if threshold != nil {
		l.Threshold = *threshold
	}
	l.Input, l.Output, l.CacheRead, l.CacheWrite = orZero(in), orZero(out), orZero(read), orZero(write)
	return l, err
}

func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// syntaxError keeps the line and the message of the parser's error and drops
// the excerpt of the source it prints.
func syntaxError(err error) error {
	var y yaml.Error
	if errors.As(err, &y) && y.GetToken() != nil && y.GetToken().Position != nil {
		return &lineError{line: y.GetToken().Position.Line, err: errors.New(y.GetMessage())}
	}
	return err
}
