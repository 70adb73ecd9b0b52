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

// Options configures a [Server]. The zero value has no files to be read, knows no
// window and does not think.
type Options struct {
	// Listen is the address; "" means a free port of 127.0.0.1.
	Listen string
	// Files are the paths of the files to be read, in order.
	Files []string
	// ParallelAt is the number of the file, from 1, that is asked for together
	// with the one after it; 0 means 4, a negative number means never.
	ParallelAt int
	// Window is the context window in tokens; a longer request is an overflow. 0
	// means no limit.
	Window int
	// OverflowInStream reports an overflow of a streamed Responses request as an
	// event of a stream with status 200.
	OverflowInStream bool
	// UsageFactor scales the input that is reported as used; 0 means 1.
	UsageFactor float64
	// Thinking lets the model reason where the request allows it.
	Thinking bool
	// LegacyThinking signs thinking by itself and not with all that precedes it, as
	// models before the binding of thinking do.
	LegacyThinking bool
	// ReasoningBack demands, as DeepSeek does, that reasoning_content of turns that
	// called tools comes back.
	ReasoningBack bool
	// Recall, when set, is the name of a tool that the model calls before it asks
	// for the next file, where it is offered: with the input {"handle":"m1"}. It is not
	// called before the first file.
	Recall string
	// Delegate, when set, is the name of a tool that the model calls once in the first conversation, before the
	// second file and where it is offered: with what its schema requires.
	Delegate string
	// Pause has the model end its turn after so many files, until the user speaks; 0:
	// never.
	Pause int
	// Lenient refuses nothing but overflows and what is no JSON.
	Lenient bool
	// Latency is the wait before each event of a stream, and before a whole answer.
	Latency time.Duration
	// Observe, when set, is shown each request to a model as it came. It is called
	// one request at a time and must not call the server.
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

	mu      sync.Mutex // guards what follows
	runs    int        // begun
	answers int        // given
	byRun   map[string]*run
	cache   map[hash]bool
	items   items
	records []Record
}

// run is what the server remembers of a conversation.
type run struct {
	seen     map[hash]bool // blocks that were sent
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

// Close breaks all connections and waits until nothing runs any more.
func (s *Server) Close() {
	s.once.Do(func() {
		s.mu.Lock()
		close(s.closing)
		s.mu.Unlock()
		_ = s.http.Close() // there is nothing to lose
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

// maxRequest is the longest request that is read, in bytes.
const maxRequest = 64 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		return
	}
	defer s.active.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client is gone, or no client of ours
	}
	if d, kind := route(r.URL.Path); d != nil && r.Method == http.MethodPost {
		s.model(w, r, d, kind, body)
		return
	}
	s.other(w, r, strings.TrimPrefix(r.URL.Path, "/v1"))
}

// other answers what is no request to a model.
func (s *Server) other(w http.ResponseWriter, r *http.Request, path string) {
	id, one := strings.CutPrefix(path, "/models/")
	model := object{
		"id": "scripted-1", "object": "model", "type": "model", "display_name": "Scripted", "created": 1,
		"created_at": "2026-01-01T00:00:00Z", "owned_by": "precis", "context_length": s.options.Window,
	}
	switch {
	case path == "/stats":
		writeJSON(w, http.StatusOK, s.Stats())
	case path == "/models":
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{model}, "has_more": false, "first_id": model["id"], "last_id": model["id"]})
	case one:
		model["id"] = id
		writeJSON(w, http.StatusOK, model)
	case r.Header.Get("Upgrade") != "":
		writeJSON(w, http.StatusUpgradeRequired, openaiError("", "WebSocket connections are not served here"))
	case path == "/api/hello", r.Method == http.MethodHead:
		w.WriteHeader(http.StatusOK)
	default:
		writeJSON(w, http.StatusNotFound, openaiError("not_found", "Unknown request URL: "+r.Method+" "+r.URL.Path))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_scripted")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // the client may be gone
}
