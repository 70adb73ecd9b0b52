package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/condense"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/model"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
)

// slowWriter has a summarizer that waits until it is let go.
type slowWriter struct {
	asked chan struct{}
	goOn  chan struct{}
	gone  chan struct{}
	calls int
	mu    sync.Mutex
}

func newSlowWriter() *slowWriter {
	return &slowWriter{asked: make(chan struct{}, 100), goOn: make(chan struct{}), gone: make(chan struct{}, 100)}
}

func (s *slowWriter) Info() model.Info { return model.Info{ID: "slow", Dialect: "none"} }

func (s *slowWriter) Generate(ctx context.Context, _ model.Request) (model.Response, error) {
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	s.asked <- struct{}{}
	select {
	case <-s.goOn:
	case <-ctx.Done():
		s.gone <- struct{}{}
		return model.Response{}, &model.Error{Fault: model.FaultConnection, Err: ctx.Err()}
	}
	var b strings.Builder
	for i, title := range []string{"Primary Request and Intent", "Key Technical Concepts", "Files and Code Sections", "Errors and Fixes", "Problem Solving", "All User Messages", "Pending Tasks", "Current Work", "Next Step"} {
		fmt.Fprintf(&b, "%d. %s:\n   The files are read one after the other, %d so far.\n\n", i+1, title, i)
	}
	return model.Response{Text: "<summary>\n" + b.String() + "</summary>", Attempts: 1}, nil
}

func (s *slowWriter) manager(t *testing.T) *policy.Manager {
	t.Helper()
	settings, err := preset.Settings(preset.Balanced)
	if err != nil {
		t.Fatal(err)
	}
	m, err := preset.New(preset.Options{Settings: settings, Condensing: &preset.Condensing{Writer: condense.WriterConfig{Model: s}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// full returns an agent whose conversation does not fit a window of 12,000
// tokens any more, and the same one step before.
func full(dialect string) (before, after *agent) {
	a := newAgent(dialect, "Read the files.")
	for n := range 4 {
		a.read(n, words(40, n))
	}
	b := *a
	b.messages = append([]string{}, a.messages...)
	for n := 4; n < 12; n++ {
		b.read(n, words(60, n))
	}
	return a, &b
}

func TestAWaitingStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	for dialect, sign := range map[string]string{"anthropic": "event: ping\n", "chat": ": precis is at work", "responses": ": precis is at work"} {
		t.Run(dialect, func(t *testing.T) {
			slow := newSlowWriter()
			s := providertest.New(t, providertest.Options{Window: 12_000})
			base, _ := start(t, s.URL, func(o *gateway.Options) {
				window(12_000)(o)
				o.Manager, o.KeepAlive = slow.manager(t), 5*time.Millisecond
			})
			_, a := full(dialect)
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			<-slow.asked
			first := make([]byte, len(sign))
			if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != sign {
				t.Fatalf("the stream begins with %q, %v", first, err)
			}
			close(slow.goOn)
			rest, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(rest), "ok") || res.StatusCode != 200 {
				t.Fatalf("%d %v %s %v", res.StatusCode, err, rest, s.Problems())
			}
			sent := s.Requests()
			if body := string(sent[len(sent)-1].Body); !strings.Contains(body, "read one after the other") {
				t.Error("the summary is not in what was sent")
			}
		})
	}
}

func TestAnErrorAfterTheStreamHasBegunIsAnEvent(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[string]string{
		"anthropic": "event: error\ndata: {\"error\"", "chat": "data: {\"error\"", "responses": "event: error\ndata: {\"type\":\"error\"",
	} {
		slow := newSlowWriter()
		s := providertest.New(t, providertest.Options{})
		s.SetDefault(providertest.Fail(model.FaultOverloaded))
		base, _ := start(t, s.URL, func(o *gateway.Options) {
			window(12_000)(o)
			o.Manager, o.KeepAlive = slow.manager(t), time.Millisecond
		})
		_, a := full(dialect)
		go func() {
			<-slow.asked
			time.AfterFunc(50*time.Millisecond, func() { close(slow.goOn) }) // some signs of life come first
		}()
		res, out := post(t, base+a.path(), a.body(true))
		if res.StatusCode != 200 || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s", dialect, res.StatusCode, out)
		}
	}
}

func TestAClientThatLeavesStopsPaying(t *testing.T) {
	t.Parallel()
	slow := newSlowWriter()
	s := providertest.New(t, providertest.Options{Window: 12_000})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager = slow.manager(t)
	})
	_, a := full("anthropic")
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if res, err := http.DefaultClient.Do(req); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-slow.asked
	cancel()
	<-ended
	select {
	case <-slow.gone:
	case <-time.After(10 * time.Second):
		t.Fatal("the summary is still being written")
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests went upstream", n)
	}
}

// TestNobodyWaitsWhileTheViewFits: a summary is prepared in the background, used
// when it is there, and asked for once.
func TestNobodyWaitsWhileTheViewFits(t *testing.T) {
	t.Parallel()
	slow := newSlowWriter()
	s := providertest.New(t, providertest.Options{Window: 12_000})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager = slow.manager(t)
	})
	a := newAgent("anthropic", "Read the files.")
	turn := func(n int) string {
		a.read(n, words(30, n))
		res, out := post(t, base+a.path(), a.body(false))
		if res.StatusCode != 200 {
			t.Fatalf("turn %d: %d %s", n, res.StatusCode, out)
		}
		return res.Header.Get("X-Precis-Action")
	}
	n := 0
	for asked := false; !asked; n++ {
		if got := turn(n); got != "none" || n > 20 {
			t.Fatalf("turn %d: %s, and no summary is prepared", n, got)
		}
		select {
		case <-slow.asked:
			asked = true
		case <-time.After(50 * time.Millisecond): // it is not due yet
		}
	}
	if got := turn(n); got != "none" { // under way: still nobody waits
		t.Fatalf("while a summary is written: %s", got)
	}
	close(slow.goOn)
	used := false
	for i := 1; i < 12 && !used; i++ {
		used = turn(n+i) == "reduced"
	}
	if !used || slow.calls != 1 {
		t.Errorf("used: %v, after %d calls", used, slow.calls)
	}
}

// TestReplicasCondenseOnce sends one request to two gateways over one store at
// the same time: one of them asks the model.
func TestReplicasCondenseOnce(t *testing.T) {
	t.Parallel()
	slow := newSlowWriter()
	st := memory.New()
	s := providertest.New(t, providertest.Options{Window: 12_000})
	replica := func(name string) string {
		base, _ := start(t, s.URL, func(o *gateway.Options) {
			window(12_000)(o)
			o.Manager, o.Store, o.Shared, o.Replica = slow.manager(t), st, true, name
		})
		return base
	}
	bases := []string{replica("a"), replica("b")}
	_, a := full("anthropic")
	var wg sync.WaitGroup
	for _, base := range bases {
		wg.Go(func() {
			if res, out := post(t, base+a.path(), a.body(false)); res.StatusCode != 200 {
				t.Errorf("%d %s", res.StatusCode, out)
			}
		})
	}
	<-slow.asked
	close(slow.goOn)
	wg.Wait()
	sent := s.Requests()
	if len(sent) != 2 || !bytes.Equal(sent[0].Body, sent[1].Body) {
		t.Fatalf("%d requests went upstream, not all the same", len(sent))
	}
	if slow.calls != 1 {
		t.Errorf("the model was asked %d times", slow.calls)
	}
}

func TestSideRequestsPass(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, g := start(t, s.URL, window(12_000))
	for name, body := range map[string]string{
		"title":    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Write a title for: fix the bug"}]}`,
		"format":   `{"model":"m","max_tokens":9,"output_config":{"format":{"type":"json_schema"}},"messages":[{"role":"user","content":"x"}]}`,
		"stateful": `{"model":"m","input":[{"role":"user","content":"a"},{"type":"item_reference","id":"x"}],"tools":[]}`,
	} {
		path := "/v1/messages"
		if name == "stateful" {
			path = "/v1/responses"
		}
		res, _ := post(t, base+path, body)
		sent := s.Requests()
		if got := res.Header.Get("X-Precis-Action"); got != "pass" || string(sent[len(sent)-1].Body) != body {
			t.Errorf("%s: %s, sent %s", name, got, sent[len(sent)-1].Body)
		}
	}
	if n := g.Status(gateway.AllOwners).Memory.Lines; n != 0 {
		t.Errorf("%d conversations are remembered", n)
	}
}

// TestAClientsOwnCompactionSeesEverything: it gets the conversation as it was
// said while that fits, and leaves no trace.
func TestAClientsOwnCompactionSeesEverything(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	small := 8000
	base, g := start(t, s.URL, func(o *gateway.Options) {
		o.Window = func(context.Context, string) precis.Window {
			return precis.Window{Tokens: small, Source: precis.SourceConfigured}
		}
	})
	a := newAgent("anthropic", "Read the files.")
	for n := range 16 {
		a.read(n, words(30, n))
		post(t, base+a.path(), a.body(false))
	}
	lines := g.Status(gateway.AllOwners).Memory.Lines
	ask := *a
	ask.messages = append(append([]string{}, a.messages...), `{"role":"user","content":"Your task is to create a detailed summary of the conversation so far."}`)
	small = 1_000_000 // the other model that compacts has room
	res, _ := post(t, base+a.path(), ask.body(false))
	sent := s.Requests()
	if string(sent[len(sent)-1].Body) != ask.body(false) {
		t.Error("the compaction does not see what was hidden")
	}
	if res.StatusCode != 200 || g.Status(gateway.AllOwners).Memory.Lines != lines {
		t.Errorf("%d, %d lines, were %d", res.StatusCode, g.Status(gateway.AllOwners).Memory.Lines, lines)
	}
	small = 8000
	res, _ = post(t, base+a.path(), ask.body(false))
	sent = s.Requests()
	if res.StatusCode != 200 || len(sent[len(sent)-1].Body) > len(ask.body(false))*3/4 || !bytes.Contains(sent[len(sent)-1].Body, []byte("create a detailed summary")) {
		t.Errorf("%d: what does not fit is not condensed: %d of %d bytes", res.StatusCode, len(sent[len(sent)-1].Body), len(ask.body(false)))
	}
}

func TestOwnersShareNothing(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	st := memory.New()
	base, g := start(t, s.URL, func(o *gateway.Options) {
		window(8000)(o)
		o.Store = st
	})
	a := newAgent("anthropic", "Read the files.")
	ids := map[string]bool{}
	for n := range 10 {
		a.read(n, words(30, n))
		for _, key := range []string{"sk-one", "sk-two"} {
			res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", key)
			ids[res.Header.Get("X-Precis-Conversation")] = true
		}
	}
	if len(ids) != 2 || g.Status(gateway.AllOwners).Memory.Lines != 2 {
		t.Errorf("conversations %v", ids)
	}
}

func jwt(subject string, issued int) string {
	return "e30." + encode(fmt.Sprintf(`{"iss":"x","sub":%q,"iat":%d}`, subject, issued)) + ".sig"
}

func TestBranchesKeepTheEditsMadeBefore(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, window(8000))
	a := newAgent("anthropic", "Read the files.")
	reducedAt := -1
	var atFork *agent
	var forkView string
	for n := range 20 {
		a.read(n, words(30, n))
		res, _ := post(t, base+a.path(), a.body(false))
		if reducedAt < 0 && res.Header.Get("X-Precis-Action") == "reduced" {
			reducedAt = n
			c := *a
			c.messages = append([]string{}, a.messages...)
			atFork = &c
			sent := s.Requests()
			forkView = prefix(string(sent[len(sent)-1].Body))
		}
	}
	if atFork == nil {
		t.Fatal("nothing was reduced")
	}
	atFork.read(900, words(5, 900))
	res, _ := post(t, base+a.path(), atFork.body(false))
	sent := s.Requests()
	if got := res.Header.Get("X-Precis-Match"); got != "branched" {
		t.Errorf("match %s", got)
	}
	if got := prefix(string(sent[len(sent)-1].Body)); !strings.HasPrefix(got, forkView) {
		t.Errorf("the branch does not begin as the conversation it left")
	}
}

func TestHeadersOfARequest(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(8000)(o)
		o.Profiles = map[string]*policy.Manager{"off": managerOf(t, preset.Off, nil)}
	})
	_, a := full("anthropic")
	res, out := post(t, base+a.path(), a.body(false), "X-Precis-Profile", "nope")
	if res.StatusCode != 400 || !strings.Contains(out, "nope") {
		t.Errorf("unknown profile: %d %s", res.StatusCode, out)
	}
	for header, value := range map[string]string{"X-Precis-Bypass": "true", "X-Precis-Profile": "off"} {
		post(t, base+a.path(), a.body(false), header, value)
		sent := s.Requests()
		last := sent[len(sent)-1]
		if string(last.Body) != a.body(false) || last.Header.Get(header) != "" {
			t.Errorf("%s: the request was changed, or the header went upstream", header)
		}
	}
}

func TestCountTokensCountsTheView(t *testing.T) {
	t.Parallel()
	var c counted
	base := c.start(t, window(8000))
	a := newAgent("anthropic", "Read the files.")
	for n := range 12 {
		a.read(n, words(30, n))
		post(t, base+a.path(), a.body(false))
	}
	turn := c.body
	post(t, base+"/v1/messages/count_tokens", a.body(false))
	var want, got struct{ Messages json.RawMessage }
	_ = json.Unmarshal(turn, &want)
	_ = json.Unmarshal(c.body, &got)
	if len(turn) >= len(a.body(false)) || !bytes.Equal(got.Messages, want.Messages) {
		t.Error("what is counted is not what is sent")
	}
}
