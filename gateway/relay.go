package gateway

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"precis"
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// maxWhole is the longest answer without a stream that is read whole.
const maxWhole = 4 << 20

// relay passes a response on as it comes, through what polyfills and the
// gateway's own tools add to it. A stream that is cut upstream is cut for the client as well: a
// clean end would look like a whole answer. P is nil for a request that was
// forwarded unchanged.
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
	if o.begun && in.res.StatusCode != http.StatusOK { // kept alive meanwhile
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
		p.learnLate(in)
	}
	if err != nil {
		x.broken(err)
	}
}

// pipe is the way of a response to the client.
type pipe struct {
	*exchange
	p       *plan
	in      *reply
	to      io.Writer // the client, behind what changes the response
	closing io.Closer // ends that; nil: nothing does
	answerer
}

// run relays the response and, at the end of a stream, what the model says after
// its calls of the gateway's own tools were answered.
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
		err = p.goOn(out)
	}
	if p.closing != nil {
		_ = p.closing.Close() // a client that has gone hears nothing
	}
	p.in.events.Flush()
	if p.times > 0 {
		p.sum(&p.answer)
	}
	return err
}

// copy relays the rest of a response, each piece as soon as it comes.
func (p *pipe) copy(in *reply, out *http.ResponseController) error {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	buf := *pooled
	if len(in.head) > 0 {
		_ = out.Flush() // a writer that cannot flush has nothing to
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
			if !in.stream && p.dialect != nil {
				p.dialect.Observe(&p.answer, append(in.head[:len(in.head):len(in.head)], whole...))
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

// broken ends a response that cannot be finished.
func (x *exchange) broken(err error) {
	var gone errClient
	if errors.As(err, &gone) || x.r.Context().Err() != nil {
		x.err = precis.Errorf(precis.CodeCanceled, "answer", "the client has gone")
		panic(http.ErrAbortHandler)
	}
	x.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream broke off: %s", plainError(err))
	panic(http.ErrAbortHandler) // the client must see it, too
}
