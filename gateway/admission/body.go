package admission

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/contentcoding"
)

const opRead = "read request"

// Body is the body of a request.
type Body struct {
	Bytes      []byte // uncompressed
	Compressed bool   // it came compressed
	Encoded    bool   // its compression is unknown; Bytes are still compressed

	memory *memory
	held   int64
}

// TooLargeError is the error of a body over the limit. It is [precis.CodeInvalid].
type TooLargeError struct{ error }

// Unwrap returns the underlying error.
func (e TooLargeError) Unwrap() error { return e.error }

// TooSlowError is the error of a body that does not arrive in time. It is [precis.CodeInvalid].
type TooSlowError struct{ error }

// Unwrap returns the underlying error.
func (e TooSlowError) Unwrap() error { return e.error }

// MemoryFactor is how many bytes one byte of a body uses until it is answered: the body, its messages, its
// view, and the request that is sent.
const MemoryFactor = 4

// Read reads the body of a request and decompresses it, see package contentcoding. A body takes
// memory as it arrives, whatever length it announces, and must keep arriving: see [Pace]. Call
// Release when the request is answered. The error is [TooLargeError], [TooSlowError], [BusyError], or
// [precis.CodeInvalid] for broken compression.
func (g *Limiter) Read(w http.ResponseWriter, r *http.Request) (*Body, error) {
	b := &Body{memory: &g.memory}
	if err := b.read(w, r, g.limits.Body); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// Release releases the memory. It must be called once, also on nil.
func (b *Body) Release() {
	if b == nil {
		return
	}
	b.memory.give(b.held)
	b.held = 0
}

func (b *Body) read(w http.ResponseWriter, r *http.Request, limit int64) error {
	size := r.ContentLength
	if size > limit {
		return tooLarge(limit)
	}
	paced := Pace(w, r.Body)
	raw := &counted{from: http.MaxBytesReader(nil, paced, limit)}
	from, coded, known := contentcoding.Decode(r.Header, io.NopCloser(raw))
	defer from.Close()
	if b.Encoded, b.Compressed = !known, known && coded; b.Compressed {
		return b.fill(r, io.LimitReader(from, limit+1), -1, limit, raw)
	}
	return b.fill(r, from, size, limit, raw)
}

// No conversation has a higher compression ratio: this bounds the cost of a body that was crafted
// to expand.
const (
	mostRatio  = 200
	ratioAfter = 4 << 20 // bytes, uncompressed
)

// step is how many bytes are reserved for a body before any has arrived.
const step = 64 << 10

// fill reads the whole body; size is its length, -1 when unknown. It doubles the buffer each time,
// so that it holds at most twice the bytes that have arrived.
func (b *Body) fill(r *http.Request, from io.Reader, size, limit int64, raw *counted) error {
	for {
		if len(b.Bytes) == cap(b.Bytes) {
			if err := b.grow(r, size); err != nil {
				return err
			}
		}
		n, err := from.Read(b.Bytes[len(b.Bytes):cap(b.Bytes)])
		b.Bytes = b.Bytes[:len(b.Bytes)+n]
		has := int64(len(b.Bytes))
		switch {
		case has > limit, has > ratioAfter && b.Compressed && has > mostRatio*raw.n:
			return tooLarge(limit)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return failed(err, limit)
		}
	}
}

func (b *Body) grow(r *http.Request, size int64) error {
	n := max(step, 2*int64(cap(b.Bytes)))
	if size >= 0 {
		n = min(n, size+1) // one more to see the end
	}
	if more := n*MemoryFactor - b.held; more > 0 {
		if !b.memory.take(r.Context().Done(), b.held, more) {
			return BusyError{precis.Errorf(precis.CodeUpstream, "accept request",
				"the requests under way use all the memory that is for them")}
		}
		b.held += more
	}
	bytes := make([]byte, len(b.Bytes), max(n, int64(len(b.Bytes))+1))
	copy(bytes, b.Bytes)
	b.Bytes = bytes
	return nil
}

func invalid(format string, args ...any) error {
	return precis.Errorf(precis.CodeInvalid, opRead, format, args...)
}

func tooLarge(limit int64) error {
	return TooLargeError{invalid("the request body is larger than %d bytes", limit)}
}

// failed converts an error of reading a body.
func failed(err error, limit int64) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return TooSlowError{invalid("the request body does not come: %d bytes are wanted every %v", leastPace,
			paceOver)}
	}
	return invalid("%w", err)
}

// counted counts the bytes read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// A slower body is given up, and so is an answer left unread for this long: idle connections must
// not use up the room of others.
const (
	paceOver  = 30 * time.Second
	leastPace = 64 << 10 // bytes
	unread    = 2 * time.Minute
)

// Pace returns a body that fails with [os.ErrDeadlineExceeded] unless 64 KB, or the rest of it,
// arrive every 30 seconds. If w does not support deadlines, the pace is not limited.
func Pace(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return &pacedReader{ReadCloser: body, conn: http.NewResponseController(w)}
}

type pacedReader struct {
	io.ReadCloser
	conn *http.ResponseController
	due  int // bytes until the deadline moves
	err  error
}

func (p *pacedReader) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	if p.due <= 0 {
		_ = p.conn.SetReadDeadline(time.Now().Add(paceOver))
		p.due = leastPace
	}
	n, err := p.ReadCloser.Read(b)
	p.due -= n
	if err != nil { // the deadline must not apply to later reads on the connection
		p.err = err
		_ = p.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Writer is an [http.ResponseWriter] with writes that fail when the client reads no byte for two
// minutes. Make one with [NewWriter].
type Writer struct {
	http.ResponseWriter
	conn *http.ResponseController
	set  time.Time // when the deadline was set; zero: not set
}

// NewWriter returns a writer to w.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{ResponseWriter: w, conn: http.NewResponseController(w)}
}

// Close flushes the response and removes the deadline, because the connection is used for other
// responses.
func (w *Writer) Close() {
	if !w.set.IsZero() {
		_ = w.conn.Flush() // fails only if the client has gone
		_ = w.conn.SetWriteDeadline(time.Time{})
	}
}

func (w *Writer) Write(b []byte) (int, error) {
	if now := time.Now(); now.Sub(w.set) > time.Second {
		w.set = now
		_ = w.conn.SetWriteDeadline(now.Add(unread))
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the underlying writer.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
