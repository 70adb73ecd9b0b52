package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"precis/archive/gemini"
)

// Gemini CLI says before every request that it may compress, and never that it did. Its
// recording tells: the view that a compression left is a line that sets all messages,
// with a snapshot as one of the first. Other lines set them anew with the snapshot that is
// known.

func geminiPending(ctx context.Context, c *call) ([]byte, error) {
	was := c.state()
	before := was.Offset
	fresh, size, err := readFrom(c.input.Transcript, before)
	if err != nil {
		return nil, errNothing("")
	}
	if size == before {
		return nil, errNothing("")
	}
	snapshot := newest(fresh, was.Snapshot)
	found := before > 0 && snapshot != was.Snapshot // what a session was resumed with is not new
	mine := false                                   // tools end at the same time, and each has a hook
	err = c.update(ctx, func(s *state) {
		if mine = s.Offset == before; mine && found {
			s.Compactions++
		}
		if mine {
			s.Offset, s.Snapshot = size, snapshot
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
	summary, shown, _ := r.shown()
	text, err := c.back(ctx, r, summary, shown, geminiMost)
	if err != nil {
		return nil, err
	}
	return c.give(c.input.Event, text), nil
}

// newest returns a hash of the newest snapshot that lines set; was, when they set none.
func newest(lines []byte, was string) string {
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, []byte("state_snapshot>")) {
			continue
		}
		if snapshot := gemini.Snapshot(line); snapshot != "" {
			was = short(snapshot)
		}
	}
	return was
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
