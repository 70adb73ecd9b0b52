package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Container is precis's own file: any recording with precis's edits. It is one line of JSON, then
// the original bytes unchanged, so that any tool can extract the recording:
//
//	{"precis":1,"format":"codex","name":"rollout.jsonl","size":N,"sha256":"…","edits":[…]}\n
//	…N bytes…
type Container struct {
	Version int           `json:"precis"`
	Format  string        `json:"format"` // of the original
	Name    string        `json:"name"`   // base name of the original
	Size    int           `json:"size"`   // of the original, in bytes
	SHA256  string        `json:"sha256"` // of the original, in hexadecimal
	Edits   []precis.Edit `json:"edits"`  // in addition to edits recorded by the format itself

	Original []byte `json:"-"`
}

const containerVersion = 1

// MaxEdits is the most edits in precis's own file. Conversations have some hundred.
const MaxEdits = 20_000

var containerHead = []byte(`{"precis":`)

// IsContainer reports whether data is precis's own file.
func IsContainer(data []byte) bool { return bytes.HasPrefix(data, containerHead) }

// NewContainer wraps an original recording.
func NewContainer(format, path string, original []byte) *Container {
	sum := sha256.Sum256(original)
	return &Container{
		Version: containerVersion, Format: format, Name: filepath.Base(path),
		Size: len(original), SHA256: hex.EncodeToString(sum[:]), Original: original,
	}
}

// Bytes returns the file's content. The error is [precis.CodeInvalid] for more than [MaxEdits]
// edits.
func (c *Container) Bytes() ([]byte, error) {
	if err := c.countEdits(); err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, "write container", "%w", err)
	}
	head, err := json.Marshal(c)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "write container", "%w", err)
	}
	out := make([]byte, 0, len(head)+1+len(c.Original))
	out = append(append(out, head...), '\n')
	return append(out, c.Original...), nil
}

// ParseContainer reads precis's own file and verifies that the original is complete. The error has
// no code and no path.
func ParseContainer(data []byte) (*Container, error) {
	head, original, ok := bytes.Cut(data, []byte{'\n'})
	if !ok {
		return nil, errors.New("the file ends in its first line")
	}
	c := &Container{}
	if err := json.Unmarshal(head, c); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if c.Version != containerVersion {
		return nil, fmt.Errorf("written by a newer precis (version %d of the file, this one reads %d)",
			c.Version, containerVersion)
	}
	if err := c.countEdits(); err != nil {
		return nil, err
	}
	if len(original) != c.Size {
		return nil, fmt.Errorf("the original is %d bytes, %d were saved: the file was cut off or changed",
			len(original), c.Size)
	}
	if sum := sha256.Sum256(original); hex.EncodeToString(sum[:]) != c.SHA256 {
		return nil, errors.New("the original is not the one that was saved: its SHA-256 differs")
	}
	c.Original = original
	return c, nil
}

func (c *Container) countEdits() error {
	if n := len(c.Edits); n > MaxEdits {
		return fmt.Errorf("%d edits are more than the %d that are read", n, MaxEdits)
	}
	return nil
}

func readContainer(src Source, formats []Format) (*Recording, error) {
	c, err := ParseContainer(src.Data)
	if err != nil {
		return nil, Invalid(src.Path, err)
	}
	r, err := c.Read(src.Path, formats)
	if err != nil {
		return nil, err
	}
	c.Apply(r)
	return r, nil
}

// fits reports whether the edits were made on the messages of a recording.
func (c *Container) fits(r *Recording) bool {
	t := r.Conversation.Transcript
	return !slices.ContainsFunc(c.Edits,
		func(e precis.Edit) bool { return e.Seen > t.Len() || t.Fingerprint(e.Seen) != e.At })
}

// withoutBroken returns lines of JSON. In each line the text after the first fault is replaced by
// spaces.
func withoutBroken(data []byte) []byte {
	out := bytes.Clone(data)
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) == 0 || objectLine(line) == nil {
			continue
		}
		end := 0
		for v, err := range jsonspan.Values(line) {
			if err == nil {
				end = v.Offset + len(v.Raw)
			}
		}
		copy(line[end:], bytes.Repeat([]byte{' '}, len(line)-end))
	}
	return out
}

// Read reads the original without the container's edits. Path is the container's.
func (c *Container) Read(path string, formats []Format) (*Recording, error) {
	for _, f := range formats {
		if f.Name() != c.Format {
			continue
		}
		r, err := readAs(f, Source{Path: path, Data: c.Original})
		if err == nil && !c.fits(r) {
			// Earlier versions skipped records after a fault in a line, so their edits number
			// messages without those.
			if before, failed := readAs(f,
				Source{Path: path, Data: withoutBroken(c.Original)}); failed == nil && c.fits(before) {
				r = before
			}
		}
		return r, err
	}
	return nil, Invalid(path, fmt.Errorf("holds a recording of unknown format %q", c.Format))
}

// Apply adds the container's edits to the recording of its original. An edit that is there already
// or crosses another one is removed from both with a warning, so that the others can still be used
// and undone.
func (c *Container) Apply(r *Recording) {
	conv := r.Conversation
	checker := precis.NewEditChecker(conv.Transcript, conv.Edits)
	var kept []precis.Edit
	for _, e := range c.Edits {
		if err := checker.Add(e); err != nil {
			r.Warn("edit "+e.ID, "left out: %v", err)
			continue
		}
		kept = append(kept, e)
	}
	conv.Edits = append(conv.Edits, kept...)
	c.Edits = kept
}
