// Package packed holds what a program embeds of large texts and tables in a small form: its length in
// four bytes, the lowest first, and brotli (RFC 7932). Of texts that people read, the text itself stays
// beside it in the folder, and a test compares both.
package packed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
)

const lengthSize = 4

// Pack returns a text of less than 4 GiB in its small form; the same text always has the same.
func Pack(text []byte) ([]byte, error) {
	out := bytes.NewBuffer(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
	// A reader takes as much memory as the window, which holds the text.
	window := min(max(bits.Len(uint(len(text))), 10), 24)
	w := brotli.NewWriterOptions(out, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: window})
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
	if len(small) < lengthSize {
		return nil, io.ErrUnexpectedEOF
	}
	out := bytes.NewBuffer(make([]byte, 0, int(min(binary.LittleEndian.Uint32(small), 1<<24))+bytes.MinRead))
	n, err := out.ReadFrom(brotli.NewReader(bytes.NewReader(small[lengthSize:])))
	if err == nil && n != int64(binary.LittleEndian.Uint32(small)) {
		err = errors.New("the text has another length")
	}
	return out.Bytes(), err
}
