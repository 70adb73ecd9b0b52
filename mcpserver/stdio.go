package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis"
)

// Serve serves one client over two streams, one message per line, until the input or ctx ends.
// Requests read before the end of the input are still answered. The error is a [precis.Error]; nil
// when the client or ctx has ended it.
func Serve(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	err := New(o).Run(ctx, stdio{lineTransport{in, out}})
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return precis.Errorf(precis.CodeInternal, "serve agent", "%w", err)
}

// stdio is a transport that reports the end of the input only after all calls are answered.
type stdio struct{ lineTransport }

// Connect connects the streams.
func (t stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.lineTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &callTracker{Connection: c, calls: map[jsonrpc.ID]bool{}, asked: map[jsonrpc.ID]bool{},
		settled: make(chan struct{}, 1)}, nil
}

// callTracker is a connection that tracks unanswered calls.
type callTracker struct {
	mcp.Connection
	settled chan struct{} // has room for one signal that a call was answered

	mu    sync.Mutex
	calls map[jsonrpc.ID]bool // by the client
	asked map[jsonrpc.ID]bool // by us
}

// Read returns the next message. At the end of the input it waits for the answers to calls, unless
// one of them waits for an answer itself.
func (p *callTracker) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := p.Connection.Read(ctx)
	if err == nil {
		p.recordMessage(msg, p.calls, p.asked)
		return msg, nil
	}
	for errors.Is(err, io.EOF) && p.hasOpenCalls() {
		select {
		case <-p.settled:
		case <-ctx.Done():
			return nil, err
		}
	}
	return nil, err
}

// Write sends a message.
func (p *callTracker) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := p.Connection.Write(ctx, msg)
	p.recordMessage(msg, p.asked, p.calls)
	select {
	case p.settled <- struct{}{}:
	default:
	}
	return err
}

// recordMessage records a call in open, or removes an answered one from answered.
func (p *callTracker) recordMessage(msg jsonrpc.Message, open, answered map[jsonrpc.ID]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		delete(answered, msg.ID)
	case *jsonrpc.Request:
		if msg.IsCall() {
			open[msg.ID] = true
		} else if msg.Method == "notifications/cancelled" {
			delete(open, canceledBy(msg))
		}
	}
}

// canceledBy returns the ID of the call that a notification cancels.
func canceledBy(r *jsonrpc.Request) (id jsonrpc.ID) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(r.Params, &p) == nil {
		id, _ = jsonrpc.MakeID(p.ID) // no call has an ID of another kind
	}
	return id
}

func (p *callTracker) hasOpenCalls() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) > 0 && len(p.asked) == 0
}
