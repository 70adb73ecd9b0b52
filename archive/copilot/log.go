package copilot

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis/archive"
)

// The kinds of changes in a log.
const (
	changeAll    = 0 // the whole state
	changeSet    = 1 // the value at a path
	changePush   = 2 // values at the end of an array, which is cut to a length first
	changeDelete = 3 // the member at a path
)

// change is one line of a log.
type change struct {
	Kind  int   `json:"kind"`
	Path  []any `json:"k"` // names and indexes
	Value any   `json:"v"`
	Index *int  `json:"i"` // of changePush: the length to cut to; nil: not cut
}

// replayed returns the document that results from a log of changes. A change that cannot be
// applied is skipped.
func replayed(data []byte, rec *archive.Recording) ([]byte, error) {
	var state any
	for l := range archive.Lines(data, rec) {
		var c change
		err := json.Unmarshal(l.Raw, &c)
		if err == nil {
			state, err = c.apply(state)
		}
		if err != nil {
			rec.Skip(l.Number, err)
		}
	}
	if _, ok := state.(map[string]any); !ok {
		return nil, errors.New("the log begins with no state")
	}
	return json.Marshal(state)
}

// apply returns the state after a change.
func (c change) apply(state any) (any, error) {
	switch c.Kind {
	case changeAll:
		return c.Value, nil
	case changeSet, changePush, changeDelete:
		if len(c.Path) == 0 {
			return state, errors.New("the change names no place")
		}
		return c.applyAt(state, c.Path)
	}
	return state, fmt.Errorf("there is no change of kind %d", c.Kind)
}

// applyAt applies the change at a path below a value, and returns the value.
func (c change) applyAt(value any, path []any) (any, error) {
	if len(path) == 0 {
		return c.leaf(value)
	}
	switch in := value.(type) {
	case map[string]any:
		name, ok := path[0].(string)
		if !ok {
			return value, fmt.Errorf("%v is no name", path[0])
		}
		if c.Kind == changeDelete && len(path) == 1 {
			delete(in, name)
			return in, nil
		}
		next, err := c.applyAt(in[name], path[1:])
		if err == nil {
			in[name] = next
		}
		return in, err
	case []any:
		i, ok := path[0].(float64)
		if !ok || i < 0 || int(i) > len(in) || i != float64(int(i)) {
			return value, fmt.Errorf("%v is no index of %d elements", path[0], len(in))
		}
		if int(i) == len(in) {
			in = append(in, nil)
		}
		next, err := c.applyAt(in[int(i)], path[1:])
		if err == nil {
			in[int(i)] = next
		}
		return in, err
	case nil:
		if _, ok := path[0].(string); ok {
			return c.applyAt(map[string]any{}, path)
		}
		return c.applyAt([]any{}, path)
	}
	return value, errors.New("the path leads into a value")
}

// leaf changes the value at the end of a path.
func (c change) leaf(value any) (any, error) {
	switch c.Kind {
	case changeSet:
		return c.Value, nil
	case changeDelete:
		return nil, nil
	}
	in, ok := value.([]any)
	if !ok && value != nil {
		return value, errors.New("it is no array")
	}
	if c.Index != nil {
		in = in[:min(max(*c.Index, 0), len(in))]
	}
	more, ok := c.Value.([]any)
	if !ok && c.Value != nil {
		return value, errors.New("what is added is no array")
	}
	return append(in, more...), nil
}
