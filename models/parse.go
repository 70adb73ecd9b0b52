package models

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"

	"github.com/precis-dev/precis/internal/strictyaml"
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
	if err != nil {
		return nil, fmt.Errorf("models: %w", strictyaml.Place(name, err))
	}
	return list, nil
}

func parseOverrides(data []byte) ([]Override, error) {
	body, err := strictyaml.Parse(data)
	if err != nil || body == nil {
		return nil, err
	}
	var list []Override
	err = strictyaml.Each(body, strictyaml.Fields{
		"models": func(v ast.Node) (err error) {
			list, err = overrideList(v)
			return err
		},
	})
	return list, err
}

func overrideList(v ast.Node) ([]Override, error) {
	if strictyaml.Empty(v) {
		return nil, nil
	}
	seq, ok := v.(*ast.SequenceNode)
	if !ok {
		return nil, strictyaml.WrongType("a list", v)
	}
	list := make([]Override, 0, len(seq.Values))
	seen := make(overrideIDs, len(seq.Values))
	for _, item := range seq.Values {
		o, err := decodeOverride(item)
		if err != nil {
			return nil, err
		}
		if err := seen.accept(o); err != nil {
			return nil, &strictyaml.Error{Line: strictyaml.Line(item), Err: err}
		}
		list = append(list, o)
	}
	return list, nil
}

func decodeOverride(v ast.Node) (Override, error) {
	var o Override
	err := strictyaml.Each(v, strictyaml.Fields{
		"id":          strictyaml.Text(&o.ID),
		"window":      strictyaml.Count(&o.Window),
		"max_output":  strictyaml.Count(&o.MaxOutput),
		"input":       strictyaml.Amount(&o.Input),
		"output":      strictyaml.Amount(&o.Output),
		"cache_read":  strictyaml.Amount(&o.CacheRead),
		"cache_write": strictyaml.Amount(&o.CacheWrite),
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
	err := strictyaml.Each(v, strictyaml.Fields{
		"threshold":   strictyaml.Count(&threshold),
		"input":       strictyaml.Amount(&in),
		"output":      strictyaml.Amount(&out),
		"cache_read":  strictyaml.Amount(&read),
		"cache_write": strictyaml.Amount(&write),
		"tiers":       strictyaml.Texts(&l.Tiers),
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
