package roo

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// list is a JSON array of objects that can be changed without touching the bytes of the remaining
// items: head, then each item preceded by its separator, then tail.
type list struct {
	head, tail []byte
	items      []listItem
}

type listItem struct {
	sep []byte // between the item before and this one; nil for the first
	raw json.RawMessage
}

// parseList reads an array of objects, with or without a byte order mark. Other elements are an
// error.
func parseList(data []byte) (*list, error) {
	if body, ok := bytes.CutPrefix(data, []byte("\uFEFF")); ok {
		l, err := parseList(body)
		if err == nil {
			l.head = append([]byte("\uFEFF"), l.head...)
		}
		return l, err
	}
	l := &list{}
	end := 0
	for span, err := range jsonspan.Array(data) {
		if err != nil {
			return nil, err
		}
		if jsonspan.Kind(span.Raw) != '{' {
			return nil, &jsonspan.Error{Offset: int64(span.Offset),
				Err: errors.New("an element is no object")}
		}
		gap := data[end:span.Offset:span.Offset]
		if len(l.items) == 0 {
			l.head, gap = gap, nil
		}
		l.items = append(l.items, listItem{sep: gap, raw: span.Raw})
		end = span.Offset + len(span.Raw)
	}
	if err := jsonspan.Valid(data); err != nil {
		return nil, err
	}
	if len(l.items) == 0 {
		i := 0
		for data[i] != '[' {
			i++
		}
		l.head, end = data[:i+1:i+1], i+1
	}
	l.tail = data[end:]
	return l, nil
}

// bytes writes the array.
func (l *list) bytes() []byte {
	out := append([]byte(nil), l.head...)
	for _, it := range l.items {
		out = append(append(out, it.sep...), it.raw...)
	}
	return append(out, l.tail...)
}

// insert puts an item before index i. It is written in the style of the first
// separator.
func (l *list) insert(i int, raw json.RawMessage) {
	sep := []byte{','}
	if len(l.items) > 1 && len(l.items[1].sep) > 0 {
		sep = l.items[1].sep
	}
	item := listItem{sep: sep, raw: raw}
	if i == 0 {
		item.sep = nil
		if len(l.items) > 0 {
			l.items[0].sep = sep
		}
	}
	l.items = append(l.items[:i:i], append([]listItem{item}, l.items[i:]...)...)
}

// keep drops the items for which f is false, each with its separator.
func (l *list) keep(f func(i int) bool) {
	var out []listItem
	for i, it := range l.items {
		if f(i) {
			out = append(out, it)
		}
	}
	if len(out) > 0 {
		out[0].sep = nil
	}
	l.items = out
}
