package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/asked"
	"github.com/precis-dev/precis/gateway/recall"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/tokens"
)

func asks(args string) part { return part{call: asked.Name, args: args} }

// asker starts a gateway with the condense tool before a script, and an agent whose
// conversation is large enough to be condensed and not yet due to be.
func asker(t *testing.T, dialect string, s *script, change func(*gateway.Options)) (base string, g *gateway.Gateway, a *agent, turns chan gateway.Turn) {
	t.Helper()
	turns = make(chan gateway.Turn, 100)
	base, g = start(t, s.URL, func(o *gateway.Options) {
		window(20_000)(o)
		o.CondenseTool = true
		o.OnTurn = func(_ context.Context, turn gateway.Turn) { turns <- turn }
		if change != nil {
			change(o)
		}
	})
	return base, g, halfAgent(dialect), turns
}

// halfAgent has read enough to fill two thirds of a window of 20,000 tokens.
func halfAgent(dialect string) *agent {
	a := newAgent(dialect, "Read the files one by one. Never write to the disk.")
	last := map[string]int{"anthropic": 10, "chat": 12, "responses": 12}[dialect] // Claude counts more
	for n := 1; n <= last; n++ {
		a.read(n, words(60, n))
	}
	return a
}

// askOne posts the agent's request and returns the answer in one piece, in which no tool
// of the gateway is.
func askOne(t *testing.T, base string, a *agent, stream bool) (*http.Response, heard, string) {
	t.Helper()
	res, out := post(t, base+a.path(), a.body(stream))
	if strings.Contains(out, "precis_") {
		t.Errorf("the client sees the tool: %s", out)
	}
	if res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, out)
	}
	if stream {
		out = string(assembled(t, a.dialect, []byte(out)))
	}
	return res, hear(t, out), out
}

func TestTheModelCondenses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t,
			said(dialect, stream, 1, part{think: "Enough. "}, part{text: "All read. "}, asks(`{"focus":"settings"}`)),
			said(dialect, stream, 2, part{text: "Now the next file."}, part{call: "read", args: `{"path":"f99.txt"}`}),
			said(dialect, stream, 3, part{text: "Done."}))
		base, g, a, turns := asker(t, dialect, s, nil)
		_, h, out := askOne(t, base, a, stream)
		sent := s.sent()
		if len(sent) != 2 || h.text != "All read. Now the next file." && (dialect != "chat" || stream) || len(h.calls) != 1 || h.calls[0] != "read" || h.output != 20 {
			t.Fatalf("%d requests, the client hears %+v", len(sent), h)
		}
		if !strings.Contains(sent[0], `"precis_condense"`) || len(sent[1]) > len(sent[0])*4/5 {
			t.Errorf("%d bytes, then %d", len(sent[0]), len(sent[1]))
		}
		at := strings.Index(sent[1], "Enough. ")
		if at < 0 || strings.LastIndex(sent[1], "line 59 of file 1") > at {
			t.Fatalf("the call is not behind the view: %s", tail(sent[1]))
		}
		answer := sent[1][at:]
		for _, want := range []string{"Condensed from 1", " tokens: ", " % of the window is used, about ", " facts likely to be needed again "} {
			if !strings.Contains(answer, want) {
				t.Errorf("%q is not in %s", want, answer)
			}
		}
		if len(answer) > 3000 || strings.Contains(answer, "is_error") || strings.Contains(answer, recall.Name) {
			t.Errorf("%d bytes: %s", len(answer), answer)
		}
		turn := <-turns
		if len(turn.ByModel) != 1 || turn.ByModel[0].TriggeredBy != precis.TriggeredModel || turn.Action != "none" || turn.Input != 100 || turn.Usage.Output != 20 {
			t.Errorf("%+v", turn)
		}
		l := only(t, g)
		if l.Tokens >= turn.Report.After.Tokens*4/5 || l.Tokens != turn.ByModel[0].After.Tokens {
			t.Errorf("the conversation has %d tokens, it had %d", l.Tokens, turn.Report.After.Tokens)
		}

		// The next request of the client shows the same view: the prompt cache holds it.
		takeBack(t, a, out)
		askOne(t, base, a, stream)
		plain := func(body string) string { return strings.ReplaceAll(body, `,"cache_control":{"type":"ephemeral"}`, "") } // breakpoints are not cached
		last, shown := plain(s.sent()[2]), plain(sent[1])
		begins := map[string]string{"anthropic": `{"role":"assistant"`, "chat": `{`, "responses": `{"type":"reasoning"`}[dialect]
		view := shown[:strings.LastIndex(shown[:strings.Index(shown, "Enough. ")], begins)]
		if len(view) < len(sent[1])/2 || !strings.HasPrefix(last, view) || strings.Contains(last, "Condensed from") {
			t.Errorf("the next request does not begin with %s", view)
		}
		// It can be taken back like any other edit.
		if _, err := conversation.Undo(t.Context(), g.Home(l.Owner), l.ID); err != nil {
			t.Fatal(err)
		}
		askOne(t, base, a, stream)
		if last := s.sent()[3]; !strings.Contains(last, "line 30 of file 1:") || !strings.Contains(last, `"precis_condense"`) {
			t.Errorf("sent %.3000s", last)
		}
	})
}

// A call that can do nothing costs a follow-up and no more, and calls end.
func TestNothingToCondense(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "Again. "}, asks(`{}`)))
		base, g, _, turns := asker(t, dialect, s, nil)
		a := longAgent(dialect) // is reduced by itself
		_, h, _ := askOne(t, base, a, stream)
		want := map[string]string{"anthropic": "end_turn", "chat": "stop", "responses": "completed"}[dialect]
		if turn := <-turns; h.stop != want || len(h.calls) > 0 || len(turn.ByModel) > 0 || turn.Action != "reduced" {
			t.Errorf("%+v %+v", h, turn)
		}
		sent := s.sent()
		if len(sent) != 6 {
			t.Fatalf("%d requests", len(sent))
		}
		for i, text := range []string{"", "Nothing was done: ", "Nothing was done: ", "often enough", "often enough", "the last time"} {
			before := 0
			if i > 0 {
				before = len(sent[i-1]) - 1000
			}
			if !strings.Contains(sent[i][before:], text) || i > 0 && !strings.HasPrefix(sent[i], sent[0][:len(sent[0])/2]) {
				t.Errorf("request %d ends %s", i, tail(sent[i]))
			}
		}
		if n := countRuns(t, g); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
}

// countRuns counts the runs of the one conversation.
func countRuns(t *testing.T, g *gateway.Gateway) int {
	t.Helper()
	l := only(t, g)
	list, err := conversation.Edits(t.Context(), g.Home(l.Owner), l.ID)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]bool{}
	for _, e := range list.Items {
		runs[e.Run] = true
	}
	return len(runs)
}

func TestTheCondenseToolIsOffered(t *testing.T) {
	t.Parallel()
	s := newScript(t, said("chat", false, 1, part{text: "ok"}))
	base, _, a, _ := asker(t, "chat", s, nil)
	body := a.body(false)
	small := newAgent("chat", "Hi.")
	small.read(1, "text")
	for _, c := range []struct {
		name, body string
		offered    bool
	}{
		{"from the beginning on", small.body(false), true},
		{"later", body, true},
		{"two choices", strings.Replace(body, `{"model"`, `{"n":2,"model"`, 1), false},
		{"no tools", body[:strings.LastIndex(body, `,"tools"`)] + "}", false},
		{"the tool may not be called", strings.Replace(body, `{"model"`, `{"tool_choice":"none","model"`, 1), true},
	} {
		_, out := post(t, base+a.path(), c.body)
		sent := s.sent()
		if last := sent[len(sent)-1]; strings.Count(last, asked.Name) > 0 != c.offered || hear(t, out).text != "ok" {
			t.Errorf("%s: sent …%s", c.name, tail(last))
		}
	}
	off, _, _, _ := asker(t, "chat", s, func(o *gateway.Options) { o.CondenseTool, o.Recall = false, true })
	post(t, off+a.path(), body)
	if sent := s.sent(); strings.Contains(sent[len(sent)-1], asked.Name) {
		t.Error("offered although it is off")
	}
}

// A client's own tool of the name is the client's.
func TestAToolOfTheClientWithTheName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "Mine. "}, asks(`{"focus":"x"}`)))
		base, _, a, _ := asker(t, dialect, s, func(o *gateway.Options) { o.Recall = true })
		for n := 13; n <= 30; n++ {
			a.read(n, words(60, n)) // something is hidden, so recall is offered
		}
		_, out := post(t, base+a.path(), strings.ReplaceAll(a.body(stream), `"name":"read",`, `"name":"precis_condense",`))
		if sent := s.sent(); len(sent) != 1 || !strings.Contains(sent[0], recall.Name) || !strings.Contains(out, asked.Name) {
			t.Errorf("%d requests: %s", len(s.sent()), out)
		}
	})
}

func TestBadCallsOfTheCondenseTool(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`[]`:                      "no JSON object",
		`{"focus":7}`:             "focus is no text",
		`{"focus":`:               "no JSON object",
		`{"focus":null,"keep":3}`: "Condensed from",
		`{"focus":"` + strings.Repeat("a", 3000) + `"}`: "focus has 3000 bytes",
	} {
		for _, dialect := range dialects(t) {
			s := newScript(t, said(dialect, true, 1, asks(args)), said(dialect, true, 2, part{text: "Done."}))
			base, _, a, _ := asker(t, dialect, s, nil)
			if _, h, _ := askOne(t, base, a, true); h.text != "Done." || !strings.Contains(s.sent()[1], want) {
				t.Errorf("%s %.40s: %s", dialect, args, tail(s.sent()[1]))
			}
		}
	}
}

// Both tools may be called in one answer, and recall reads what was just hidden although
// it was not offered before.
func TestBothTools(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t,
			said(dialect, stream, 1, recalls(`{"handle":"m2"}`), asks(`{}`), asks(`{}`)),
			said(dialect, stream, 2, part{text: "Let me look. "}, recalls(`{"handle":"m4"}`)),
			said(dialect, stream, 3, part{text: "Done."}))
		base, _, a, turns := asker(t, dialect, s, func(o *gateway.Options) { o.Recall = true })
		_, h, _ := askOne(t, base, a, stream)
		sent := s.sent()
		if len(sent) != 3 || h.text != "Let me look. Done." && (dialect != "chat" || stream) || h.output != 30 {
			t.Fatalf("%d requests, %+v", len(sent), h)
		}
		if strings.Contains(sent[0], `"precis_recall"`) || strings.Count(sent[1], `"precis_recall"`) < 2 {
			t.Errorf("recall is not offered once something is hidden: %s", tail(sent[1]))
		}
		one, two := strings.LastIndex(sent[1], "[m2.b0, "), strings.LastIndex(sent[1], "Condensed from")
		if three := strings.LastIndex(sent[1], "Nothing was done: "); one < 0 || two < one || three < two || !strings.Contains(sent[1], "can be read by precis_recall") {
			t.Errorf("results at %d, %d, %d: %s", one, two, three, tail(sent[1]))
		}
		if first := strings.Index(sent[2], "Condensed from"); first < 0 || strings.LastIndex(sent[2], "[m4.b0, ") < first || !strings.HasPrefix(sent[2], sent[1][:one]) {
			t.Errorf("the second follow-up: %s", tail(sent[2]))
		}
		if turn := <-turns; len(turn.ByModel) != 1 {
			t.Errorf("%d condensations", len(turn.ByModel))
		}
	})
}

// modelRung is a rung that asks a model, which fails once it is let go.
type modelRung struct {
	asked, goOn chan struct{}
	reason      precis.Reason
}

func (modelRung) Name() string          { return "condense" }
func (modelRung) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (f modelRung) Propose(ctx context.Context, _ *policy.Situation) (precis.Edit, error) {
	if f.asked != nil {
		close(f.asked)
		select {
		case <-f.goOn:
		case <-ctx.Done():
		}
	}
	return precis.Edit{}, &policy.RungError{Reason: f.reason, Err: errors.New("the model failed")}
}

// withRung gives a gateway a manager with a rung in the place of the one of its name, or
// with it alone.
func withRung(t *testing.T, rung policy.Strategy, alone bool) func(*gateway.Options) {
	return func(o *gateway.Options) {
		settings := policy.DefaultSettings()
		settings.MinModelWindow, settings.Prepare = 0, 0
		var err error
		if alone {
			var counter precis.Counter
			if counter, err = tokens.New(tokens.Options{}); err == nil {
				o.Manager, err = policy.NewManager(policy.Options{Counter: counter, Calibrator: tokens.Calibrator(counter.Name()), Settings: settings, Strategies: []policy.Strategy{rung}})
			}
		} else {
			o.Manager, err = preset.New(preset.Options{Settings: settings, Instead: []policy.Strategy{rung}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestACondensationThatFailsIsAnErrorForTheModelAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "All read. "}, asks(`{}`)), said(dialect, stream, 2, part{text: "Then without."}))
		base, g, a, turns := asker(t, dialect, s, withRung(t, modelRung{reason: condense.ReasonCallFailed}, true))
		_, h, _ := askOne(t, base, a, stream)
		sent := s.sent()
		if len(sent) != 2 || !strings.HasSuffix(h.text, "hen without.") && (dialect != "chat" || stream) || !strings.HasPrefix(sent[1], sent[0][:len(sent[0])*9/10]) {
			t.Fatalf("%d requests, %+v", len(sent), h)
		}
		if end := sent[1][len(sent[0])-1000:]; !strings.Contains(end, "was not condensed: condense conversation: condense_api_failed. Nothing was changed") || dialect == "anthropic" != strings.Contains(end, `"is_error":true`) {
			t.Errorf("sent %s", end)
		}
		if turn := <-turns; turn.Err != nil || len(turn.ByModel) > 0 || countRuns(t, g) != 0 {
			t.Errorf("%+v", turn)
		}
	})
}

// A client that waits for a model's summary gets signs of life.
func TestAWaitingClientIsKept(t *testing.T) {
	t.Parallel()
	for _, dialect := range dialects(t) {
		rung := modelRung{asked: make(chan struct{}), goOn: make(chan struct{}), reason: condense.ReasonEmpty}
		s := newScript(t, said(dialect, true, 1, part{text: "All read. "}, asks(`{}`)), said(dialect, true, 2, part{text: "Done."}))
		base, _, a, _ := asker(t, dialect, s, func(o *gateway.Options) {
			withRung(t, rung, false)(o)
			o.KeepAlive = 1 // as often as possible
		})
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		<-rung.asked
		sign := map[string]string{"anthropic": "event: ping\n"}[dialect]
		if sign == "" {
			sign = ": precis is at work"
		}
		var all []byte
		for buf := make([]byte, 4096); strings.Count(string(all), sign) < 3; {
			n, err := res.Body.Read(buf)
			if all = append(all, buf[:n]...); err != nil {
				t.Fatalf("%v: %s", err, all)
			}
		}
		close(rung.goOn)
		rest, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if h := hear(t, string(assembled(t, dialect, append(all, rest...)))); err != nil || h.text != "All read. Done." {
			t.Errorf("%v %+v", err, h)
		}
	}
}

// A client that leaves ends the condensation, and nothing is changed.
func TestAClientThatLeavesEndsTheCondensation(t *testing.T) {
	t.Parallel()
	rung := modelRung{asked: make(chan struct{}), goOn: make(chan struct{}), reason: condense.ReasonEmpty}
	s := newScript(t, said("anthropic", true, 1, part{text: "All read. "}, asks(`{}`)))
	base, g, a, turns := asker(t, "anthropic", s, withRung(t, rung, false))
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	<-rung.asked
	leave()
	_ = res.Body.Close()
	if turn := <-turns; precis.CodeOf(turn.Err) != precis.CodeCanceled || len(s.sent()) != 1 || countRuns(t, g) != 0 {
		t.Errorf("%v after %d requests", turn.Err, len(s.sent()))
	}
}

// What is refused since the view has changed is sent as it was; the next request shows
// what was condensed.
func TestAFollowUpThatIsRefusedForItsView(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, dialect string, stream bool) {
		s := newScript(t, said(dialect, stream, 1, part{text: "All read. "}, asks(`{}`)),
			answered(400, `{"type":"error","error":{"type":"invalid_request_error","message":"something in it is odd"}}`),
			said(dialect, stream, 2, part{text: "Done."}), said(dialect, stream, 3, part{text: "Next."}))
		base, _, a, _ := asker(t, dialect, s, nil)
		_, h, out := askOne(t, base, a, stream)
		sent := s.sent()
		if len(sent) != 3 || !strings.HasSuffix(h.text, "one.") || !strings.HasPrefix(sent[2], sent[0][:len(sent[0])*9/10]) || !strings.Contains(sent[2], "shown from the next request on") {
			t.Fatalf("%d requests, %+v: %s", len(sent), h, tail(sent[len(sent)-1]))
		}
		takeBack(t, a, out)
		a.read(20, "short")
		askOne(t, base, a, stream)
		if last := s.sent()[3]; len(last) > len(sent[0])*4/5 {
			t.Errorf("%d bytes, then %d", len(sent[0]), len(last))
		}
	})
}
