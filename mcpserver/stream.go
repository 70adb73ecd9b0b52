package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis/internal/jsonspan"
)

// stream is a connection over two streams with one message per line. A line that is no message is
// answered with an error, as JSON-RPC 2.0 requires, and reading continues. IDs are returned exactly
// as received, even numbers that a float64 cannot hold.
type stream struct {
	in       io.Reader
	out      io.Writer
	incoming chan jsonrpc.Message
	ended    error // why reading ended; valid once incoming is closed
	closed   chan struct{}
	close    sync.Once

	mu  sync.Mutex        // guards the following fields, and writing
	ids map[string]string // original IDs of calls, by the IDs that replace them internally
	n   int
}

// mostMessage bounds a message, in bytes; longer ones are refused.
const mostMessage = 64 << 20

// lineTransport makes a [stream] of streams.
type lineTransport struct {
	in  io.Reader
	out io.Writer
}

// Connect starts reading.
func (t lineTransport) Connect(context.Context) (mcp.Connection, error) {
	l := &stream{in: t.in, out: t.out, incoming: make(chan jsonrpc.Message), closed: make(chan struct{}),
		ids: map[string]string{}}
	go l.read()
	return l, nil
}

// SessionID is empty: streams have one session.
func (*stream) SessionID() string { return "" }

// Close ends the connection. The streams belong to the caller.
func (l *stream) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// Read returns the next message, io.EOF at the end of the input.
func (l *stream) Read(ctx context.Context) (jsonrpc.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case msg, more := <-l.incoming:
		if !more {
			return nil, l.ended
		}
		return msg, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, io.EOF
	}
}

// read reads lines until the input ends.
func (l *stream) read() {
	defer close(l.incoming)
	r := bufio.NewReaderSize(l.in, 64<<10)
	for {
		line, err := readLine(r)
		if errors.Is(err, bufio.ErrTooLong) {
			l.refuse(jsonrpcInvalid, "null", fmt.Sprintf("a message has more than %d bytes", mostMessage))
			continue
		}
		if line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\ufeff"))); len(line) > 0 &&
			!l.take(line) {
			l.ended = io.EOF
			return
		}
		if err != nil {
			l.ended = err
			return
		}
	}
}

// readLine returns the next line; bufio.ErrTooLong for a line longer than mostMessage, which is
// skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > mostMessage; !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			return nil, bufio.ErrTooLong
		}
		return line, err
	}
}

// Codes of JSON-RPC 2.0.
const (
	jsonrpcParse   = -32700
	jsonrpcInvalid = -32600
)

// take delivers a line, or answers it with an error. It returns false when the connection is
// closed.
func (l *stream) take(line []byte) bool {
	if err := jsonspan.Valid(line); err != nil {
		l.refuse(jsonrpcParse, "null", "this line is no JSON: "+err.Error())
		return true
	}
	if line[0] != '[' {
		return l.message(line)
	}
	n := 0
	for item, err := range jsonspan.Array(line) { // a batch: each is answered on a line of its own
		if err != nil {
			break
		}
		if n++; !l.message(item.Raw) {
			return false
		}
	}
	if n == 0 {
		l.refuse(jsonrpcInvalid, "null", "the batch is empty")
	}
	return true
}

func (l *stream) message(raw []byte) bool {
	id := "null"
	if f := jsonspan.Field(raw, "id"); jsonspan.Kind(raw) == '{' && f != nil {
		switch jsonspan.Kind(f) {
		case '"', '0', 'n':
			id = string(f)
		}
	}
	msg, err := jsonrpc.DecodeMessage(l.withInternalID(raw))
	if err != nil {
		l.refuse(jsonrpcInvalid, id, err.Error())
		return true
	}
	select {
	case l.incoming <- msg:
		return true
	case <-l.closed:
		return false
	}
}

// withInternalID returns a message with its ID, and the ID of a call that it cancels, replaced by an
// internal one where necessary.
func (l *stream) withInternalID(raw []byte) []byte {
	raw = l.rename(raw, true, "id")
	if method, _ := jsonspan.String(jsonspan.Field(raw, "method")); method == "notifications/cancelled" {
		raw = l.rename(raw, false, "params", "requestId")
	}
	return raw
}

// rename replaces the number at a path by an internal ID, unless it is a plain one.
func (l *stream) rename(raw []byte, opens bool, path ...string) []byte {
	if jsonspan.Kind(raw) != '{' {
		return raw
	}
	at := raw
	for _, name := range path {
		at = jsonspan.Field(at, name)
	}
	if jsonspan.Kind(at) != '0' || isPlain(string(at)) {
		return raw
	}
	l.mu.Lock()
	name := ""
	for inside, id := range l.ids {
		if id == string(at) {
			name = inside
		}
	}
	if name == "" && opens {
		l.n++
		name = "precis-id-" + strconv.Itoa(l.n) + "-" + string(at)
		l.ids[name] = string(at)
	}
	l.mu.Unlock()
	if name == "" {
		return raw
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	value := json.RawMessage(strconv.Quote(name))
	if len(path) == 2 {
		var params map[string]json.RawMessage
		if json.Unmarshal(fields[path[0]], &params) != nil {
			return raw
		}
		params[path[1]] = value
		value, _ = json.Marshal(params)
	}
	fields[path[0]] = value
	out, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return out
}

// isPlain reports whether a number is an integer that a float64 can hold, written in canonical
// form.
func isPlain(number string) bool {
	const digits = 15
	n := strings.TrimPrefix(number, "-")
	return len(n) <= digits && strings.Trim(n, "0123456789") == "" && number != "-0" &&
		(n == "0" || n[0] != '0')
}

// Write sends a message.
func (l *stream) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := msg.(*jsonrpc.Response); ok {
		if name, ok := r.ID.Raw().(string); ok && l.ids[name] != "" {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(data, &fields); err != nil {
				return err
			}
			fields["id"] = json.RawMessage(l.ids[name])
			if data, err = json.Marshal(fields); err != nil {
				return err
			}
			delete(l.ids, name)
		}
	}
	_, err = l.out.Write(append(data, '\n'))
	return err
}

// refuse answers a line with an error. A client that has gone is detected elsewhere.
func (l *stream) refuse(code int, id, why string) {
	text, _ := json.Marshal(why)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code,
		text)
}
