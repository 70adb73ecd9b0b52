package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/formats"
	"github.com/precis-dev/precis/archive/pi"
)

// pi's extension appends the entries of the answer at the end of a turn; pi's own projection of the
// session is then precis's view. precis keeps no other state: going back in pi's tree removes the
// entries, and a copy of the session includes them. For older versions of pi, and for compactions
// at another time, precis writes a summary.

// piView answers the end of a turn.
func piView(ctx context.Context, c *call) ([]byte, error) {
	var in struct {
		reduction
		Leaf string `json:"leaf"` // the newest entry
	}
	if json.Unmarshal(c.raw, &in) != nil || c.input.Transcript == "" {
		return nil, errNothing("its input is not understood")
	}
	src, r, err := c.piSession(c.input.Transcript, "")
	if err != nil {
		return nil, err
	}
	in.reasoning = precis.ReasoningStays // pi asks the provider to drop reasoning bound to other messages
	in.undoCommand = "/precis-undo"
	out, err := c.compact(ctx, r.conv, in.reduction)
	if err != nil || out.Skip != "" {
		return line(out), err
	}
	entries, leaf, err := pi.Drafts(src, r.conv)
	if err != nil || leaf != in.Leaf || len(entries) < 2 {
		return nil, errNothing("the view cannot be given as entries")
	}
	out.Entries = entries
	c.tryUpdate(ctx, func(s *state) { s.Compactions++ })
	c.entry.Did, c.entry.Compaction = Replaced, true
	return line(out), nil
}

// piDigest answers with the summary of a compaction. The arguments are --before ID FILE: the first
// kept entry and the session's file.
func piDigest(ctx context.Context, c *call) ([]byte, error) {
	if len(c.Args) != 3 || c.Args[0] != "--before" {
		return nil, errNothing("its arguments are not understood")
	}
	_, r, err := c.piSession(c.Args[2], c.Args[1])
	if err != nil {
		return nil, err
	}
	return c.replace(ctx, r)
}

// piSession reads a session's file up to the entry before the named one.
func (c *call) piSession(path, before string) (src archive.Source, r record, err error) {
	c.input.Session = path // precis identifies the session by its path
	c.entry.Session = sessionHash(filepath.Base(path))
	if src, err = formats.Load(path); err != nil {
		return src, r, errNothing("the session's file cannot be read")
	}
	if before != "" {
		src.Data = linesUpTo(src.Data, before)
	}
	r, err = c.recordOf(src)
	return src, r, err
}

// linesUpTo returns the lines of a session up to the parent of the named entry. The session is a tree,
// and the hidden branch ends there. Without such an entry it returns all lines.
func linesUpTo(data []byte, id string) []byte {
	type entry struct {
		ID     string `json:"id"`
		Parent string `json:"parentId"`
	}
	ends := map[string]int{} // entry ID → end of its line
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
