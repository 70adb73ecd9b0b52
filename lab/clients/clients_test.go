package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis/internal/upstream"
)

// The test program is client and gateway, too.
func TestMain(m *testing.M) {
	roles := map[string]func() error{"client": agent, "gateway": proxy, "sleep": func() error { time.Sleep(time.Minute); return nil }}
	role, ok := roles[os.Getenv("TEST_ROLE")]
	if !ok {
		os.Exit(m.Run())
	}
	if err := role(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// agent reads files on request over Chat Completions.
func agent() error {
	if file := os.Getenv("TEST_LEAVES"); file != "" {
		if err := leave(file); err != nil {
			return err
		}
	}
	messages := []any{object{"role": "user", "content": task}}
	tools := []any{object{"type": "function", "function": object{"name": "read", "parameters": object{"properties": object{"path": object{"type": "string"}}}}}}
	for {
		body, _ := json.Marshal(object{"model": "m", "messages": messages, "tools": tools})
		resp, err := http.Post(os.Getenv("TEST_BASE")+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		var answer struct {
			Choices []struct{ Message json.RawMessage }
		}
		if json.Unmarshal(text, &answer) != nil || len(answer.Choices) == 0 {
			return fmt.Errorf("status %d: %s", resp.StatusCode, text)
		}
		var said struct {
			Content string
			Calls   []struct {
				ID       string
				Function struct{ Arguments string }
			} `json:"tool_calls"`
		}
		_ = json.Unmarshal(answer.Choices[0].Message, &said)
		messages = append(messages, answer.Choices[0].Message)
		if len(said.Calls) == 0 {
			fmt.Println(said.Content)
			return nil
		}
		for _, c := range said.Calls {
			var args struct{ Path string }
			_ = json.Unmarshal([]byte(c.Function.Arguments), &args)
			file, err := os.ReadFile(args.Path)
			if err != nil {
				return err
			}
			messages = append(messages, object{"role": "tool", "tool_call_id": c.ID, "content": string(file)})
		}
	}
}

// leave starts a process in the background and writes down its ID.
func leave(file string) error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEST_ROLE=sleep")
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}

// proxy is a gateway that only forwards.
func proxy() error {
	to, err := url.Parse(os.Getenv("UPSTREAM"))
	if err != nil {
		return err
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	dies, n := os.Getenv("TEST_DIES") != "", 0
	return http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; dies && n > 3 {
			fmt.Println("panic: of a test")
			os.Exit(2)
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		r.Body = io.NopCloser(&b) // a proxy that reads the end of a body after the answer began breaks the answer
		forward.ServeHTTP(w, r)
	}))
}

func fake(env ...string) SetUp {
	return SetUp{Name: "fake", Dialect: "chat", command: func(p *place) ([]string, []string, error) {
		return []string{os.Args[0]}, append(env, "TEST_ROLE=client", "TEST_BASE="+p.v1()), nil
	}}
}

func options(window int) Options {
	return Options{Files: 6, Timeout: time.Minute, Upstream: upstream.Options{Window: window}}
}

func TestRun(t *testing.T) {
	for _, gateway := range []string{"", "TEST_ROLE=gateway exec " + os.Args[0]} {
		o := options(0)
		o.Gateway = gateway
		r := Run(t.Context(), fake(), o)
		if !r.Sound() || r.Begun != 6 || r.Whole != 6 || r.Requests != 6 || r.Upstream.Main != 6 {
			t.Errorf("with gateway %q: %+v", gateway, r)
		}
		if r.Share < 0.9 || r.Upstream.Splices != 0 {
			t.Errorf("%.3f from the cache, %d splices", r.Share, r.Upstream.Splices)
		}
	}
}

func TestRunThatOverflows(t *testing.T) {
	o := options(20_000)
	o.Keep = t.TempDir()
	r := Run(t.Context(), fake(), o)
	if r.Sound() || r.Exit != 1 || r.Overflows != 1 || r.Upstream.Overflows != 1 || r.Errors != 0 || r.Begun == 0 || r.Begun == 6 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"client.log", "exchanges.json", "result.json", "0001.json", "0001.answer"} {
		if _, err := os.Stat(filepath.Join(o.Keep, "fake", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestRunThatNeverEnds(t *testing.T) {
	o := options(0)
	o.Timeout = 200 * time.Millisecond
	s := SetUp{Name: "stuck", command: func(*place) ([]string, []string, error) {
		return []string{os.Args[0]}, []string{"TEST_ROLE=sleep"}, nil
	}}
	if r := Run(t.Context(), s, o); !r.Timeout || r.Exit != -1 || r.Seconds > 20 {
		t.Errorf("%+v", r)
	}
}

func TestGatewayThatEnds(t *testing.T) {
	o := options(0)
	for gateway, want := range map[string]string{
		"echo no such thing; exit 3":                  "the gateway ended: no such thing",
		"TEST_DIES=1 TEST_ROLE=gateway " + os.Args[0]: "the gateway ended: panic: of a test",
	} {
		o.Gateway = gateway
		if r := Run(t.Context(), fake(), o); r.Error != want || r.Sound() {
			t.Errorf("%s: the error is %q", gateway, r.Error)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("needs /proc")
	}
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(t.TempDir(), "pid")
	if r := Run(t.Context(), fake("TEST_LEAVES="+file), options(0)); !r.Sound() {
		t.Fatalf("%+v", r)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// What was killed may wait for its parent; its command line is empty then.
	if line, err := os.ReadFile("/proc/" + string(pid) + "/cmdline"); err == nil && len(line) > 0 {
		t.Errorf("process %s is still there", pid)
	}
	if rest, _ := os.ReadDir(os.Getenv("TMPDIR")); len(rest) > 0 {
		t.Errorf("%s is still there", rest[0].Name())
	}
}

func TestProjectIsAlwaysTheSame(t *testing.T) {
	var texts []string
	for range 2 {
		paths, err := writeProject(t.TempDir(), 3, FileBytes)
		if err != nil || len(paths) != 3 {
			t.Fatal(paths, err)
		}
		text, err := os.ReadFile(paths[1])
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	set := map[int]bool{}
	found(set, []byte(texts[0]), beginning)
	found(set, []byte(texts[0]), middle)
	found(set, []byte(texts[0]), ending)
	if texts[0] != texts[1] || len(texts[0]) < FileBytes || len(set) != 1 || !set[2] {
		t.Errorf("%d and %d bytes, marks %v", len(texts[0]), len(texts[1]), set)
	}
}

func TestTapSeesOverflows(t *testing.T) {
	const words = `"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."`
	tests := []struct {
		kind, body string
		status     int
		want       bool
	}{
		{"application/json", `{"error":{` + words + `}}`, 400, true},
		{"application/json", `{"error":{"message":"wrong"}}`, 400, false},
		{"application/json", `{"choices":[{"message":{"content":"context_length_exceeded"}}]}`, 200, false},
		{"text/event-stream", "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{" + words + "}}}\n\n", 200, true},
		{"text/event-stream", "data: {\"type\":\"response.output_text.delta\",\"delta\":\"prompt is too long\"}\n\n", 200, false},
	}
	for _, test := range tests {
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", test.kind)
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		}))
		tap, err := newTap(backend.URL, "")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(tap.url+"/v1/responses", "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		tap.close()
		backend.Close()
		if x := tap.exchanges[0]; string(got) != test.body || x.Overflow != test.want || x.Status != test.status {
			t.Errorf("%s: overflow %v, status %d", test.body, x.Overflow, x.Status)
		}
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	results := []Result{
		{Name: "one", Done: true, Begun: 45, Whole: 45, Upstream: upstream.Stats{Requests: 45, Again: 10}, Share: 0.5},
		{Name: "two", Exit: 1, Timeout: true, Output: "it failed", Upstream: upstream.Stats{Refused: []string{"why", "why"}}},
	}
	if err := Table(&out, results); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"50.0 %", "timeout", "two: its last line: it failed", "two: refused 2 times: why"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestNamed(t *testing.T) {
	got, unknown := Named([]string{"codex", "nobody"})
	if len(got) != 1 || got[0].Name != "codex" || len(unknown) != 1 {
		t.Errorf("%v, %v", got, unknown)
	}
	if all, _ := Named(nil); len(all) != 19 {
		t.Errorf("%d set-ups", len(all))
	}
}
