package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"

	"precis/archive/formats"
)

// pi's extension puts what it is told in the place of the summary. The arguments are
// --before ID FILE: the entry that stays as the first, and the session's file.

func piDigest(ctx context.Context, c *call) ([]byte, error) {
	if len(c.Args) != 3 || c.Args[0] != "--before" {
		return nil, errNothing("its arguments are not understood")
	}
	path := c.Args[2]
	c.input.Session = path // which precis takes for a session, too
	c.entry.Session = short(filepath.Base(path))
	src, err := formats.Load(path)
	if err != nil {
		return nil, errNothing("the session's file cannot be read")
	}
	src.Data = until(src.Data, c.Args[1])
	r, err := c.recordOf(src)
	if err != nil {
		return nil, err
	}
	return c.replace(ctx, r)
}

// until returns the lines of a session up to the entry before the one that is named: the
// session is a tree, and that entry is where the branch that is hidden ends. All of it
// when the entry is not there.
func until(data []byte, id string) []byte {
	type entry struct {
		ID     string `json:"id"`
		Parent string `json:"parentId"`
	}
	ends := map[string]int{} // where an entry's line ends
	at := 0
	for line := range bytes.Lines(data) {
		at += len(line)
		var e entry
		if json.Unmarshal(line, &e) != nil || e.ID == "" {
			continue
		}
		if e.ID == id {
			if end, ok := ends[e.Parent]; ok {
				return data[:end:end]
			}
			return data[: at-len(line) : at-len(line)]
		}
		ends[e.ID] = at
	}
	return data
}
