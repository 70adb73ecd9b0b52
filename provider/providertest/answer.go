package providertest

import (
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// object is a JSON object by its fields; made writes one.
type (
	object = map[string]json.RawMessage
	made   = map[string]any
)

// dialect is one API.
type dialect struct {
	name, path string
	// check finds what the API would refuse.
	check func(c *checker, fields object)
	// segments are the parts of a request in the order of the prompt cache.
	segments func(fields object) []segment
	// failure is the status and body of an error response.
	failure func(f *failure) (int, []byte)
	// fail writes an error into a stream.
	fail func(s *stream, f *failure)
	// begin and end write the events around the text of a stream.
	begin, end func(s *stream)
	// piece writes a piece of the text.
	piece func(s *stream, text string)
	// whole is the answer in one object.
	whole func(s *stream) made
}

var dialects = []dialect{anthropicDialect, chatDialect, responsesDialect}

// call is a sound request.
type call struct {
	dialect dialect
	fields  object
	tokens  use
	parts   []segment
	keys    []prefix // of parts
}

// stream is an answer being written.
type stream struct {
	call
	w     http.ResponseWriter
	reply Reply
	model string
	n     int // events written
}

// answer writes a reply.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c call, reply Reply) {
	switch {
	case reply.Ending == Silent:
		s.wait(r, 0)
		panic(http.ErrAbortHandler)
	case reply.Status != 0:
		for name, values := range reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(reply.Status)
		_, _ = w.Write([]byte(reply.Body)) // the client may be gone
		return
	case reply.Fault != "" && reply.Whole:
		_, body := c.dialect.failure(failureOf(reply))
		_, _ = w.Write(body) // the client may be gone
		return
	case reply.Fault != "" && !reply.InStream:
		failureOf(reply).write(w, c.dialect)
		return
	}
	s.mu.Lock()
	s.cache.keep(c.dialect, c.parts, c.keys)
	s.mu.Unlock()
	out := &stream{call: c, w: w, reply: reply, model: text(c.fields["model"])}
	if reply.Whole || string(c.fields["stream"]) != "true" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(encode(c.dialect.whole(out))) // the client may be gone
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s.stream(r, out)
}

func (s *Server) stream(r *http.Request, out *stream) {
	d, reply := out.dialect, out.reply
	if !reply.InStream || reply.Text != "" {
		d.begin(out)
	}
	for _, piece := range pieces(reply.Text) {
		if reply.Every > 0 && !s.wait(r, reply.Every) {
			panic(http.ErrAbortHandler)
		}
		d.piece(out, piece)
	}
	switch {
	case reply.InStream:
		d.fail(out, failureOf(reply))
	case reply.Ending == Torn:
		out.flush()
		panic(http.ErrAbortHandler)
	case reply.Ending == Unended:
	case reply.Ending == Stuck:
		out.flush()
		s.wait(r, 0)
		panic(http.ErrAbortHandler)
	default:
		d.end(out)
	}
}

// wait waits for the duration d; zero means until the connection ends. It
// reports whether the client and the server are still there.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	var over <-chan time.Time
	if d > 0 {
		over = time.After(d)
	}
	select {
	case <-over:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// event writes an event. Without a name there is no event line.
func (s *stream) event(name string, data made) {
	if name != "" {
		s.line("event: " + name)
		data["type"] = name
	}
	s.line("data: " + string(encode(data)))
	s.line("")
	s.flush()
	s.n++
}

func (s *stream) line(text string) { _, _ = s.w.Write([]byte(text + "\n")) } // the client may be gone

func (s *stream) flush() { _ = http.NewResponseController(s.w).Flush() }

// used is the usage that the answer reports.
func (s *stream) used() precis.Usage {
	if s.reply.Usage != nil {
		return *s.reply.Usage
	}
	u := s.tokens.usage(s.dialect)
	u.Output = 1 + tokens(len(s.reply.Reasoning)+len(s.reply.Text)+len(s.reply.Tool))
	return u
}

// pieces cuts a text as models do, a few letters at a time.
func pieces(text string) []string {
	const size = 16
	var out []string
	for len(text) > size {
		n := size
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// text returns a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	s, _ := jsonspan.String(raw)
	return s
}
