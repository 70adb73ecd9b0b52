package upstream

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options configures a [Server]. The zero value has no files, no window, and no thinking.
type Options struct {
	// Listen is the address; "": a free port of 127.0.0.1.
	Listen string
	// Files are the paths of the files to read, in order.
	Files []string
	// ParallelAt is the number of the file, from 1, that is requested together with the next one; 0
	// means 4, a negative number means never.
	ParallelAt int
	// Window is the context window in tokens; a longer request is an overflow. 0: no limit.
	Window int
	// OverflowInStream reports an overflow of a streamed Responses request as an event of a stream
	// with status 200.
	OverflowInStream bool
	// UsageFactor scales the reported input tokens; 0 means 1.
	UsageFactor float64
	// Thinking lets the model reason if the request allows it.
	Thinking bool
	// LegacyThinking signs thinking alone, without the preceding prompt, like models without the
	// binding of thinking.
	LegacyThinking bool
	// ReasoningBack requires reasoning_content of turns with tool calls to be sent back, as
	// DeepSeek does.
	ReasoningBack bool
	// Recall, if set, names a tool that the model calls before it requests each file but the first,
	// if the tool is offered. Its input is {"handle":"m1"}.
	Recall string
	// Delegate, if set, names a tool that the model calls once in the first conversation, before
	// the second file, if the tool is offered. Its input follows the schema.
	Delegate string
	// Pause is the number of files after which the model ends its turn until the user continues; 0:
	// never.
	Pause int
	// Lenient refuses only overflows and invalid JSON.
	Lenient bool
	// Latency is the wait before each event of a stream, and before a whole response.
	Latency time.Duration
	// Observe, if set, gets each request to a model as received. It is called for one request at a
	// time and must not call the server.
	Observe func(Record, http.Header, []byte)
}

// Server is a scripted model server. Its methods may be called concurrently.
type Server struct {
	URL string // e.g. "http://127.0.0.1:1234"

	options Options
	seal    seal
	http    http.Server
	closing chan struct{}
	once    sync.Once
	active  sync.WaitGroup

	mu      sync.Mutex // guards the following fields
	runs    int        // number of runs begun
	answers int        // number of answers given
	byRun   map[string]*run
	cache   map[hash]bool
	items   items
	records []Record
}

// run is the state of a conversation.
type run struct {
	seen     map[hash]bool // blocks received
	messages []hash        // of the latest main request
}

// Start starts a server.
func Start(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.ParallelAt == 0 {
		o.ParallelAt = 4
	}
	if o.UsageFactor == 0 {
		o.UsageFactor = 1
	}
	listener, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("upstream: listen: %w", err)
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String(),
		options: o,
		seal:    seal(rand.Text()),
		closing: make(chan struct{}),
		byRun:   map[string]*run{},
		cache:   map[hash]bool{},
		items:   newItems(),
	}
	s.http.Handler = http.HandlerFunc(s.serve)
	s.active.Go(func() { _ = s.http.Serve(listener) }) // returns when closed
	return s, nil
}

// Close closes all connections and waits for running requests.
func (s *Server) Close() {
	s.once.Do(func() {
		s.mu.Lock()
		close(s.closing)
		s.mu.Unlock()
		_ = s.http.Close() // no data can be lost
	})
	s.active.Wait()
}

// enter reports whether a request may still be served, and counts it.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closing:
		return false
	default:
		s.active.Add(1)
		return true
	}
}

// maxRequest is the size limit of a request in bytes.
const maxRequest = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.active.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client has disconnected, or the request is too long
	}
	if d, kind := route(r.URL.Path); d != nil && r.Method == http.MethodPost {
		s.model(w, r, d, kind, body)
		return
	}
	s.serveOther(w, r, strings.TrimPrefix(r.URL.Path, "/v1"))
}

// serveOther answers requests that are not for a model.
func (s *Server) serveOther(w http.ResponseWriter, r *http.Request, path string) {
	id, one := strings.CutPrefix(path, "/models/")
	model := object{
		"id": "scripted-1", "object": "model", "type": "model", "display_name": "Scripted", "created": 1,
		"created_at": "2026-01-01T00:00:00Z", "owned_by": "precis", "context_length": s.options.Window,
	}
	switch {
	case path == "/stats":
		writeJSON(w, http.StatusOK, s.Stats())
	case path == "/models":
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{model}, "has_more": false,
			"first_id": model["id"], "last_id": model["id"]})
	case one:
		model["id"] = id
		writeJSON(w, http.StatusOK, model)
	case r.Header.Get("Upgrade") != "":
		writeJSON(w, http.StatusUpgradeRequired, openaiError("", "WebSocket connections are not served here"))
	case path == "/api/hello", r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		writeJSON(w, http.StatusNotFound,
			openaiError("not_found", "Unknown request URL: "+r.Method+" "+r.URL.Path))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_scripted")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // fails if the client has disconnected
}
