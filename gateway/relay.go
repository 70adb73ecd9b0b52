package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway/upstream"
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// maxWhole is the longest non-streaming answer, in bytes, that is read whole.
const maxWhole = 4 << 20

// relay forwards a response as it arrives, through the filters of polyfills and of the gateway's
// own tools. A stream that breaks off upstream also breaks off for the client, because a clean end
// would look like a complete answer. P is nil for a request that was forwarded unchanged.
func (x *exchange) relay(p *plan, out composed, in *reply) {
	defer func() { _ = in.close() }()
	pipe := &pipe{exchange: x, p: p, in: in, to: x.out.w}
	if p != nil {
		pipe.answerer = answerer{sent: out}
		if len(out.tools) > 0 {
			pipe.answerWhole()
		}
		if p.poly.Active {
			pipe.polyfillWhole()
		}
	}
	o := &x.out
	o.mu.Lock()
	defer o.mu.Unlock()
	in = pipe.in
	if o.begun && in.res.StatusCode != http.StatusOK { // the response has begun with keep-alive bytes
		o.status = in.res.StatusCode
		o.failStream(in.head)
		return
	}
	if !o.begun {
		o.begin(in, x.describe)
	}
	o.first = time.Since(o.start)
	if p != nil && p.poly.Active {
		pipe.polyfillStream()
	}
	if len(out.tools) > 0 {
		pipe.mergeStream()
	}
	err := pipe.run()
	if in.res.StatusCode < 400 {
		x.record()
		if err == nil || x.answer.Done { // some clients leave at the end marker
			x.noteSummary()
		}
	}
	if p != nil {
		p.recordLateOverflow(in)
	}
	if err != nil {
		x.abortResponse(err)
	}
}

// pipe relays one response to the client.
type pipe struct {
	*exchange
	p       *plan
	in      *reply
	to      io.Writer // writes to the client, through the filters
	closing io.Closer // closes the filters; nil: there are no filters
	answerer
}

// run relays the response. At the end of a stream, it answers calls of the gateway's own tools and
// relays the model's further output.
func (p *pipe) run() error {
	out := http.NewResponseController(p.out.w)
	_, err := p.to.Write(p.in.head)
	if err == nil && !p.in.whole {
		err = p.copy(p.in, out)
	}
	if p.in.whole && p.in.err != nil && !errors.Is(p.in.err, io.EOF) {
		err = p.in.err
	}
	if err == nil && p.merger != nil {
		err = p.answerCalls(out)
	}
	if p.closing != nil {
		_ = p.closing.Close() // fails only if the client has gone
	}
	p.in.events.Flush()
	if p.times > 0 {
		p.sum(&p.answer)
	}
	return err
}

// copy relays the rest of a response, each piece as soon as it arrives.
func (p *pipe) copy(in *reply, out *http.ResponseController) error {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf := *pooled
	if len(in.head) > 0 {
		_ = out.Flush() // fails only for a writer without a buffer
	}
	var whole []byte
	for {
		n, err := in.res.Body.Read(buf)
		if n > 0 {
			if in.stream {
				_, _ = in.events.Write(buf[:n])
			} else if len(whole)+n <= maxWhole {
				whole = append(whole, buf[:n]...)
			}
			if _, werr := p.to.Write(buf[:n]); werr != nil {
				return errClient{werr}
			}
			if in.stream {
				_ = out.Flush()
			}
		}
		if errors.Is(err, io.EOF) {
			if !in.stream && p.Dialect != nil {
				p.Dialect.Observe(&p.answer, append(in.head[:len(in.head):len(in.head)], whole...))
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// errClient is a failure to write to the client.
type errClient struct{ error }

// abortResponse ends a response that cannot be finished.
func (x *exchange) abortResponse(err error) {
	var gone errClient
	if errors.As(err, &gone) || x.r.Context().Err() != nil {
		x.err = precis.Errorf(precis.CodeCanceled, "answer", "the client has gone")
		panic(http.ErrAbortHandler)
	}
	x.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream broke off: %s", upstream.PlainError(err))
	panic(http.ErrAbortHandler) // the client must see the break, too
}
