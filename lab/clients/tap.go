package clients

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/wire/overflow"
)

// exchange is a client's request with the response.
type exchange struct {
	N        int           `json:"n"`
	Method   string        `json:"method"`
	Path     string        `json:"path"`
	Header   http.Header   `json:"header"`
	Kind     upstream.Kind `json:"kind,omitempty"` // for a request to a model
	Bytes    int           `json:"bytes"`
	Status   int           `json:"status"` // 0: no response
	Overflow bool          `json:"overflow,omitempty"`
	Error    string        `json:"error,omitempty"` // the beginning of an error's body
}

// tap is a reverse proxy that records a client's traffic.
type tap struct {
	url    string
	dir    string // folder for bodies; "": none
	http   http.Server
	proxy  *httputil.ReverseProxy
	active sync.WaitGroup

	mu        sync.Mutex // guards the following fields
	exchanges []*exchange
	begun     map[int]bool // files with their text in a request
	whole     map[int]bool // files with middle and end in one request
}

// newTap starts a proxy for a base URL.
func newTap(target, dir string) (*tap, error) {
	to, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tap{url: "http://" + listener.Addr().String(), dir: dir, begun: map[int]bool{},
		whole: map[int]bool{}}
	t.proxy = &httputil.ReverseProxy{
		FlushInterval:  -1,
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ModifyResponse: t.listen,
		ErrorHandler:   t.failed,
		ErrorLog:       log.New(io.Discard, "", 0), // errors are recorded instead
	}
	t.http.Handler = http.HandlerFunc(t.serve)
	t.active.Go(func() { _ = t.http.Serve(listener) }) // returns when closed
	return t, nil
}

func (t *tap) close() {
	_ = t.http.Close() // no data can be lost
	t.active.Wait()
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

func (t *tap) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	x := t.note(r, body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	t.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
}

// note records a request.
func (t *tap) note(r *http.Request, body []byte) *exchange {
	x := &exchange{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Bytes: len(body)}
	x.Header.Del("Authorization")
	x.Header.Del("X-Api-Key")
	if r.Method == http.MethodPost {
		x.Kind = upstream.KindOf(r.URL.Path, body)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges = append(t.exchanges, x)
	x.N = len(t.exchanges)
	if x.Kind != "" && x.Kind != upstream.Count {
		found(t.begun, body, beginning)
		halves, ends := map[int]bool{}, map[int]bool{}
		found(halves, body, middle)
		found(ends, body, ending)
		for n := range ends {
			if halves[n] {
				t.whole[n] = true
			}
		}
	}
	t.save(fmt.Sprintf("%04d.json", x.N), body)
	return x
}

// save writes a body to the folder for inspection.
func (t *tap) save(name string, body []byte) {
	if t.dir != "" && len(body) > 0 {
		_ = os.WriteFile(filepath.Join(t.dir, name), body, 0o644) // a lost copy changes no result
	}
}

// failed answers for an unreachable server.
func (t *tap) failed(w http.ResponseWriter, r *http.Request, err error) {
	x := exchangeOf(r)
	t.mu.Lock()
	x.Error = err.Error()
	t.mu.Unlock()
	w.WriteHeader(http.StatusBadGateway)
}

// heard is the most bytes of a response that are examined.
const heard = 64 << 10

// listen records a response while it is relayed.
func (t *tap) listen(resp *http.Response) error {
	x := exchangeOf(resp.Request)
	resp.Body = &along{ReadCloser: resp.Body, done: func(body []byte) { t.recordAnswer(x, resp, body) }}
	return nil
}

// recordAnswer records an answer.
func (t *tap) recordAnswer(x *exchange, resp *http.Response, body []byte) {
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(z) // the data may be truncated
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	x.Status = resp.StatusCode
	x.Overflow = overflows(resp, body)
	if x.Status >= 400 {
		x.Error = strings.TrimSpace(string(body[:min(len(body), 300)]))
	}
	t.save(fmt.Sprintf("%04d.answer", x.N), body)
}

// overflows reports whether a response, or an event in its stream, says that the window is full.
func overflows(resp *http.Response, body []byte) bool {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		_, is := overflow.Classify(resp.StatusCode, body)
		return is && resp.StatusCode >= 400
	}
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		var event struct{ Type string }
		if !ok || json.Unmarshal(data, &event) != nil ||
			event.Type != "error" && event.Type != "response.failed" {
			continue
		}
		if _, is := overflow.Classify(resp.StatusCode, data); is {
			return true
		}
	}
	return false
}

// along keeps the beginning of the data read through it.
type along struct {
	io.ReadCloser
	kept []byte
	once sync.Once
	done func([]byte)
}

func (a *along) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.kept = append(a.kept, p[:min(n, heard-len(a.kept))]...)
	if err != nil {
		a.once.Do(func() { a.done(a.kept) })
	}
	return n, err
}

func (a *along) Close() error {
	err := a.ReadCloser.Close()
	a.once.Do(func() { a.done(a.kept) })
	return err
}
