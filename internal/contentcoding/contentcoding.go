// Package contentcoding reads bodies of HTTP that are compressed (RFC 9110 §8.4), in the codings of
// package compressed.
package contentcoding

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/compressed"
)

// Unpack makes a response's body decompress on reading, and removes headers that no longer apply.
// Responses without a coding stay unchanged; so do those with an unknown one, and then Unpack
// reports false. Malformed data fails on reading.
func Unpack(res *http.Response) bool {
	body, coded, known := Decode(res.Header, res.Body)
	if !coded || !known {
		return known
	}
	res.Body, res.ContentLength, res.Uncompressed = body, -1, true
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	return true
}

// Decode returns a reader that decompresses the codings in the headers of a body, and whether there
// are any; the body itself if one of them is unknown. Malformed data fails on reading.
func Decode(header http.Header, body io.ReadCloser) (plain io.ReadCloser, coded, known bool) {
	var codings []string
	for _, h := range header.Values("Content-Encoding") {
		for c := range strings.SplitSeq(h, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				codings = append(codings, c)
			}
		}
	}
	const most = 3 // for nested codings
	for _, c := range codings {
		if len(codings) > most || compressed.Reader(c) == nil {
			return body, true, false
		}
	}
	for i := len(codings) - 1; i >= 0; i-- { // the last was applied last
		body = &unpacked{packed: body, coding: codings[i], open: compressed.Reader(codings[i])}
	}
	return body, len(codings) > 0, true
}

// unpacked is a body that is decoded while it is read. A stream gives what has come.
type unpacked struct {
	packed io.ReadCloser
	coding string
	open   func(io.Reader) (io.Reader, error)

	mu      sync.Mutex
	decoder io.Reader // nil until the first read
	err     error     // of the decoder
}

// Read returns decompressed data.
func (u *unpacked) Read(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.err != nil {
		return 0, u.err
	}
	if u.decoder == nil {
		d, err := u.open(u.packed)
		if errors.Is(err, io.EOF) { // an empty body
			return 0, io.EOF
		}
		if err != nil {
			u.err = fmt.Errorf("this is no %s: %w", u.coding, err)
			return 0, u.err
		}
		u.decoder = d
	}
	n, err := u.decoder.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		u.err = fmt.Errorf("this is no whole %s: %w", u.coding, err)
		err = u.err
	}
	return n, err
}

// Close closes the compressed body. That ends a Read in progress.
func (u *unpacked) Close() error {
	err := u.packed.Close()
	if u.mu.TryLock() {
		defer u.mu.Unlock()
		if c, ok := u.decoder.(io.Closer); ok {
			_ = c.Close()
		}
	}
	return err
}
