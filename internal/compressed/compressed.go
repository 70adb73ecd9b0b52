// Package compressed answers how to read gzip, deflate, br and zstd (RFC 1952, 1951, 7932, 8878).
// [Reader] reads a stream by the name of its coding; [File] recognizes a file by its first bytes.
package compressed

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Reader returns the function that opens a stream of a coding, named in lower case as in HTTP; nil
// for an unknown coding.
func Reader(coding string) func(io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		return inflate
	case "br":
		return func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "zstd":
		return func(r io.Reader) (io.Reader, error) { return unzstd(r, httpWindow) }
	}
	return nil
}

// inflate reads deflate in the format of zlib, as specified, or bare, as some servers send it.
func inflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// Windows of zstd in bytes, which bound the memory of a decoder. RFC 9659 allows 8 MB for HTTP.
// Programs refuse files of more than 128 MB by default.
const (
	httpWindow = 8 << 20
	fileWindow = 128 << 20
)

func unzstd(r io.Reader, window uint64) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// files are the codings of files by their first bytes.
var files = []struct {
	begin, name string
	open        func(io.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", "gzip", Reader("gzip")},
	{"\x28\xb5\x2f\xfd", "zstd", func(r io.Reader) (io.Reader, error) { return unzstd(r, fileWindow) }},
}

// Is reports whether data begins like a compressed file.
func Is(data []byte) bool {
	for _, f := range files {
		if bytes.HasPrefix(data, []byte(f.begin)) {
			return true
		}
	}
	return false
}

// ErrTooLarge is the cause of an error of [File], for [errors.Is].
var ErrTooLarge = errors.New("too much is compressed")

// ratio bounds the size of the content relative to the file. Texts reach 100.
const ratio = 1000

// File returns the content of a file compressed with gzip or zstd, and other data unchanged. The
// error says that the file is damaged, or that its content exceeds most bytes or 1000 times its own
// size. A damaged file's content before the damage is returned; for one too large no content is.
func File(data []byte, most int) ([]byte, error) {
	for _, f := range files {
		if !bytes.HasPrefix(data, []byte(f.begin)) {
			continue
		}
		most = min(most, ratio*len(data))
		n, broken := unpack(io.Discard, f.open, data, most+1)
		if n > most {
			return nil, fmt.Errorf("%w: more than %d bytes by %s into %d", ErrTooLarge, most, f.name,
				len(data))
		}
		if broken != nil {
			broken = fmt.Errorf("what %s has compressed is damaged: %w", f.name, broken)
		}
		out := bytes.NewBuffer(make([]byte, 0, n+bytes.MinRead))
		_, _ = unpack(out, f.open, data, n)
		return out.Bytes(), broken
	}
	return data, nil
}

// unpack decompresses data to a writer, at most most bytes, and returns the number written.
func unpack(to io.Writer, open func(io.Reader) (io.Reader, error), data []byte, most int) (int, error) {
	r, err := open(bytes.NewReader(data))
	if err != nil {
		return 0, err
	}
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	n, err := io.Copy(to, io.LimitReader(r, int64(most)))
	return int(n), err
}
