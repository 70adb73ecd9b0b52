package hook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/precis-dev/precis/archive/gemini"
)

// Gemini CLI announces before every request that it may compress, but not that it did. The
// recording shows it: a compression writes a line that sets all messages, with a new snapshot among
// the first. Other lines that set all messages repeat the known snapshot.

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
	found := before > 0 && snapshot != was.Snapshot // the snapshot of a resumed session is not new
	mine := false                                   // tools may end together, and each runs a hook
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
	text, err := c.missingFacts(ctx, r, summary, shown, geminiMost)
	if err != nil {
		return nil, err
	}
	return c.answerEvent(c.input.Event, text), nil
}

// newest returns a hash of the newest snapshot that lines set, or was if they set none.
func newest(lines []byte, was string) string {
	for line := range bytes.Lines(lines) {
		if !bytes.Contains(line, []byte("state_snapshot>")) {
			continue
		}
		if snapshot := gemini.SnapshotID(line); snapshot != "" {
			was = sessionHash(snapshot)
		}
	}
	return was
}

// readFrom returns the whole lines after an offset, and the offset of their end. A file shorter
// than the offset was written anew and is read from its beginning.
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
