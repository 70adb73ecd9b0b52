package memory

import (
	"bytes"
	"context"
	"maps"
)

// SaveWindows replaces states by key; nil removes one.
func (s books) SaveWindows(ctx context.Context, states map[string][]byte) error {
	done, err := s.begin(ctx, "save windows")
	defer done()
	if err != nil {
		return err
	}
	for key, state := range states {
		if state == nil {
			delete(s.windows, key)
		} else {
			s.windows[key] = bytes.Clone(state)
		}
	}
	return nil
}

// LoadWindows returns all states by key.
func (s books) LoadWindows(ctx context.Context) (map[string][]byte, error) {
	done, err := s.begin(ctx, "load windows")
	defer done()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.windows)
	for key, state := range all {
		all[key] = bytes.Clone(state)
	}
	return all, nil
}
