package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/tokens"
)

// hideOnce hides a few messages, once.
type hideOnce struct{}

func (hideOnce) Name() string { return "hide" }
func (hideOnce) Propose(_ context.Context, s *policy.Situation) (precis.Edit, error) {
	if len(s.Edits) > 0 {
		return precis.Edit{}, nil
	}
	return precis.Edit{Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 1, To: 9, With: []precis.Message{precis.NewText(precis.RoleUser, "[hidden]")}}}}, nil
}

// stuck is a rung that waits, and fails.
type stuck struct{ asked, goOn chan struct{} }

func (stuck) Name() string          { return "stuck" }
func (stuck) Traits() policy.Traits { return policy.Traits{UsesModel: true} }

func (s stuck) Propose(context.Context, *policy.Situation) (precis.Edit, error) {
	s.asked <- struct{}{}
	<-s.goOn
	return precis.Edit{}, errors.New("the model failed")
}

// A request that extends a conversation while an earlier one is being reduced
// loses nothing, and neither do those after it.
func TestOvertakenRequestsLoseNothing(t *testing.T) {
	t.Parallel()
	wait := stuck{make(chan struct{}, 10), make(chan struct{})}
	counter, err := tokens.New(tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := policy.DefaultSettings()
	settings.MinModelWindow, settings.Prepare = 0, 0
	m, err := policy.NewManager(policy.Options{Counter: counter, Settings: settings, Strategies: []policy.Strategy{hideOnce{}, wait}})
	if err != nil {
		t.Fatal(err)
	}
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager = m
	})
	_, a := full("anthropic")
	b := *a
	b.messages = append([]string{}, a.messages...)
	b.read(50, words(3, 50))
	var wg sync.WaitGroup
	send := func(body string) {
		wg.Go(func() {
			if res, out := post(t, base+a.path(), body); res.StatusCode != 200 {
				t.Errorf("%d %s", res.StatusCode, out)
			}
		})
	}
	send(a.body(false))
	<-wait.asked
	send(b.body(false))
	time.Sleep(100 * time.Millisecond) // let the second be placed
	close(wait.goOn)
	wg.Wait()
	b.read(51, words(3, 51))
	send(b.body(false))
	wg.Wait()
	first, second := 0, 0
	for _, r := range s.Requests() {
		first += strings.Count(string(r.Body), "line 2 of file 50:")
		second += strings.Count(string(r.Body), "line 2 of file 51:")
	}
	if first != 2 || second != 1 {
		t.Errorf("the newest results were sent %d and %d times, want 2 and 1", first, second)
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

// Whoever waits for another request of the conversation gets signs of life, too.
func TestSignsOfLifeWhileTheConversationIsBusy(t *testing.T) {
	t.Parallel()
	slow := newSlowWriter()
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager, o.KeepAlive = slow.manager(t), 5*time.Millisecond
	})
	_, a := full("anthropic")
	var wg sync.WaitGroup
	wg.Go(func() { post(t, base+a.path(), a.body(true)) })
	<-slow.asked
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+a.path(), strings.NewReader(a.body(true)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error("nothing comes while the conversation is busy: ", err)
	} else {
		defer res.Body.Close()
	}
	close(slow.goOn)
	wg.Wait()
}

// An answer that the upstream cuts is cut for the client as well, also when it
// is no stream.
func TestTruncatedAnswersLookTruncated(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 400} {
		for _, chunked := range []bool{false, true} {
			text := `{"id":"x","error":{"message":"` + strings.Repeat("a", 6000)
			base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, buf, err := http.NewResponseController(w).Hijack()
				if err != nil {
					return
				}
				fmt.Fprintf(buf, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n", status)
				if chunked {
					fmt.Fprintf(buf, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(text), text)
				} else {
					fmt.Fprintf(buf, "Content-Length: %d\r\n\r\n%s", len(text)+4000, text)
				}
				_ = buf.Flush()
				_ = conn.Close()
			}), nil)
			a := newAgent("chat", "hello")
			a.read(1, "x")
			res, err := http.Post(base+a.path(), "application/json", strings.NewReader(a.body(false)))
			if err != nil {
				continue // as good
			}
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err == nil {
				t.Errorf("status %d, chunked %v: the client saw a clean end of %d bytes", status, chunked, res.ContentLength)
			}
		}
	}
}

// Two conversations that begin with the same words stay two, also when one is
// only in the store.
func TestConversationsOfTheSameWordsHaveTheirOwnIDs(t *testing.T) {
	t.Parallel()
	st := memory.New()
	s := providertest.New(t, providertest.Options{})
	ids := map[string]bool{}
	for i := range 3 {
		base, g := start(t, s.URL, func(o *gateway.Options) { o.Store = st })
		a := newAgent("anthropic", "Fix the bug.")
		post(t, base+a.path(), a.body(false))
		a.read(10*i+1, "one")
		a.read(10*i+2, "two")
		res, _ := post(t, base+a.path(), a.body(false))
		ids[res.Header.Get("X-Precis-Conversation")] = true
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(ids) != 3 {
		t.Errorf("3 conversations have %d IDs", len(ids))
	}
}

// clearable is an agent whose old results its client clears.
func clearable(t *testing.T, log io.Writer, st precis.Store) (up *recorder, turn func(clear string) *http.Response, restart func()) {
	up = &recorder{}
	url := up.serve(t)
	open := func() (string, *gateway.Gateway) {
		return start(t, url, func(o *gateway.Options) {
			window(20_000)(o)
			o.Store, o.Logger = st, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		})
	}
	base, g := open()
	a := newAgent("anthropic", "Read the files one by one.")
	n := 0
	turn = func(clear string) *http.Response {
		if clear != "again" {
			n++
			a.read(n, words(60, n))
		}
		if clear != "" && clear != "again" {
			old := regexp.MustCompile(`"content":"line 0 of file ` + clear + `:[^"]*"`)
			for i := range a.messages {
				a.messages[i] = old.ReplaceAllString(a.messages[i], `"content":"[cleared]"`)
			}
		}
		res, _ := post(t, base+a.path(), a.body(false))
		return res
	}
	restart = func() {
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		base, g = open()
	}
	return up, turn, restart
}

// Edits go on over a client's clearing of old results, and over a restart after
// it.
func TestClearedResultsKeepTheEdits(t *testing.T) {
	t.Parallel()
	for _, which := range []string{"1", "9", "1[0-2]"} {
		var log bytes.Buffer
		up, turn, restart := clearable(t, &log, memory.New())
		for reduced := 0; reduced < 2; {
			if turn("").Header.Get("X-Precis-Action") == "reduced" {
				reduced++
			}
		}
		turn("")
		if got := turn(which).Header.Get("X-Precis-Match"); got != "rewritten" {
			t.Fatalf("%s: %s", which, got)
		}
		turn("again")
		before := up.last()
		restart()
		turn("again")
		if !bytes.Equal(up.last(), before) {
			t.Errorf("%s: after a restart the same request gives other bytes", which)
		}
		for range 20 {
			if turn("").Header.Get("X-Precis-Action") == "reduced" {
				break
			}
		}
		if log.Len() > 0 {
			t.Errorf("%s: %s", which, log.String())
		}
	}
}

// With reasoning switched off for a turn no breakpoint of old comes back.
func TestBreakpointsWithoutReasoning(t *testing.T) {
	t.Parallel()
	up := &recorder{}
	inner := up.serve(t)
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("block_binding")) && bytes.Contains(body, []byte(`"type":"thinking"`)) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.0: Invalid `+"`signature` in `thinking`"+` block."}}`)
			return
		}
		res, err := http.Post(inner, "application/json", bytes.NewReader(body))
		if err == nil {
			_ = res.Body.Close()
		}
		_, _ = io.WriteString(w, `{"type":"message","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
	}), window(20_000))
	const mark = `,"cache_control":{"type":"ephemeral"}`
	msgs := []string{`{"role":"user","content":"Read."}`}
	plain := false
	for n := 1; n <= 30; n++ {
		msgs = append(msgs,
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s%d"},{"type":"tool_use","id":"t%d","name":"read","input":{"path":"f%d"}MARK}]}`, n, n, n),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%sMARK}]}`, n, quote(words(60, n))))
		list := append([]string{}, msgs...)
		for i := range list { // the last two messages are marked
			with := ""
			if i >= len(list)-2 {
				with = mark
			}
			list[i] = strings.ReplaceAll(list[i], "MARK", with)
		}
		post(t, base+"/v1/messages", fmt.Sprintf(`{"model":"claude-opus-5-5","max_tokens":500,"thinking":{"type":"adaptive"},"system":"You read.","messages":[%s],"tools":[{"name":"read","input_schema":{"type":"object"}}]}`, strings.Join(list, ",")))
		sent := string(up.last())
		plain = plain || strings.Contains(sent, `"thinking":{"type":"disabled"}`)
		if k := strings.Count(sent, `"cache_control":{`); k > 4 {
			t.Fatalf("turn %d: %d breakpoints", n, k)
		}
	}
	if !plain {
		t.Error("reasoning was never switched off")
	}
}

// A conversation whose client rewrote it elsewhere goes on by itself.
func TestTheOldFormOfARewrittenConversationGoesOn(t *testing.T) {
	t.Parallel()
	up := &recorder{}
	base, _ := start(t, up.serve(t), window(20_000))
	a := newAgent("anthropic", "Read the files one by one.")
	turn := func(a *agent, n int) string {
		a.read(n, words(60, n))
		res, _ := post(t, base+a.path(), a.body(false))
		return res.Header.Get("X-Precis-Action")
	}
	for n := 1; n <= 5; n++ {
		turn(a, n)
	}
	b := *a
	b.messages = append([]string{}, a.messages...)
	old := regexp.MustCompile(`"content":"line 0 of file [1-3]:[^"]*"`)
	for i := range b.messages {
		b.messages[i] = old.ReplaceAllString(b.messages[i], `"content":"[cleared]"`)
	}
	turn(&b, 100)
	reduced := 0
	for n := 6; n < 40; n++ {
		if turn(a, n) == "reduced" {
			reduced++
		}
	}
	if reduced > 10 {
		t.Errorf("reduced in %d of 34 turns: nothing is recorded any more", reduced)
	}
}

// What a tool returned is not the client's own request for a summary.
func TestResultsThatSpeakOfSummariesAreResults(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{Window: 12_000})
	base, _ := start(t, s.URL, window(12_000))
	a := newAgent("anthropic", "Read the files.")
	for n := range 24 {
		a.read(n, words(60, n))
	}
	a.read(60, "func compact() { // create a summary of the conversation so far\n}")
	res, out := post(t, base+a.path(), a.body(false))
	if res.StatusCode != 200 || res.Header.Get("X-Precis-Action") != "reduced" {
		t.Errorf("%d %s %s", res.StatusCode, res.Header.Get("X-Precis-Action"), out)
	}
}

// noEdits is a store that cannot keep edits.
type noEdits struct{ *memory.Store }

func (noEdits) AddEdit(context.Context, string, precis.Edit) error { return errGone }
func (n noEdits) Scope(string) precis.Store                        { return n }

func TestAFailingStoreCostsNoSecondSummary(t *testing.T) {
	t.Parallel()
	slow := newSlowWriter()
	close(slow.goOn)
	s := providertest.New(t, providertest.Options{})
	base, _ := start(t, s.URL, func(o *gateway.Options) {
		window(12_000)(o)
		o.Manager, o.Store = slow.manager(t), noEdits{memory.New()}
	})
	_, a := full("anthropic")
	res, _ := post(t, base+a.path(), a.body(false))
	if slow.calls != 1 || res.Header.Get("X-Precis-Action") != "reduced" {
		t.Errorf("%d model calls, %s", slow.calls, res.Header.Get("X-Precis-Action"))
	}
}

// What an account is told of its window holds for no other.
func TestWindowsAreThoseOfTheAccount(t *testing.T) {
	t.Parallel()
	base, _ := start(t, handler(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Api-Key") == "small" && len(body) > 20_000 {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 5000 maximum"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"type":"message","content":[],"usage":{"input_tokens":10,"output_tokens":1}}`)
	}), window(100_000))
	_, a := full("anthropic")
	for key, want := range map[string]string{"small": "5000 learned", "large": "100000 configured"} {
		res, _ := post(t, base+a.path(), a.body(false), "X-Api-Key", key)
		if got := res.Header.Get("X-Precis-Window"); got != want {
			t.Errorf("%s: window %s, want %s", key, got, want)
		}
	}
}

func TestPathsPassAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	var got string
	base, _ := start(t, handler(t, func(_ http.ResponseWriter, r *http.Request) { got = r.RequestURI }), nil)
	for _, p := range []string{"/v1/models/meta-llama%2FLlama-3?a=%20b", "/v1/files/a%3Fb", "/v1/x/", "/v1/a//b", "/models", "/up/v1/files/x"} {
		res, err := http.Get(base + p)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		want := map[string]string{"/models": "/v1/models", "/up/v1/files/x": "/v1/files/x"}[p]
		if want == "" {
			want = p
		}
		if got != want {
			t.Errorf("%s arrived as %s", p, got)
		}
	}
}

// oneEdit is a store that keeps one edit of a run and fails at the next.
type oneEdit struct {
	*memory.Store
	kept *atomic.Int64 // the saver writes beside the requests
}

func (o oneEdit) AddEdit(ctx context.Context, after string, e precis.Edit) error {
	if o.kept.Add(1) > 1 {
		return errGone
	}
	return o.Store.AddEdit(ctx, after, e)
}
func (o oneEdit) Scope(string) precis.Store { return o }

// A store that fails in the middle of a run leaves no edit twice and none out.
func TestAStoreThatFailsInTheMiddleOfARun(t *testing.T) {
	t.Parallel()
	s := providertest.New(t, providertest.Options{})
	views := make([]string, 2)
	var tries atomic.Int64
	for i := range views {
		base, _ := start(t, s.URL, func(o *gateway.Options) {
			window(12_000)(o)
			if i == 1 {
				o.Store = oneEdit{memory.New(), &tries}
			}
		})
		a := newAgent("anthropic", "Read the files.")
		for n := range 60 {
			a.read(n, words(60, n%3)) // the same files again, so that several rungs have work
		}
		if res, out := post(t, base+a.path(), a.body(false)); res.Header.Get("X-Precis-Action") != "reduced" {
			t.Fatalf("%d %s", res.StatusCode, out)
		}
		sent := s.Requests()
		views[i] = string(sent[len(sent)-1].Body)
	}
	if tries.Load() < 2 {
		t.Fatal("the run has one edit only")
	}
	if views[0] != views[1] {
		t.Errorf("the view differs: %d and %d bytes", len(views[0]), len(views[1]))
	}
}
