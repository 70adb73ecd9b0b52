package wire

import (
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// Draft is a body with changes: unchanged parts keep their bytes. It is not safe for concurrent
// use.
type Draft struct {
	body    *Body
	changed map[string][]byte // new values by name; nil: removed
	added   []string          // new names among them
}

// Draft returns a draft of the body without changes.
func (b *Body) Draft() *Draft { return &Draft{body: b, changed: map[string][]byte{}} }

// Get returns the current value; nil when it is absent or null.
func (d *Draft) Get(name string) json.RawMessage {
	if v, ok := d.changed[name]; ok {
		if jsonspan.Kind(v) == 'n' {
			return nil
		}
		return v
	}
	return d.body.Get(name)
}

// Set sets the value of a member, and appends the member if it is missing.
func (d *Draft) Set(name string, value []byte) {
	if d.body.find(name) < 0 && !slices.Contains(d.added, name) {
		d.added = append(d.added, name)
	}
	d.changed[name] = value
}

// Remove removes a member.
func (d *Draft) Remove(name string) {
	d.added = slices.DeleteFunc(d.added, func(n string) bool { return n == name })
	delete(d.changed, name)
	if d.body.find(name) >= 0 {
		d.changed[name] = nil
	}
}

// Changed reports whether anything was set or removed.
func (d *Draft) Changed() bool { return len(d.changed) > 0 }

// Bytes returns the body with its changes; the body's own bytes if there are no changes.
func (d *Draft) Bytes() []byte {
	b := d.body
	if !d.Changed() {
		return b.raw
	}
	size := len(b.raw)
	for name, value := range d.changed {
		size += len(name) + len(value) + len(`,"":`)
	}
	out := make([]byte, 0, size)
	at, kept := 0, 0 // bytes of raw written or skipped, members written
	for i, m := range b.members {
		value, ok := d.changed[m.name]
		switch {
		case ok && value == nil:
			out = append(out, b.raw[at:d.cut(i, kept)]...)
			at = m.To
			if kept == 0 && i+1 < len(b.members) {
				at = b.members[i+1].key
			}
			continue
		case ok:
			out = append(append(out, b.raw[at:m.From]...), value...)
			at = m.To
		}
		kept++
	}
	out = append(out, b.raw[at:max(at, b.end)]...)
	for _, name := range d.added {
		if kept > 0 {
			out = append(out, ',')
		}
		kept++
		out = append(append(jsonspan.AppendString(out, name), ':'), d.changed[name]...)
	}
	return append(out, b.raw[max(at, b.end):]...)
}

// cut returns the end of the bytes before a removed member: after the previous member or, if none
// is left before it, at its name.
func (d *Draft) cut(i, kept int) int {
	if kept == 0 {
		return d.body.members[i].key
	}
	return d.body.members[i-1].To
}
