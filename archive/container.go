package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"precis"
)

// Container is precis's own file: any recording with precis's edits. Its form
// is one line of JSON, then the original bytes unchanged, so the recording can
// be taken out with any tool:
//
//	{"precis":1,"format":"codex","name":"rollout.jsonl","size":N,"sha256":"…","edits":[…]}\n
//	…N bytes…
type Container struct {
	Version int           `json:"precis"`
	Format  string        `json:"format"` // of the original
	Name    string        `json:"name"`   // base name of the original
	Size    int           `json:"size"`   // of the original, in bytes
	SHA256  string        `json:"sha256"` // of the original, in hexadecimal
	Edits   []precis.Edit `json:"edits"`  // added to those the format itself records

	Original []byte `json:"-"`
}

const containerVersion = 1

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

// Bytes returns the file's content.
func (c *Container) Bytes() ([]byte, error) {
	head, err := json.Marshal(c)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "write container", "%w", err)
	}
	out := make([]byte, 0, len(head)+1+len(c.Original))
	out = append(append(out, head...), '\n')
	return append(out, c.Original...), nil
}

// ParseContainer reads precis's own file and checks that the original is
// whole. The error is invalid.
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
		return nil, fmt.Errorf("written by a newer precis (version %d of the file, this one reads %d)", c.Version, containerVersion)
	}
	if len(original) != c.Size {
		return nil, fmt.Errorf("the original is %d bytes, %d were saved: the file was cut off or changed", len(original), c.Size)
	}
	if sum := sha256.Sum256(original); hex.EncodeToString(sum[:]) != c.SHA256 {
		return nil, errors.New("the original is not the one that was saved: its SHA-256 differs")
	}
	c.Original = original
	return c, nil
}

func readContainer(src Source, formats []Format) (*Recording, error) {
	c, err := ParseContainer(src.Data)
	if err != nil {
		return nil, invalid(src.Path, err)
	}
	for _, f := range formats {
		if f.Name() != c.Format {
			continue
		}
		r, err := readAs(f, Source{Path: src.Path, Data: c.Original})
		if err != nil {
			return nil, err
		}
		conv := r.Conversation
		for _, e := range c.Edits {
			if err := precis.CheckEdit(conv.Transcript, conv.Edits, e); err != nil {
				return nil, invalid(src.Path, fmt.Errorf("edit %s: %w", e.ID, err))
			}
			conv.Edits = append(conv.Edits, e)
		}
		return r, nil
	}
	return nil, invalid(src.Path, fmt.Errorf("holds a recording of unknown format %q", c.Format))
}
