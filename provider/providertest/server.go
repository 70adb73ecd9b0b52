// Package providertest is a language model server for tests and trials: it
// speaks the Messages, Chat Completions and Responses APIs over a real socket,
// answers what a script says, and refuses what the real APIs would refuse.
//
// Use [New] to start a [Server], point a client at [Server.BaseURL], and script
// it with [Server.Enqueue]; [Server.Requests] is what came. A [Reply] is a text,
// a refusal, an error in the dialect's own shape, a stream that breaks off, and
// so on; the zero Reply is an empty answer.
//
// Every request is checked before its reply is looked at: required fields,
// roles, shapes of content blocks, the pairing of tool uses and results, limits.
// One that is wrong is answered with status 400 and its reply stays in the queue.
//
// A token is four bytes. Usage is reckoned from that and from a simulated prompt
// cache: what a request has in common with an earlier one, in the order tools,
// system, messages, was read from the cache. With the Messages API that holds up
// to the last block that carries cache_control, as it does in earnest.
//
// The package does not import testing and can serve a plain program.
package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/model"
)

// Options configures a [Server]. The zero value refuses no key and no length.
type Options struct {
	// Window is the context window in tokens; a longer request is refused as an
	// overflow. 0 means no limit.
	Window int
	// Key is the API key that is demanded; empty demands none.
	Key string
	// ChatLimit is the one name of the output limit that is known in the chat
	// dialect, "max_tokens" or "max_completion_tokens"; empty means both are.
	ChatLimit string
}

// Request is a request that came.
type Request struct {
	Dialect string
	Path    string
	Header  http.Header // without those that hold keys
	HasKey  bool        // it held a key
	Body    []byte
	// Problem says why the request was refused as malformed; "" when it was not.
	Problem string
	// Usage is what the request costs, in the dialect's way of counting, the
	// output not included.
	Usage precis.Usage
}

// Cleaner is the part of testing.TB that is needed here.
type Cleaner interface{ Cleanup(func()) }

// Server is a scripted model server. Its methods may be called concurrently.
type Server struct {
	URL string // e.g. "http://127.0.0.1:1234"

	options Options
	http    http.Server
	closed  chan struct{}
	once    sync.Once
	active  sync.WaitGroup

	mu       sync.Mutex // guards what follows
	queue    []Reply
	other    Reply // when the queue is empty
	requests []Request
	cache    cache
}

// New starts a server that answers "ok" until it gets a script. With a t it
// is closed when the test ends; t may be nil. It panics when there is no port to
// listen on.
func New(t Cleaner, o Options) *Server {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("providertest: listen: %v", err))
	}
	s := &Server{
		URL:     "http://" + listener.Addr().String(),
		options: o,
		closed:  make(chan struct{}),
		other:   Text("ok"),
		cache:   cache{},
	}
	s.http.Handler = http.HandlerFunc(s.serve)
	s.active.Go(func() { _ = s.http.Serve(listener) }) // returns when closed
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// BaseURL returns the base URL for a dialect, as SDKs want it.
func (s *Server) BaseURL(dialect string) string {
	if dialect == "anthropic" {
		return s.URL
	}
	return s.URL + "/v1"
}

// Close breaks all connections and waits until all requests have ended.
func (s *Server) Close() {
	s.once.Do(func() {
		s.mu.Lock()
		close(s.closed)
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
	case <-s.closed:
		return false
	default:
		s.active.Add(1)
		return true
	}
}

// Enqueue adds replies to the queue. Each answers one request.
func (s *Server) Enqueue(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, replies...)
}

// SetDefault sets the reply of an empty queue.
func (s *Server) SetDefault(r Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = r
}

// Requests returns the requests that came, in order. The slice belongs to the
// caller, the bodies do not.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Problems returns what was wrong with requests that were refused as malformed.
func (s *Server) Problems() []string {
	var out []string
	for _, r := range s.Requests() {
		if r.Problem != "" {
			out = append(out, r.Problem)
		}
	}
	return out
}

// next returns the reply to r.
func (s *Server) next(r Request) Reply {
	s.mu.Lock()
	reply := s.other
	if len(s.queue) > 0 {
		reply, s.queue = s.queue[0], s.queue[1:]
	}
	s.mu.Unlock()
	for reply.Do != nil {
		reply = reply.Do(r)
	}
	return reply
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
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
	d, ok := dialectOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	req := Request{Dialect: d.name, Path: r.URL.Path, Body: body, HasKey: keyOf(r.Header) != "",
		Header: withoutKeys(r.Header)}
	var fields object
	_ = json.Unmarshal(body, &fields) // a body that is no object lacks all fields
	if refusal := s.refuse(d, r, fields, &req); refusal != nil {
		s.record(req)
		refusal.write(w, d)
		return
	}
	parts := d.segments(fields)
	keys := prefixes(d, parts)
	s.mu.Lock()
	use := s.cache.use(d, parts, keys, len(body))
	s.mu.Unlock()
	req.Usage = use.usage(d)
	s.record(req)
	s.answer(w, r, call{dialect: d, fields: fields, tokens: use, parts: parts, keys: keys}, s.next(req))
}

// refuse returns the error that the request is answered with whatever the
// script says; nil when it is sound.
func (s *Server) refuse(d dialect, r *http.Request, fields object, req *Request) *failure {
	if s.options.Key != "" && keyOf(r.Header) != s.options.Key {
		return failureOf(Reply{Fault: model.FaultAuth})
	}
	c := check(d, r.Header, fields, s.options)
	if c.problem != nil {
		req.Problem = c.problem.message
		return c.problem
	}
	if used := tokens(len(req.Body)); s.options.Window > 0 && used > s.options.Window {
		return failureOf(Overflow(s.options.Window, used))
	}
	return nil
}

// keyHeaders hold keys.
var keyHeaders = []string{"Authorization", "X-Api-Key", "Api-Key", "Proxy-Authorization", "Cookie"}

func keyOf(h http.Header) string {
	if key := h.Get("X-Api-Key"); key != "" {
		return key
	}
	return strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
}

func withoutKeys(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range keyHeaders {
		h.Del(name)
	}
	return h
}
