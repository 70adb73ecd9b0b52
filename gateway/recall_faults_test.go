package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/internal/upstream"
	"github.com/precis-dev/precis/store/memory"
)

// answered answers with a status and a body, whatever is asked.
func answered(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// torn begins a stream and breaks the connection after a part of it.
func torn(dialect, before string, n int, parts ...part) func(http.ResponseWriter, *http.Request) {
	body := speak(dialect, true, n, parts...)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body[:strings.Index(body, before)])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// listen posts the agent's request and returns what came, and whether it was cut.
func listen(t *testing.T, base string, a *agent) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return string(out), err
}

func TestCutStreamsAreCutForTheClient(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		first := []part{{text: "Let me look. "}, recalls(`{"handle":"m2","offset":0}`)}
		for name, answers := range map[string][]func(http.ResponseWriter, *http.Request){
			"in the call":      {torn(dialect, "offset", 1, first...)},
			"in the follow-up": {said(dialect, true, 1, first...), torn(dialect, "never", 2, part{text: "The value is "}, part{text: "never heard"})},
		} {
			t.Run(dialect+"/"+name, func(t *testing.T) {
				s := newScript(t, answers...)
				base, a, turns := reader(t, dialect, s, nil)
				out, err := listen(t, base, a)
				if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(out, recall.Name) || !strings.Contains(out, "Let me look. ") {
					t.Errorf("%v: %s", err, out)
				}
				if len(answers) == 2 && (!strings.Contains(out, "The value is ") || strings.Contains(out, "message_stop") || strings.Contains(out, "DONE")) {
					t.Error(out)
				}
				if turn := <-turns; len(s.sent()) != len(answers) || precis.CodeOf(turn.Err) != precis.CodeUpstream {
					t.Errorf("%d requests, %+v", len(s.sent()), turn)
				}
			})
		}
	}
}

func TestFollowUpsThatAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "Let me look. "}, recalls(`{"handle":"m2"}`)),
			answered(500, `{"type":"error","error":{"type":"api_error","message":"broken inside"}}`))
		base, a, turns := reader(t, dialect, s, nil)
		res, out := post(t, base+a.path(), a.body(stream))
		if !strings.Contains(out, "broken inside") || strings.Contains(out, recall.Name) || (res.StatusCode == 500) == stream {
			t.Errorf("%d %s", res.StatusCode, out)
		}
		if stream && (!strings.Contains(out, "Let me look. ") || strings.Contains(out, "DONE") || strings.Contains(out, "message_stop") || strings.Contains(out, "response.completed")) {
			t.Errorf("the stream ends as if it were whole: %s", out)
		}
		if u := <-turns; u.Usage.Output != 10 || u.Err == nil {
			t.Errorf("%+v", u)
		}
	})
}

func TestFollowUpsThatAreTooLong(t *testing.T) {
	t.Parallel()
	overflows := map[string]string{
		"anthropic": `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 30000 tokens > 20000 maximum"}}`,
		"chat":      `{"error":{"message":"This model's maximum context length is 20000 tokens. However, your messages resulted in 30000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
	}
	overflows["responses"] = overflows["chat"]
	each(t, func(t *testing.T, dialect string, stream bool) {
		for _, times := range []int{1, 2, 3} {
			answers := []func(http.ResponseWriter, *http.Request){said(dialect, stream, 1, part{text: "Let me look. "}, recalls(`{"handle":"m2-m20"}`))}
			for range times {
				answers = append(answers, answered(400, overflows[dialect]))
			}
			s := newScript(t, append(answers, said(dialect, stream, 2, part{text: "Done."}))...)
			base, a, _ := reader(t, dialect, s, nil)
			res, out := post(t, base+a.path(), a.body(stream))
			sent := s.sent()
			if times < 3 != strings.Contains(out, "Done.") || times == 3 && res.StatusCode == 200 != stream || strings.Contains(out, recall.Name) {
				t.Errorf("%d times: %d %s", times, res.StatusCode, out)
			}
			first, second := len(sent[1])-len(sent[0]), len(sent[2])-len(sent[0])
			if second > first*2/3 || second < first/3 {
				t.Errorf("%d bytes, then %d", first, second)
			}
			if times == 2 && !strings.Contains(sent[3], "does not fit") {
				t.Errorf("sent %s", tail(sent[3]))
			}
		}
	})
}

func TestAClientThatLeavesEndsTheFollowUp(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		begun, gone := make(chan struct{}), make(chan struct{})
		s := newScript(t, said(dialect, true, 1, part{text: "Let me look. "}, recalls(`{"handle":"m2"}`)), func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-r.Context().Done()
			close(gone)
		})
		base, a, _ := reader(t, dialect, s, nil)
		ctx, leave := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		leave()
		<-gone
		_ = res.Body.Close()
	}
}

// The text before a call reaches the client while the model still writes it, and
// that of the follow-up as it comes.
func TestNothingWaits(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		heard := make(chan string, 10)
		slowly := func(n int, until string, parts ...part) func(http.ResponseWriter, *http.Request) {
			body := speak(dialect, true, n, parts...)
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				at := strings.Index(body, until) + len(until)
				at += strings.Index(body[at:], "\n\n") + 2
				_, _ = io.WriteString(w, body[:at])
				_ = http.NewResponseController(w).Flush()
				for !strings.Contains(<-heard, until) {
				}
				_, _ = io.WriteString(w, body[at:])
			}
		}
		s := newScript(t, slowly(1, "Let me look.", part{text: "Let me look."}, recalls(`{"handle":"m2"}`)), slowly(2, "The value", part{text: "The value"}, part{text: " is 4."}))
		base, a, _ := reader(t, dialect, s, nil)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for buf := make([]byte, 4096); err == nil; {
			var n int
			n, err = res.Body.Read(buf)
			all = append(all, buf[:n]...)
			select {
			case heard <- string(all):
			default:
			}
		}
		_ = res.Body.Close()
		if h := hear(t, string(assembled(t, dialect, all))); h.text != "Let me look.The value is 4." {
			t.Errorf("%+v", h)
		}
	}
}

func TestTheToolIsOffered(t *testing.T) {
	t.Parallel()
	s := newScript(t, said("chat", false, 1, part{text: "ok"}))
	base, a, _ := reader(t, "chat", s, nil)
	body := a.body(false)
	small := newAgent("chat", "Hi.")
	small.read(1, "text")
	for _, c := range []struct {
		name, body string
		offered    bool
	}{
		{"something is hidden", body, true},
		{"nothing is hidden", small.body(false), false},
		{"two choices", strings.Replace(body, `{"model"`, `{"n":2,"model"`, 1), false},
		{"no tools", body[:strings.LastIndex(body, `,"tools"`)] + "}", false},
		{"a tool of that name", strings.ReplaceAll(body, `"name":"read","parameters"`, `"name":"precis_recall","parameters"`), true},
		{"the tool may not be called", strings.Replace(body, `{"model"`, `{"tool_choice":"none","model"`, 1), true},
	} {
		_, out := post(t, base+a.path(), c.body)
		sent := s.sent()
		last := sent[len(sent)-1]
		if strings.Count(last, recall.Name) > 0 != c.offered || strings.Count(last, `"name":"precis_recall"`) > 1 || hear(t, out).text != "ok" {
			t.Errorf("%s: sent …%s", c.name, tail(last))
		}
	}
	off, _, _ := reader(t, "chat", s, func(o *gateway.Options) { o.Recall = false })
	post(t, off+a.path(), body)
	if sent := s.sent(); strings.Contains(sent[len(sent)-1], recall.Name) {
		t.Error("offered although it is off")
	}
}

// A client that uses all four breakpoints keeps them, and no fifth is added.
func TestTheToolCarriesNoBreakpoint(t *testing.T) {
	t.Parallel()
	s := newScript(t, said("anthropic", false, 1, recalls(`{"handle":"m2"}`)), said("anthropic", false, 2, part{text: "ok"}))
	base, a, _ := reader(t, "anthropic", s, nil)
	const mark = `"cache_control":{"type":"ephemeral"}`
	body := a.body(false)
	body = strings.Replace(body, `"system":"You read files."`, `"system":[{"type":"text","text":"A",`+mark+`},{"type":"text","text":"B",`+mark+`}]`, 1)
	body = strings.Replace(body, `"tools":[{`, `"tools":[{`+mark+`,`, 1)
	if _, out := post(t, base+a.path(), body); hear(t, out).text != "ok" || strings.Count(s.sent()[1], mark) != 4 {
		t.Errorf("%d breakpoints: %s", strings.Count(s.sent()[1], mark), out)
	}
}

// Once offered it stays: when the edits are undone, and with a gateway that has
// only the store. The ledger knows what follow-ups cost, and what a client has
// cleared since is read as it was.
func TestTheToolStays(t *testing.T) {
	t.Parallel()
	st := memory.New()
	s := newScript(t, said("anthropic", false, 1, recalls(`{"handle":"m2.b0"}`)), said("anthropic", false, 2, part{text: "ok"}))
	serve := func(size int) (string, *gateway.Gateway) {
		return start(t, s.URL, func(o *gateway.Options) {
			window(size)(o)
			o.Recall, o.Store = true, st
		})
	}
	base, g := serve(20_000)
	a := longAgent("anthropic")
	if _, out := post(t, base+a.path(), a.body(false)); hear(t, out).text != "ok" {
		t.Fatal(out)
	}
	id := only(t, g).ID
	a.messages = append(a.messages, `{"role":"assistant","content":"ok"}`, `{"role":"user","content":"Go on."}`)
	s.again()
	post(t, base+a.path(), a.body(false))

	if _, err := ledger.Since(t.Context(), g.Home(""), id, time.Time{}); err != nil { // it is stored
		t.Fatal(err)
	}

	// Another gateway, for which everything would fit.
	a.messages = append(a.messages, `{"role":"assistant","content":"ok"}`, `{"role":"user","content":"And on."}`)
	s.again()
	base, g = serve(1_000_000)
	if _, out := post(t, base+a.path(), a.body(false)); hear(t, out).text != "ok" {
		t.Error(out)
	}

	// The client clears a result.
	a.messages[2] = strings.Replace(a.messages[2], quote(words(60, 1)), `"[Old tool result content cleared]"`, 1)
	a.messages = append(a.messages, `{"role":"assistant","content":"ok"}`, `{"role":"user","content":"Once more."}`)
	s.again()
	post(t, base+a.path(), a.body(false))
	sent := s.sent()
	if last := sent[len(sent)-1]; !strings.Contains(last, `"content":"[m2.b0, user: tool result]\nline 0 of file 1`) {
		t.Errorf("sent %s", tail(last))
	}

	ledger, err := ledger.Since(t.Context(), g.Home(""), id, time.Time{})
	if u := ledger.Total.Usage; err != nil || ledger.Total.Requests != 4 || u.Output != 80 || u.CacheRead != 320 {
		t.Errorf("%+v %v", ledger.Total, err)
	}
}

// again has the script begin from its first answer.
func (s *script) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(append(s.answers[:len(s.bodies):len(s.bodies)], s.answers[0]), s.answers[1])
}

// With reasoning that is bound to the tools, the tool and the request to drop
// what does not fit are there also after everything was undone.
func TestReasoningOutlivesUndo(t *testing.T) {
	t.Parallel()
	up, err := upstream.Start(upstream.Options{Files: files(t, 12, 24_500), Thinking: true, Recall: recall.Name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.Close)
	size := 60_000
	base, g := start(t, up.URL, func(o *gateway.Options) {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: size, Source: precis.SourceConfigured}
		}
		o.Recall = true
	})
	w := worker{dialect: "anthropic", model: "claude-opus-5-5", extra: `,"thinking":{"type":"adaptive"}`}
	w.list = append(w.list, map[string]any{"role": "user", "content": "Read the files one by one."})
	for turn, done := 0, false; !done; turn++ {
		if turn == 9 {
			size = 1_000_000
			l := only(t, g)
			if _, err := conversation.Undo(t.Context(), g.Home(l.Owner), l.ID); err != nil {
				t.Fatal(err)
			}
		}
		done = w.take(t, exchange(t, base+"/v1/messages", w.body(t)))
	}
	if s := up.Stats(); len(s.Refused) > 0 || s.Dropped == 0 || s.Splices < 4 {
		t.Errorf("refused %v, %d dropped, %d splices", s.Refused, s.Dropped, s.Splices)
	}
}

// only returns the one conversation of a gateway.
func only(t *testing.T, g *gateway.Gateway) conversation.ListItem {
	t.Helper()
	page, err := conversation.List(t.Context(), g.Home(gateway.AllOwners), conversation.ListQuery{})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	return page.Items[0]
}
