package upstream

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/precis-dev/precis/provider/providertest"
)

// model answers a request to a model.
func (s *Server) model(w http.ResponseWriter, r *http.Request, d *dialect, kind Kind, body []byte) {
	p, err := parse(d, body)
	if err != nil {
		s.refuse(w, r, d, Record{Kind: kind, Refused: err.Error()}, body)
		return
	}
	p.fromPath(r.URL.Path)
	at := placeOf(body)
	tool, reads := reader(p.tools)
	if kind == Main {
		kind = p.kind(at, reads)
	}
	rec := Record{Kind: kind, Model: str(p.body, "model"), Step: at.step, Tokens: p.tokens}
	if kind == Count {
		rec.Run = at.run
		s.recordRequest(r, rec, d, body)
		writeJSON(w, http.StatusOK, object{"input_tokens": p.tokens, "totalTokens": p.tokens})
		return
	}
	a := &answer{prompt: p, compacts: strings.HasSuffix(r.URL.Path, "/compact")}
	s.mu.Lock()
	rec.Refused = s.problem(a, r, body)
	s.mu.Unlock()
	if rec.Dropped = len(a.dropped); rec.Refused != "" {
		rec.Run = at.run
		s.refuse(w, r, d, rec, body)
		return
	}
	if rec.Overflow = s.options.Window > 0 && p.tokens > s.options.Window; rec.Overflow {
		rec.Run = at.run
		s.recordRequest(r, rec, d, body)
		s.overflow(w, p)
		return
	}
	s.admit(a, &rec, &at)
	s.recordRequest(r, rec, d, body)
	s.chooseAnswer(a, kind, at, tool, body)
	s.write(w, r, a)
}

// problem returns the reason why a request is malformed; "": it is valid.
func (s *Server) problem(a *answer, r *http.Request, body []byte) string {
	if s.options.Lenient {
		return ""
	}
	if problem := providertest.Check(r.URL.Path, r.Header, body); problem != "" {
		return problem
	}
	switch a.dialect {
	case geminiDialect:
		return geminiProblem(a.body)
	case anthropicDialect:
		var problem string
		a.dropped, problem = s.checkThinking(a.prompt, r.Header)
		a.controls = strings.Contains(strings.Join(r.Header.Values("Anthropic-Beta"), ","), bindingBeta)
		return problem
	case responsesDialect:
		if id := str(a.body, "previous_response_id"); id != "" {
			return fmt.Sprintf("Previous response with id '%s' not found.", id)
		}
		return s.items.check(list(a.body["input"]), a.body["store"] != false)
	}
	if s.options.ReasoningBack {
		return reasoningBack(a.body)
	}
	return ""
}

// reasoningBack requires the reasoning of turns with tool calls.
func reasoningBack(body object) string {
	for _, v := range list(body["messages"]) {
		m, _ := v.(object)
		if len(list(m["tool_calls"])) > 0 && str(m, "reasoning_content") == "" {
			return "The `reasoning_content` in the thinking mode must be passed back to the API."
		}
	}
	return ""
}

// admit counts a request for its run, and starts the run if necessary.
func (s *Server) admit(a *answer, rec *Record, at *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.run == "" && rec.Kind == Main {
		s.runs++
		at.run = fmt.Sprintf("r%d", s.runs)
	}
	rec.Run = at.run
	s.answers++
	a.id = fmt.Sprintf("%06d", s.answers)
	rec.Cached, rec.Written = s.lookUp(a.prompt)
	rec.First = rec.Tokens
	if at.run != "" {
		state := s.byRun[at.run]
		if state == nil {
			state = &run{seen: map[hash]bool{}}
			s.byRun[at.run] = state
		}
		rec.First, rec.Splice = state.countNewTokens(a.segments, rec.Kind == Main)
	}
	a.usage = s.scaled(rec)
}

// countNewTokens returns the number of prompt tokens that are new to the run, and whether a main request does
// not continue the previous one.
func (c *run) countNewTokens(segments []segment, main bool) (first int, splice bool) {
	var messages []hash
	for _, g := range segments {
		if !c.seen[g.own] {
			first += g.chars
		}
		if g.message >= 0 {
			messages = append(messages, g.own)
		}
	}
	for _, g := range segments {
		c.seen[g.own] = true
	}
	if !main {
		return first / 4, false
	}
	for i, h := range c.messages {
		splice = splice || i >= len(messages) || messages[i] != h
	}
	c.messages = messages
	return first / 4, splice
}

// scaled returns the usage reported for a request.
func (s *Server) scaled(rec *Record) usage {
	scale := func(n int) int { return int(math.Round(float64(n) * s.options.UsageFactor)) }
	return usage{input: scale(rec.Tokens), read: scale(rec.Cached), written: scale(rec.Written)}
}

// chooseAnswer chooses the model's answer.
func (s *Server) chooseAnswer(a *answer, kind Kind, at place, tool tool, body []byte) {
	if at.step == 0 && (kind != Main || bytes.Contains(body, digestMark)) {
		at.step = lastFileNumber(body, s.options.Files)
	}
	switch kind {
	case Main:
		s.continueWork(a, at, tool)
	case Summary:
		a.text = summary(a.prompt, at, s.options.Files)
	case Compact:
		a.sealed = sealed + next(at, s.options.Files)
	default:
		a.text = a.sideAnswer()
	}
	if s.options.Thinking && kind != Compact && a.thinks() {
		a.thinking = fmt.Sprintf("I think about step %d.", at.step+1)
		if thinking := a.body["thinking"]; str(thinking, "display") == "omitted" {
			a.thinking = ""
		}
		a.signature = s.seal.sign(s.bound(a.segments), a.thinking)
	}
	a.usage.output = 1 + (len(a.thinking)+len(a.text))/4 + 20*len(a.calls)
}

// thinks reports whether a request enables thinking.
func (a *answer) thinks() bool {
	switch a.dialect {
	case anthropicDialect:
		kind := str(a.body["thinking"], "type")
		return kind == "enabled" || kind == "adaptive"
	case responsesDialect:
		return a.body["reasoning"] != nil
	}
	return true
}

// write sends an answer.
func (s *Server) write(w http.ResponseWriter, r *http.Request, a *answer) {
	whole := a.whole(a)
	if a.dialect == responsesDialect {
		s.mu.Lock()
		s.items.keep(a.made)
		s.mu.Unlock()
	}
	out := &events{w: w, wait: func() bool { return s.wait(r) }}
	switch {
	case a.stream:
		a.dialect.stream(a, out)
	case !out.wait():
	default:
		writeJSON(w, http.StatusOK, whole)
	}
}

// wait waits for the latency and reports whether the client is still connected and the server open.
func (s *Server) wait(r *http.Request) bool {
	if s.options.Latency <= 0 {
		return true
	}
	select {
	case <-time.After(s.options.Latency):
		return true
	case <-r.Context().Done():
	case <-s.closing:
	}
	return false
}

// refuse responds to a malformed request.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, d *dialect, rec Record, body []byte) {
	s.recordRequest(r, rec, d, body)
	writeJSON(w, http.StatusBadRequest, d.refuse("", rec.Refused))
}

// overflow responds to a request longer than the window.
func (s *Server) overflow(w http.ResponseWriter, p *prompt) {
	body := p.dialect.overflow(p.tokens, s.options.Window)
	if p.stream && p.dialect == responsesDialect && s.options.OverflowInStream {
		failedStream(&events{w: w}, body)
		return
	}
	writeJSON(w, http.StatusBadRequest, body)
}

// recordRequest records a request.
func (s *Server) recordRequest(r *http.Request, rec Record, d *dialect, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec.N, rec.Dialect, rec.Path = len(s.records)+1, d.name, r.URL.Path
	s.records = append(s.records, rec)
	if s.options.Observe != nil {
		s.options.Observe(rec, r.Header, body)
	}
}
