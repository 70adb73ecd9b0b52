package gateway

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/klauspost/compress/zstd"

	"precis"
)

const opRead = "read request"

// errTooLarge is a body over the limit.
type errTooLarge struct{ limit int64 }

func (e errTooLarge) Error() string {
	return fmt.Sprintf("the request body is larger than %d bytes", e.limit)
}

// readBody reads a request body and takes its compression away. A body that is
// compressed in another way than gzip or zstd is returned as it is, with plain
// false.
func readBody(r *http.Request, limit int64) (body []byte, plain bool, err error) {
	var from io.Reader = http.MaxBytesReader(nil, r.Body, limit)
	size := r.ContentLength
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
		plain = true
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(from)
		if err != nil {
			return nil, false, precis.Errorf(precis.CodeInvalid, opRead, "gzip body: %w", err)
		}
		from, size, plain = io.LimitReader(z, limit+1), -1, true
	case "zstd":
		z, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)+1))
		if err != nil {
			return nil, false, precis.Errorf(precis.CodeInvalid, opRead, "zstd body: %w", err)
		}
		defer z.Close()
		from, size, plain = io.LimitReader(z, limit+1), -1, true
	}
	body, err = readAll(from, size, limit)
	return body, plain, err
}

// readAll reads at most limit bytes; size is the expected number, -1 when it is
// unknown.
func readAll(from io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, errTooLarge{limit}
	}
	var buf bytes.Buffer
	if size > 0 {
		buf.Grow(int(size) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(from)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over), err == nil && int64(buf.Len()) > limit:
		return nil, errTooLarge{limit}
	case err != nil:
		return nil, precis.Errorf(precis.CodeInvalid, opRead, "%w", err)
	}
	return buf.Bytes(), nil
}
