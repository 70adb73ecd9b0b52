// Package packed holds what a program embeds of large texts in a small form: gzip. The text itself stays beside it in the
// folder, for people, and a test compares both.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Pack returns a text in its small form; the same text always has the same.
func Pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Text returns the text that [Pack] made smaller. It fails on anything else.
func Text(small []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(small))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
