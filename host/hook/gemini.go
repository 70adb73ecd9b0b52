package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// Gemini CLI says before every request that it may compress, and never that it did. Its
// recording tells: the view that a compression left is a line that sets all messages,
// and the first of them is the snapshot.

// compressed are what such a line holds.
var compressed = [][]byte{[]byte(`{"$set"`), []byte(`"messages"`), []byte(`state_snapshot>`)}

func geminiPending(ctx context.Context, c *call) ([]byte, error) {
	before := c.state().Offset
	fresh, size, err := readFrom(c.input.Transcript, before)
	if err != nil {
		return nil, errNothing("")
	}
	if size == before {
		return nil, errNothing("")
	}
	found := before > 0 && sets(fresh) // what a session was resumed with is not new
	mine := false                      // tools end at the same time, and each has a hook
	err = c.update(ctx, func(s *state) {
		if mine = s.Offset == before; mine && found {
			s.Compactions++
		}
		if mine {
			s.Offset = size
		}
	})
	if err != nil {
		return nil, err
	}
	if !found || !mine {
		return nil, errNothing("")
	}
	r, err := c.open()
	if err != nil {
		return nil, err
	}
	c.entry.Compaction = true
	text, err := c.back(ctx, r, r.summary(), geminiMost)
	if err != nil {
		return nil, err
	}
	return c.give(c.input.Event, text), nil
}

// sets reports whether lines hold the view of a compression.
func sets(lines []byte) bool {
	for line := range bytes.Lines(lines) {
		if isSnapshot(line) {
			return true
		}
	}
	return false
}

func isSnapshot(line []byte) bool {
	for _, part := range compressed {
		if !bytes.Contains(line, part) {
			return false
		}
	}
	return true
}

// readFrom returns the whole lines behind an offset, and where they end. A file that is
// shorter was written anew, and is read from its beginning.
func readFrom(path string, offset int64) ([]byte, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("it is no regular file")
	}
	if info.Size() < offset {
		offset = 0
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.NewSectionReader(f, offset, info.Size()-offset))
	if err != nil {
		return nil, 0, err
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	return data[:end], offset + int64(end), nil
}
