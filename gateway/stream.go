package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"precis"
	"precis/internal/jsonspan"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// passOn passes a response on as it comes. A stream that is cut upstream is cut
// for the client as well: a clean end would look like a whole answer.
func (t *turn) passOn(in *incoming) {
	defer in.close()
	t.out.Lock()
	defer t.out.Unlock()
	if t.begun && in.res.StatusCode != http.StatusOK { // kept alive meanwhile
		t.status = in.res.StatusCode
		t.failStreamLocked(in.head)
		return
	}
	if !t.begun {
		t.begin(in)
	}
	t.first = time.Since(t.start)
	out := http.NewResponseController(t.w)
	in.to = t.client(in)
	in.to = t.merge(in)
	_, err := in.to.Write(in.head)
	if err == nil && !in.whole {
		err = t.copy(in, out)
	}
	if in.whole && in.err != nil && !errors.Is(in.err, io.EOF) {
		err = in.err
	}
	if err == nil {
		err = t.recallOn(in, out)
	}
	if in.rewriter != nil {
		_ = in.rewriter.Close() // a client that has gone hears nothing
	}
	in.events.Flush()
	t.recall.sum(&t.answer)
	t.told(in)
	if err != nil {
		t.broken(err)
	}
}

// copy passes the rest of a response on, each piece as soon as it comes.
func (t *turn) copy(in *incoming, out *http.ResponseController) error {
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
			if _, werr := in.to.Write(buf[:n]); werr != nil {
				return errClient{werr}
			}
			if in.stream {
				_ = out.Flush()
			}
		}
		if errors.Is(err, io.EOF) {
			if !in.stream && t.dialect != nil {
				t.dialect.Observe(&t.answer, append(in.head[:len(in.head):len(in.head)], whole...))
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxWhole is the longest answer without a stream whose usage is read.
const maxWhole = 4 << 20

// errClient is a failure to write to the client.
type errClient struct{ error }

// broken ends a response that cannot be finished.
func (t *turn) broken(err error) {
	var gone errClient
	if errors.As(err, &gone) || t.r.Context().Err() != nil {
		t.err = precis.Errorf(precis.CodeCanceled, "answer", "the client has gone")
		panic(http.ErrAbortHandler)
	}
	t.err = precis.Errorf(precis.CodeUpstream, "answer", "the upstream broke off: %s", plainError(err))
	panic(http.ErrAbortHandler) // the client must see it, too
}

// told takes in what the answer told, after it was passed on.
func (t *turn) told(in *incoming) {
	if t.held == nil || in.res.StatusCode >= 400 || !t.managed || !t.remembered() {
		return
	}
	t.held.answered(t)
	t.g.saver.answered(t)
	t.g.windows.taken(t.windowKey(), t.answer.Input)
	if t.answer.Input > 0 && t.answer.Error == nil {
		_ = t.mgr.With(nil).Observe(context.WithoutCancel(t.r.Context()), t.report, t.answer.Input) // without a store nothing fails
	}
}

// keepAlive keeps a streaming request alive while it waits: after a while its
// response begins, with signs of life that clients pass over. The returned
// function ends that.
func (t *turn) keepAlive() (stop func()) {
	if !t.found.Prompt.Stream || t.work != workTurn {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(t.g.o.KeepAlive)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.r.Context().Done():
				return
			case <-tick.C:
				t.beat()
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-ended })
}

// beat sends a sign of life.
func (t *turn) beat() {
	t.out.Lock()
	defer t.out.Unlock()
	if !t.begun {
		h := t.w.Header()
		h.Set("Content-Type", "text/event-stream; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set(headerConv, t.found.Line.ID)
		t.w.WriteHeader(http.StatusOK)
		t.begun, t.status = true, http.StatusOK
	}
	sign := ": precis is condensing the conversation\n\n"
	if t.dialect.Name() == anthropic.Format {
		sign = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
	}
	_, _ = io.WriteString(t.w, sign) // a client that has gone ends the request
	_ = http.NewResponseController(t.w).Flush()
}

// failStream tells an error in a stream that has begun.
func (t *turn) failStream(body []byte) {
	t.out.Lock()
	defer t.out.Unlock()
	t.failStreamLocked(body)
}

func (t *turn) failStreamLocked(body []byte) {
	if jsonspan.Valid(body) != nil {
		body = errorBody(t.route, "api_error", firstLine(string(body), 500))
	}
	var event []byte
	switch t.dialect.Name() {
	case anthropic.Format:
		event = append([]byte("event: error\ndata: "), unbroken(body)...)
	case responses.Format:
		e := jsonspan.Field(body, "error")
		message, _ := jsonspan.String(jsonspan.Field(e, "message"))
		code, _ := jsonspan.String(jsonspan.Field(e, "code"))
		event = jsonspan.AppendStringField([]byte(`event: error`+"\n"+`data: {"type":"error","sequence_number":0`), "code", code)
		event = append(jsonspan.AppendStringField(event, "message", message), `,"param":null}`...)
	default:
		event = append([]byte("data: "), unbroken(body)...)
	}
	_, _ = t.w.Write(append(event, "\n\n"...)) // a client that has gone hears nothing
	_ = http.NewResponseController(t.w).Flush()
}

// unbroken returns JSON without line breaks, which stand between values only.
func unbroken(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for _, c := range body {
		if c != '\n' && c != '\r' {
			out = append(out, c)
		}
	}
	return out
}
