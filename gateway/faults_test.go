package gateway_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/store/memory"
)

// A fault is something that goes wrong, and what the client is to see of it.
type fault struct {
	name string
	want string
	run  func(t *testing.T) string // what the client saw
}

// TestFaults prints a table of what goes wrong and what a client sees.
func TestFaults(t *testing.T) {
	t.Parallel()
	faults := []fault{
		{"upstream cuts the stream", "2 events, then the connection broke", cutStream},
		{"upstream resets the connection", "2 events, then the connection broke", resetStream},
		{"upstream cannot be reached", "502 in the API's shape, marked as the gateway's", unreachable},
		{"upstream closes before it answers", "502 in the API's shape, marked as the gateway's", closesAtOnce},
		{"upstream answers 529 with Retry-After", "529, Retry-After and body as they came", serverError},
		{"upstream stalls in a stream", "the first event while the upstream waits, the rest when it goes on", stalls},
		{"malformed stream", "the same bytes", malformedStream},
		{"stream without an end marker", "the same bytes, then the end", unendedStream},
		{"overflow as an error", "200, and the upstream got a smaller request", overflows},
		{"overflow that nothing can mend", "the upstream's own error", hopeless},
		{"slow client", "every byte of 16 MB", slowClient},
		{"client leaves in the middle", "the upstream's request is canceled", clientLeaves},
		{"client cuts its request", "the upstream is not called", cutRequest},
		{"request of 30 MB", "200, every byte arrived upstream", hugeBody},
		{"request over the limit", "413 in the API's shape", overLimit},
		{"gzip request", "200, plain and whole upstream", gzipBody},
		{"zstd request", "200, plain and whole upstream", zstdBody},
		{"request in deflate and gzip, names in capitals", "200, plain and whole upstream", twiceBody},
		{"request in an unknown encoding", "200, the same bytes upstream", unknownBody},
		{"malformed JSON", "400 with the byte, the upstream is not called", malformedJSON},
		{"message of a wrong shape", "400 with the message, the upstream is not called", wrongShape},
		{"invalid UTF-8 in a message", "200, the same bytes upstream", invalidUTF8},
		{"connections are reused and closed between", "20 of 20 answered", reuse},
		{"precis panics", "200, the client's own request upstream", panics},
		{"store is gone", "200, the view is reduced all the same", storeGone},
		{"store comes back", "the edits are recorded then", storeBack},
		{"unknown path", "the upstream's own answer", unknownPath},
		{"WebSocket is asked for", "426 at once", webSocket},
	}
	for _, f := range faults {
		t.Run(strings.ReplaceAll(f.name, " ", "_"), func(t *testing.T) {
			got := f.run(t)
			t.Logf("%-45s | %s", f.name, got)
			if got != f.want {
				t.Errorf("the client saw: %s\nwant:           %s", got, f.want)
			}
		})
	}
}

const twoEvents = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\"}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\"}\n\n"

func handler(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func streaming(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// ask sends a turn and returns the status and everything that came.
func ask(t *testing.T, base string) (int, string, error) {
	t.Helper()
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	return send(t, base, strings.NewReader(a.body(true)))
}

func send(t *testing.T, base string, body io.Reader, headers ...string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header.Get("X-Precis-Error") + "|" + string(out), err
}

func broke(code int, out string, err error) string {
	n := strings.Count(out, "\n\n")
	if code == 200 && err != nil {
		return fmt.Sprintf("%d events, then the connection broke", n)
	}
	return fmt.Sprintf("%d, %d events, then %v", code, n, err)
}

func cutStream(t *testing.T) string {
	base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
		streaming(w, twoEvents)
		panic(http.ErrAbortHandler)
	}), nil)
	return broke(ask(t, base))
}

func resetStream(t *testing.T) string {
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(twoEvents), twoEvents)
		_ = buf.Flush()
		time.AfterFunc(50*time.Millisecond, func() { // what was sent must arrive before
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		})
	}), nil)
	return broke(ask(t, base))
}

func ours(code int, out string, err error) string {
	code502 := strings.HasPrefix(out, "upstream|{\"type\":\"error\",\"error\":{\"type\":\"api_error\"")
	if code == 502 && code502 && err == nil {
		return "502 in the API's shape, marked as the gateway's"
	}
	return fmt.Sprint(code, " ", out, err)
}

func unreachable(t *testing.T) string {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	base, _ := start(t, s.URL, nil)
	return ours(ask(t, base))
}

func closesAtOnce(t *testing.T) string {
	base, _ := start(t, handler(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), nil)
	return ours(ask(t, base))
}

func serverError(t *testing.T) string {
	const body = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(529)
		_, _ = io.WriteString(w, body)
	}), nil)
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	res, out := post(t, base+"/v1/messages", a.body(true))
	if res.StatusCode == 529 && res.Header.Get("Retry-After") == "7" && out == body && res.Header.Get("X-Precis-Error") == "" {
		return "529, Retry-After and body as they came"
	}
	return fmt.Sprint(res.StatusCode, res.Header, out)
}

func stalls(t *testing.T) string {
	goOn := make(chan struct{})
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		streaming(w, twoEvents)
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		streaming(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}), nil)
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", strings.NewReader(a.body(true)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	r := bufio.NewReader(res.Body)
	first, err := r.ReadString('\n')
	if err != nil || first != "event: message_start\n" {
		return fmt.Sprint(first, err)
	}
	close(goOn)
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), "message_stop") {
		return fmt.Sprint(string(rest), err)
	}
	return "the first event while the upstream waits, the rest when it goes on"
}

func same(t *testing.T, stream string) string {
	base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) { streaming(w, stream) }), nil)
	code, out, err := ask(t, base)
	if code != 200 || out != "|"+stream || err != nil {
		return fmt.Sprint(code, out, err)
	}
	return "the same bytes"
}

func malformedStream(t *testing.T) string {
	return same(t, "data: {not json\n\nevent\n\n\xff\xfe: x\ndata: [1,\n\n\n\ndata: {\"type\":\"error\"")
}

func unendedStream(t *testing.T) string {
	return same(t, twoEvents+"data: {\"type\":\"ping\"}") + ", then the end"
}

func overflows(t *testing.T) string {
	s := providertest.New(t, providertest.Options{Window: 5000})
	base, _ := start(t, s.URL, nil)
	a := newAgent("anthropic", "Read.")
	for n := range 6 {
		a.read(n, words(80, n))
	}
	code, out, err := send(t, base, strings.NewReader(a.body(true)))
	sent := s.Requests()
	if code != 200 || err != nil || len(sent) != 2 || len(sent[1].Body) >= len(sent[0].Body) {
		return fmt.Sprint(code, " ", out, err, " ", len(sent), " requests ", s.Problems())
	}
	return "200, and the upstream got a smaller request"
}

func hopeless(t *testing.T) string {
	s := providertest.New(t, providertest.Options{Window: 10})
	base, _ := start(t, s.URL, nil)
	code, out, err := ask(t, base)
	if code == 400 && strings.HasPrefix(out, "|") && strings.Contains(out, "prompt is too long") && err == nil {
		return "the upstream's own error"
	}
	return fmt.Sprint(code, out, err)
}

func slowClient(t *testing.T) string {
	const size = 16 << 20
	base, _ := start(t, handler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := []byte("data: " + strings.Repeat("x", 1<<16-8) + "\n\n")
		for range size >> 16 {
			_, _ = w.Write(piece)
		}
	}), nil)
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/messages", strings.NewReader(a.body(true)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	total, buf := 0, make([]byte, 8<<10)
	for {
		n, err := res.Body.Read(buf) // small reads: the gateway has to wait
		total += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err.Error()
		}
	}
	if total != size {
		return fmt.Sprint(total, " bytes")
	}
	return "every byte of 16 MB"
}

func clientLeaves(t *testing.T) string {
	ended := make(chan struct{})
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		streaming(w, twoEvents)
		<-r.Context().Done()
		close(ended)
	}), nil)
	ctx, cancel := context.WithCancel(t.Context())
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/messages", strings.NewReader(a.body(true)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = res.Body.Read(make([]byte, 10))
	cancel()
	_ = res.Body.Close()
	select {
	case <-ended:
		return "the upstream's request is canceled"
	case <-time.After(10 * time.Second):
		return "the upstream goes on"
	}
}

// counted is an upstream that counts its calls and remembers the last body.
type counted struct {
	calls atomic.Int32
	mu    sync.Mutex
	body  []byte
	head  http.Header
}

func (c *counted) start(t *testing.T, change func(*gateway.Options)) string {
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.body, c.head = body, r.Header
		c.mu.Unlock()
		c.calls.Add(1)
		_, _ = io.WriteString(w, `{"type":"message"}`)
	}), change)
	return base
}

func cutRequest(t *testing.T) string {
	var c counted
	base := c.start(t, nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{\"model\":\"m\",\"messages\":[")
	_ = conn.(*net.TCPConn).CloseWrite()
	out, _ := io.ReadAll(conn)
	_ = conn.Close()
	if c.calls.Load() != 0 {
		return "the upstream was called: " + string(out)
	}
	return "the upstream is not called"
}

func hugeBody(t *testing.T) string {
	var c counted
	base := c.start(t, window(100_000_000))
	a := newAgent("anthropic", "Read.")
	for n := range 30 {
		a.read(n, strings.Repeat("many words \u00e9 ", 80_000))
	}
	body := a.body(true)
	code, out, err := send(t, base, strings.NewReader(body))
	if code != 200 || err != nil || len(body) < 30<<20 || string(c.body) != body {
		return fmt.Sprint(code, out, err, len(body), len(c.body))
	}
	return "200, every byte arrived upstream"
}

func overLimit(t *testing.T) string {
	var c counted
	base := c.start(t, func(o *gateway.Options) { o.Limits.Body = 1000 })
	code, out, err := send(t, base, strings.NewReader(`{"messages":"`+strings.Repeat("x", 2000)+`"}`))
	if code != 413 || err != nil || !strings.Contains(out, `"type":"request_too_large"`) || c.calls.Load() != 0 {
		return fmt.Sprint(code, out, err)
	}
	return "413 in the API's shape"
}

func packed(t *testing.T, encoding string, pack func(io.Writer) io.WriteCloser) string {
	var c counted
	base := c.start(t, nil)
	a := newAgent("anthropic", "Read.")
	a.read(1, words(50, 1))
	var buf bytes.Buffer
	z := pack(&buf)
	_, _ = io.WriteString(z, a.body(true))
	_ = z.Close()
	code, out, err := send(t, base, &buf, "Content-Encoding", encoding)
	if code != 200 || err != nil || string(c.body) != a.body(true) || c.head.Get("Content-Encoding") != "" {
		return fmt.Sprint(code, out, err, c.head)
	}
	return "200, plain and whole upstream"
}

func gzipBody(t *testing.T) string {
	return packed(t, "gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func zstdBody(t *testing.T) string {
	return packed(t, "zstd", func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
}

func twiceBody(t *testing.T) string {
	return packed(t, "Deflate, GZIP", func(w io.Writer) io.WriteCloser {
		outer := gzip.NewWriter(w)
		return both{zlib.NewWriter(outer), outer}
	})
}

// both closes what it writes to, too.
type both struct {
	io.WriteCloser
	outer io.Closer
}

func (b both) Close() error { return errors.Join(b.WriteCloser.Close(), b.outer.Close()) }

func unknownBody(t *testing.T) string {
	var c counted
	base := c.start(t, nil)
	code, out, err := send(t, base, strings.NewReader("\x0b\x02\x80any\x03"), "Content-Encoding", "snappy")
	if code != 200 || err != nil || string(c.body) != "\x0b\x02\x80any\x03" || c.head.Get("Content-Encoding") != "snappy" {
		return fmt.Sprint(code, out, err, c.head)
	}
	return "200, the same bytes upstream"
}

func refused(t *testing.T, body, place string) string {
	var c counted
	base := c.start(t, nil)
	code, out, err := send(t, base, strings.NewReader(body))
	if code != 400 || err != nil || !strings.HasPrefix(out, `invalid|{"type":"error","error":{"type":"invalid_request_error"`) || !strings.Contains(out, place) || c.calls.Load() != 0 {
		return fmt.Sprint(code, out, err)
	}
	return "400 with the "
}

func malformedJSON(t *testing.T) string {
	return refused(t, `{"model":"m","messages":[{"role":"user","content":"a}]`, "byte ") + "byte, the upstream is not called"
}

func wrongShape(t *testing.T) string {
	return refused(t, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":7}]}`, "messages 1 at byte 55") + "message, the upstream is not called"
}

func invalidUTF8(t *testing.T) string {
	var c counted
	base := c.start(t, nil)
	body := "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\xff\xc3 \\ud800\"}],\"tools\":[]}"
	code, out, err := send(t, base, strings.NewReader(body))
	if code != 200 || err != nil || string(c.body) != body {
		return fmt.Sprintf("%d %s %v %q", code, out, err, c.body)
	}
	return "200, the same bytes upstream"
}

func reuse(t *testing.T) string {
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if n.Add(1)%3 == 0 {
			w.Header().Set("Connection", "close")
		}
		streaming(w, twoEvents)
	}))
	defer s.Close()
	base, _ := start(t, s.URL, nil)
	answered := 0
	for i := range 20 {
		if code, _, err := ask(t, base); code == 200 && err == nil {
			answered++
		}
		if i%5 == 4 {
			s.CloseClientConnections()
		}
	}
	return fmt.Sprintf("%d of 20 answered", answered)
}

func panics(t *testing.T) string {
	var c counted
	base := c.start(t, func(o *gateway.Options) {
		o.Window = func(context.Context, string) precis.Window { panic("a fault of precis") }
	})
	a := newAgent("anthropic", "Read.")
	a.read(1, "text")
	code, out, err := send(t, base, strings.NewReader(a.body(true)))
	if code != 200 || err != nil || string(c.body) != a.body(true) {
		return fmt.Sprint(code, out, err)
	}
	if code, out, err = send(t, base, strings.NewReader(a.body(true))); code != 200 { // nothing stays locked
		return fmt.Sprint("again: ", code, out, err)
	}
	return "200, the client's own request upstream"
}

// frail is a store that can be made to fail.
type frail struct {
	*memory.Store
	gone atomic.Bool
}

var errGone = precis.Errorf(precis.CodeInternal, "write", "no space left on device")

func (f *frail) Append(ctx context.Context, parent precis.Fingerprint, msgs ...precis.Message) (precis.Fingerprint, error) {
	if f.gone.Load() {
		return precis.Fingerprint{}, errGone
	}
	return f.Store.Append(ctx, parent, msgs...)
}

func (f *frail) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if f.gone.Load() {
		return errGone
	}
	return f.Store.AddEdit(ctx, after, e)
}

func (f *frail) Deepest(ctx context.Context, nodes []precis.Fingerprint) (int, error) {
	if f.gone.Load() {
		return -1, errGone
	}
	return f.Store.Deepest(ctx, nodes)
}

func (f *frail) PutConversation(ctx context.Context, r store.Record) error {
	if f.gone.Load() {
		return errGone
	}
	return f.Store.PutConversation(ctx, r)
}

func (f *frail) Scope(string) precis.Store { return f }

func frailGateway(t *testing.T) (*frail, func(a *agent) string, *providertest.Server) {
	st := &frail{Store: memory.New()}
	s := providertest.New(t, providertest.Options{Window: 5000})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		o.Store = st
		window(5000)(o)
	})
	return st, func(a *agent) string {
		res, out := post(t, base+"/v1/messages", a.body(true))
		if res.StatusCode != 200 {
			return fmt.Sprint(res.StatusCode, out, s.Problems())
		}
		return res.Header.Get("X-Precis-Action")
	}, s
}

func storeGone(t *testing.T) string {
	st, turn, s := frailGateway(t)
	st.gone.Store(true)
	a := newAgent("anthropic", "Read.")
	reduced := 0
	for n := range 12 {
		a.read(n, words(40, n))
		switch got := turn(a); got {
		case "reduced":
			reduced++
		case "none", "view":
		default:
			return got
		}
	}
	st.gone.Store(false)
	if reduced == 0 || len(s.Problems()) > 0 {
		return fmt.Sprint("reduced ", reduced, s.Problems())
	}
	return "200, the view is reduced all the same"
}

func storeBack(t *testing.T) string {
	st, turn, s := frailGateway(t)
	st.gone.Store(true)
	a := newAgent("anthropic", "Read.")
	for n := range 12 {
		a.read(n, words(40, n))
		turn(a)
	}
	st.gone.Store(false)
	before := s.Requests()
	if got := turn(a); got != "view" && got != "reduced" {
		return got
	}
	after := s.Requests()
	if !bytes.Equal(before[len(before)-1].Body, after[len(after)-1].Body) {
		return "the view changed when the store came back"
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		for _, node := range nodesOf(t, a) {
			if list, err := st.Edits(t.Context(), node); err == nil && len(list) > 0 {
				return "the edits are recorded then"
			}
		}
	}
	return "no edit is in the store"
}

func unknownPath(t *testing.T) string {
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(418)
		fmt.Fprintf(w, "%s %s?%s %s", r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("X-Api-Key"))
	}), nil)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, base+"/v1/files/x?y=1", nil)
	req.Header.Set("X-Api-Key", "k")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, _ := io.ReadAll(res.Body)
	if res.StatusCode != 418 || string(out) != "PUT /v1/files/x?y=1 k" {
		return fmt.Sprint(res.StatusCode, string(out))
	}
	return "the upstream's own answer"
}

func webSocket(t *testing.T) string {
	var c counted
	base := c.start(t, nil)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/responses", nil)
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 426 || c.calls.Load() != 0 {
		return fmt.Sprint(res.StatusCode)
	}
	return "426 at once"
}
