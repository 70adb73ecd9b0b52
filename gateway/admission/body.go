package admission

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"precis"
	"precis/internal/contentcoding"
)

const opRead = "read request"

// Body is the body of a request.
type Body struct {
	Bytes      []byte // without compression
	Compressed bool   // it came compressed
	Encoded    bool   // it is compressed in a way that is not known here; Bytes are as they came

	memory *memory
	held   int64
}

// TooLarge is the error of a body over the limit. It is [precis.CodeInvalid].
type TooLarge struct{ error }

// Unwrap returns what is too large.
func (e TooLarge) Unwrap() error { return e.error }

// TooSlow is the error of a body that does not come. It is [precis.CodeInvalid].
type TooSlow struct{ error }

// Unwrap returns what is too slow.
func (e TooSlow) Unwrap() error { return e.error }

// Cost is what one byte of a body uses until it is answered, in bytes: the body,
// its messages, its view, and the request that is sent.
const Cost = 4

// Read reads the body of a request and takes its compression away, see package contentcoding. A
// body takes memory as it comes, not as it is announced, and must keep coming: see
// [Pace]. Release gives its memory back and is to be called when the request is
// answered. The error is [TooLarge], [TooSlow], [Busy], or [precis.CodeInvalid] for
// a compression that is broken.
func (g *Gate) Read(w http.ResponseWriter, r *http.Request) (*Body, error) {
	b := &Body{memory: &g.memory}
	if err := b.read(w, r, g.limits.Body); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// Release gives the memory back. It is to be called once, also on nil.
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

// Compression beyond these is no conversation's: the cost of reading one that was
// made to be large is the sender's, too.
const (
	mostRatio  = 200
	ratioAfter = 4 << 20 // bytes without compression
)

// step is how many bytes a body is given room for before any has come.
const step = 64 << 10

// fill reads everything; size is how much that is, -1 when it is unknown. It gives
// twice the room each time, so that there is never more of it than twice of what
// has come.
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
		n = min(n, size+1) // and one to see the end
	}
	if more := n*Cost - b.held; more > 0 {
		if !b.memory.take(r.Context().Done(), b.held, more) {
			return Busy{precis.Errorf(precis.CodeUpstream, "accept request", "the requests under way use all the memory that is for them")}
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
	return TooLarge{invalid("the request body is larger than %d bytes", limit)}
}

// failed names why a body cannot be read.
func failed(err error, limit int64) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return TooSlow{invalid("the request body does not come: %d bytes are wanted every %v", leastPace, paceOver)}
	}
	return invalid("%w", err)
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// A body that comes slower than this is given up, and an answer that is not read
// for so long: connections that only wait must not take the room of others.
const (
	paceOver  = 30 * time.Second
	leastPace = 64 << 10 // bytes
	unread    = 2 * time.Minute
)

// Pace returns a body whose reading fails with [os.ErrDeadlineExceeded] unless
// 64 KB, or the rest of it, come every 30 seconds. Where w cannot set deadlines it
// is as slow as it likes.
func Pace(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return &paced{ReadCloser: body, conn: http.NewResponseController(w)}
}

type paced struct {
	io.ReadCloser
	conn *http.ResponseController
	due  int // bytes until the deadline moves
	err  error
}

func (p *paced) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	if p.due <= 0 {
		_ = p.conn.SetReadDeadline(time.Now().Add(paceOver))
		p.due = leastPace
	}
	n, err := p.ReadCloser.Read(b)
	p.due -= n
	if err != nil { // the deadline is not for what comes after the body
		p.err = err
		_ = p.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Writer is an [http.ResponseWriter] whose writes fail when the client reads
// nothing for two minutes. Make one with [NewWriter].
type Writer struct {
	http.ResponseWriter
	conn *http.ResponseController
	set  time.Time // when the deadline was set; zero: there is none
}

// NewWriter returns a writer to w.
func NewWriter(w http.ResponseWriter) *Writer {
	return &Writer{ResponseWriter: w, conn: http.NewResponseController(w)}
}

// Close sends what is left and takes the deadline away: the connection is used for
// other responses.
func (w *Writer) Close() {
	if !w.set.IsZero() {
		_ = w.conn.Flush() // a client that has gone hears nothing
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

// Unwrap returns the writer that is written to.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
