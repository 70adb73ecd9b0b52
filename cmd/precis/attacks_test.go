package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// attacked is the real program, between clients that mean harm and an upstream that
// writes down what it is asked.
type attacked struct {
	t        *testing.T
	addr     string
	store    string
	log      string // file of standard error
	upstream *httptest.Server

	mu   sync.Mutex
	seen []*http.Request // by the upstream, with their bodies
}

const answer = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":1}}`

// attack starts a gateway with lines of configuration.
func attack(t *testing.T, settings ...string) *attacked {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it starts a process")
	}
	dir := t.TempDir()
	a := &attacked{t: t, store: filepath.Join(dir, "store.db"), log: filepath.Join(dir, "log")}
	a.upstream = httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(a.upstream.Close)
	file := filepath.Join(dir, "config.yaml")
	// The upstream is not asked for a window that is configured.
	text := "window: 200000\ngateway:\n  " + strings.Join(append(settings, "listen: 127.0.0.1:0", "upstream: "+a.upstream.URL, "store: "+a.store), "\n  ") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := exec.LookPath("precis") // this very test, as the command; see TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, self, "gateway", "--config", file, "--log-format", "json")
	cmd.Dir, cmd.Cancel = dir, func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	a.addr = a.listens(errs)
	t.Cleanup(cancel)
	return a
}

// listens reads standard error up to where the gateway says where it listens, and
// keeps the rest in the file of the log.
func (a *attacked) listens(errs io.Reader) string {
	log, err := os.Create(a.log)
	if err != nil {
		a.t.Fatal(err)
	}
	in := bufio.NewReader(errs)
	var before strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			a.t.Fatalf("the gateway does not listen: %s%s", before.String(), line)
		}
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), "precis gateway listens on http://"); ok {
			done := make(chan struct{})
			go func() { defer close(done); defer log.Close(); _, _ = io.Copy(log, in) }()
			a.t.Cleanup(func() { <-done })
			return addr
		}
		before.WriteString(line)
	}
}

func (a *attacked) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.mu.Lock()
	a.seen = append(a.seen, r)
	a.mu.Unlock()
	if r.Header.Get("X-Api-Key") == "wrong" || strings.Contains(r.Header.Get("Authorization"), "forged") {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"no"}}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer)
}

// asked returns what the upstream was asked since the last call.
func (a *attacked) asked() []*http.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.seen
	a.seen = nil
	return out
}

// theEnd ends a request after which the client closes its side: the gateway would
// wait for more.
const theEnd = "\x00the end\x00"

// raw sends bytes as they are and returns the status of the answer, 0 when the
// connection is closed without one, and what came after the head.
func (a *attacked) raw(request string) (status int, header http.Header, body string) {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // the test must not hang
	if _, err := io.WriteString(conn, request); err != nil {
		return 0, nil, ""
	}
	if strings.HasSuffix(request, theEnd) {
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, resp.Header, string(text)
}

// post sends a body to a path with headers, "Name: value" each.
func (a *attacked) post(path, body string, headers ...string) (status int, header http.Header, text string) {
	a.t.Helper()
	head := append([]string{"POST " + path + " HTTP/1.1", "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body)), "Connection: close"}, headers...)
	if !strings.Contains(strings.ToLower(strings.Join(headers, "\n")), "host:") {
		head = append(head, "Host: "+a.addr)
	}
	return a.raw(strings.Join(head, "\r\n") + "\r\n\r\n" + body)
}

func hello(text string) string {
	data, _ := json.Marshal(text)
	return `{"model":"claude-sonnet-4-5","max_tokens":64,"tools":[{"name":"t","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":` + string(data) + `}]}`
}

// alive fails the test when the gateway does not serve an ordinary client.
func (a *attacked) alive(after string) {
	a.t.Helper()
	a.asked()
	status, _, body := a.post("/v1/messages", hello("hi"), "X-Api-Key: sk-good")
	asked := a.asked()
	if status != 200 || len(asked) != 1 {
		a.t.Errorf("after %s an ordinary request gets %d, with %d requests upstream: %s", after, status, len(asked), body)
		for _, r := range asked {
			a.t.Log(r.Method, r.URL, r.Header)
		}
	}
}

func TestAttacksOnFraming(t *testing.T) {
	a := attack(t)
	body := hello("hi")
	n := len(body)
	host := "Host: " + a.addr + "\r\n"
	post := "POST /v1/messages HTTP/1.1\r\n" + host
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", n, body)
	smuggled := "GET /admin HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, request := range map[string]string{
		"two lengths":                 post + fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s", n, n+5, body),
		"a length and chunks":         post + fmt.Sprintf("Content-Length: 4\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%s%s", chunked, smuggled),
		"an unknown transfer coding":  post + "Transfer-Encoding: xchunked\r\n\r\n" + chunked + smuggled,
		"a coding with a space":       post + "Transfer-Encoding : chunked\r\n\r\n" + chunked + smuggled,
		"a negative length":           post + "Content-Length: -1\r\n\r\n" + body,
		"a length that is no number":  post + "Content-Length: 1e3\r\n\r\n" + body,
		"a length with a plus":        post + fmt.Sprintf("Content-Length: +%d\r\n\r\n%s", n, body),
		"a folded header":             post + fmt.Sprintf("Content-Length: %d\r\nX-Api-Key: a\r\n b\r\nConnection: close\r\n\r\n%s", n, body),
		"a NUL in a header":           post + fmt.Sprintf("Content-Length: %d\r\nX-Api-Key: a\x00b\r\nConnection: close\r\n\r\n%s", n, body),
		"a line break in the path":    "POST /v1/messages\r\nX: y HTTP/1.1\r\n" + host + "\r\n",
		"an encoded line break":       "GET /v1/%0d%0aX-Evil:%201 HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n",
		"two hosts":                   "POST /v1/messages HTTP/1.1\r\n" + host + "Host: evil.example\r\n\r\n",
		"no host":                     "POST /v1/messages HTTP/1.1\r\n\r\n",
		"another host in the target":  "POST http://evil.example/v1/messages HTTP/1.1\r\n" + host + fmt.Sprintf("Content-Length: %d\r\nConnection: close\r\n\r\n%s", n, body),
		"a tunnel":                    "CONNECT evil.example:443 HTTP/1.1\r\n" + host + "\r\n",
		"TRACE":                       "TRACE /v1/messages HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n",
		"HTTP/0.9":                    "GET /v1/messages\r\n" + theEnd,
		"HTTP/2 with prior knowledge": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"a head without end":          post + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 3000) + theEnd,
		"very many headers":           post + strings.Repeat("A: b\r\n", 200_000) + "\r\n",
		"chunks that lie":             post + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\nffffffffffffffff\r\n" + body + theEnd,
		"half a body":                 post + fmt.Sprintf("Content-Length: %d\r\nConnection: close\r\n\r\n%s", n, body[:n/2]) + theEnd,
	} {
		a.asked()
		status, header, _ := a.raw(request)
		for _, r := range a.asked() {
			if !strings.HasPrefix(r.URL.EscapedPath(), "/v1/") || strings.ContainsAny(r.RequestURI, "\r\n") || r.Header.Get("X-Evil") != "" || r.Host != strings.TrimPrefix(a.upstream.URL, "http://") {
				t.Errorf("%s: the upstream was asked for %s of %s", name, r.URL, r.Host)
			}
			if strings.ContainsAny(r.Header.Get("X-Api-Key"), "\x00\r\n") {
				t.Errorf("%s: the upstream got the header %q", name, r.Header.Get("X-Api-Key"))
			}
		}
		if status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported {
			t.Errorf("%s: %d", name, status)
		}
		if header.Get("X-Evil") != "" {
			t.Errorf("%s: a header was set by the path", name)
		}
		a.alive(name)
	}
}

func TestAttacksByBodies(t *testing.T) {
	a := attack(t)
	ok := hello("hi")
	deep := func(opens, closes string, n int) string {
		return `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":` + strings.Repeat(opens, n) + strings.Repeat(closes, n) + `}]}]}`
	}
	for name, body := range map[string]string{
		"nothing":                    "",
		"no JSON":                    "hello",
		"a list":                     "[1]",
		"two documents":              ok + ok,
		"text behind it":             ok + "x",
		"a NUL behind it":            ok + "\x00",
		"a byte order mark":          "\ufeff" + ok,
		"cut off":                    ok[:len(ok)-3],
		"duplicate messages":         `{"messages":[],` + ok[1:],
		"duplicates by an escape":    `{"m\u0065ssages":[],` + ok[1:],
		"messages that are a text":   `{"model":"m","max_tokens":1,"messages":"x"}`,
		"a role that is a number":    `{"model":"m","max_tokens":1,"messages":[{"role":1,"content":"x"}]}`,
		"content that is an object":  `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":{}}]}`,
		"blocks that are texts":      `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":["x"]}]}`,
		"a block without a type":     `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{}]}]}`,
		"a tool use without an ID":   `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use"}]}]}`,
		"half a surrogate":           `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\ud800"}]}`,
		"no UTF-8":                   "{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}",
		"a number of a megabyte":     `{"model":"m","max_tokens":` + strings.Repeat("9", 1<<20) + `,"messages":[]}`,
		"a name of a megabyte":       `{"` + strings.Repeat("n", 1<<20) + `":1,` + ok[1:],
		"a model of a megabyte":      `{"model":"` + strings.Repeat("m", 1<<20) + `","max_tokens":1,"messages":[]}`,
		"lists 100,000 deep":         deep("[", "]", 100_000),
		"objects 100,000 deep":       `{"model":"m","max_tokens":1,"x":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + `,"messages":[]}`,
		"results 4,000 deep":         deep(`[{"type":"tool_result","content":`, "}]", 4000),
		"lists that do not end":      `{"messages":` + strings.Repeat("[", 1<<20),
		"a stream that is no number": `{"model":"m","max_tokens":1,"stream":"yes","messages":[{"role":"user","content":"x"}]}`,
	} {
		for _, path := range []string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/messages/count_tokens", "/v1/responses/compact"} {
			a.asked()
			status, _, _ := a.post(path, body, "X-Api-Key: sk-good")
			asked := a.asked()
			if status == 0 || status >= 500 {
				t.Errorf("%s to %s: %d", name, path, status)
			}
			if len(asked) > 1 {
				t.Errorf("%s to %s: the upstream was asked %d times", name, path, len(asked))
			}
			for _, r := range asked {
				if got, _ := io.ReadAll(r.Body); string(got) != body {
					t.Errorf("%s to %s: what is not understood was forwarded with other bytes", name, path)
				}
			}
		}
	}
	a.alive("all bodies")
}

func TestAttacksByCompression(t *testing.T) {
	a := attack(t)
	zip := func(data []byte) string {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		w.Write(data)
		w.Close()
		return b.String()
	}
	bomb := zip(bytes.Repeat([]byte(" "), 100<<20))
	for name, c := range map[string]struct {
		encoding, body string
		want           []int
	}{
		"an ordinary body":      {"gzip", zip([]byte(hello("hi"))), []int{200}},
		"a bomb":                {"gzip", bomb, []int{400, 413}},
		"a bomb in ten members": {"gzip", strings.Repeat(zip(bytes.Repeat([]byte(" "), 10<<20)), 10), []int{400, 413}},
		"cut off":               {"gzip", zip([]byte(hello("hi")))[:60], []int{400}},
		"no gzip":               {"gzip", hello("hi"), []int{400}},
		"no zstd":               {"zstd", hello("hi"), []int{400}},
		"a zstd window of 2^41": {"zstd", "\x28\xb5\x2f\xfd\x00\xf8" + strings.Repeat("\x00", 64), []int{400, 413}},
		"two codings":           {"gzip, gzip", zip([]byte(zip([]byte(hello("hi"))))), []int{200, 400, 415}}, // passed on: the upstream knows
	} {
		status, _, text := a.post("/v1/messages", c.body, "Content-Encoding: "+c.encoding, "X-Api-Key: sk-good")
		if !contains(c.want, status) {
			t.Errorf("%s: %d, want one of %v: %.200s", name, status, c.want, text)
		}
		a.alive(name)
	}
}

func contains(all []int, n int) bool {
	for _, m := range all {
		if m == n {
			return true
		}
	}
	return false
}

func TestAttacksByBrowsers(t *testing.T) {
	a := attack(t)
	body := hello("hi")
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.nip.io", "localhost.evil.example", "0x7f000001.evil", "", "a@b", "localhost:1:2"} {
		status, _, _ := a.post("/v1/messages", body, "Host: "+host)
		if status == 200 || len(a.asked()) > 0 {
			t.Errorf("by the name %q: %d", host, status)
		}
	}
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:1", "http://127.0.0.1.evil.example", "http://" + a.addr + "@evil.example", "http://user@" + a.addr, "file://"} {
		status, header, _ := a.post("/v1/messages", body, "Origin: "+origin)
		if status == 200 || len(a.asked()) > 0 {
			t.Errorf("by a page of %q: %d", origin, status)
		}
		for name := range header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("by a page of %q: the answer has %s", origin, name)
			}
		}
	}
	for name, request := range map[string]string{
		"a preflight":               "OPTIONS /v1/messages HTTP/1.1\r\nHost: " + a.addr + "\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
		"a form of another site":    "POST /precis/api/v1/purge HTTP/1.1\r\nHost: " + a.addr + "\r\nSec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"all\":true}",
		"a form without an origin":  "POST /precis/api/v1/purge HTTP/1.1\r\nHost: " + a.addr + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"all\":true}",
		"a web socket":              "GET /precis/api/v1/events HTTP/1.1\r\nHost: " + a.addr + "\r\nOrigin: https://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"our paths spelled askance": "GET /%70recis/api/v1/conversations HTTP/1.1\r\nHost: " + a.addr + "\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n",
		"two slashes":               "GET //precis/api/v1/conversations HTTP/1.1\r\nHost: " + a.addr + "\r\nX-Forwarded-For: 10.0.0.9\r\nConnection: close\r\n\r\n",
		"up and down":               "GET /x/../precis/api/v1/conversations HTTP/1.1\r\nHost: " + a.addr + "\r\nX-Forwarded-For: 10.0.0.9\r\nConnection: close\r\n\r\n",
	} {
		status, header, text := a.raw(request)
		if status < 300 && status != http.StatusNoContent || status == http.StatusSwitchingProtocols || header.Get("Access-Control-Allow-Origin") != "" || strings.Contains(text, "conversations\":") {
			t.Errorf("%s: %d: %.200s", name, status, text)
		}
	}
	a.alive("all pages")
}

// makeKeys has the program make keys, the last for an admin.
func makeKeys(t *testing.T, names ...string) (file string, of map[string]string) {
	t.Helper()
	file, of = filepath.Join(t.TempDir(), "keys"), map[string]string{}
	var lines strings.Builder
	for i, name := range names {
		args := []string{"gateway", "key", name}
		if i == len(names)-1 {
			args = append(args, "--admin")
		}
		out, err := exec.Command("precis", args...).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "pk-") {
				of[name] = strings.TrimSpace(line)
			} else if strings.HasPrefix(line, name+" ") {
				lines.WriteString(line)
			}
		}
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, of
}

// keyHash returns the hash that a file of keys holds first.
func keyHash(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil || len(strings.Fields(string(data))) < 2 {
		t.Fatalf("%q, %v", data, err)
	}
	return strings.Fields(string(data))[1]
}

// With gateway keys, requests without a key are refused before their body is read, and no verb
// shows data of another owner.
func TestAttacksOnOwners(t *testing.T) {
	keys, of := makeKeys(t, "alice", "bob", "root")
	a := attack(t, "keys_file: "+keys)
	for _, key := range []string{"", "X-Precis-Key: wrong", "X-Precis-Key: alice", "X-Precis-Key: " + keyHash(t, keys), "Authorization: Bearer pk-wrong"} {
		head := "POST /v1/messages HTTP/1.1\r\nHost: " + a.addr + "\r\nContent-Length: 1000000\r\n"
		if key != "" {
			head += key + "\r\n"
		}
		if status, _, _ := a.raw(head + "\r\n"); status != http.StatusUnauthorized {
			t.Errorf("with %q and no body: %d", key, status)
		}
	}
	secret := "the secret of alice"
	status, header, _ := a.post("/v1/messages", hello(secret), "X-Precis-Key: "+of["alice"], "X-Api-Key: sk-good")
	id := header.Get("X-Precis-Conversation")
	if status != 200 || id == "" {
		t.Fatalf("alice gets %d, conversation %q", status, id)
	}
	for _, r := range a.asked() {
		if r.Header.Get("X-Precis-Key") != "" {
			t.Error("the gateway's key went upstream")
		}
	}
	api := func(key, method, path, body string) (int, string) {
		req := fmt.Sprintf("%s /precis/api/v1%s HTTP/1.1\r\nHost: %s\r\nX-Precis-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", method, path, a.addr, key, len(body), body)
		status, _, text := a.raw(req)
		return status, text
	}
	one := "/conversations/" + id
	if status, text := api(of["alice"], "GET", one+"/messages", ""); status != 200 || !strings.Contains(text, secret) {
		t.Fatalf("alice does not see her own: %d %s", status, text)
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", one, ""}, {"GET", one + "/messages", ""}, {"GET", one + "/messages/m0", ""}, {"GET", one + "/view", ""}, {"GET", one + "/view/anthropic", ""}, {"GET", one + "/edits", ""}, {"GET", one + "/loss", ""},
		{"POST", one + "/condense", "{}"}, {"POST", one + "/preview", "{}"}, {"POST", one + "/undo", "{}"}, {"POST", one + "/pin", `{"handles":["m0"]}`}, {"POST", one + "/restore", `{"handle":"m0"}`},
		{"POST", one + "/rewind", `{"messages":0}`}, {"POST", one + "/branch", `{"messages":1}`}, {"GET", "/search?q=secret", ""}, {"GET", "/search?q=secret&conversation=" + id, ""}, {"GET", "/ledger", ""}, {"GET", "/ledger?conversation=" + id, ""},
		{"GET", "/conversations", ""}, {"GET", "/conversations?text=secret", ""}, {"PATCH", "/settings", `{"threshold":5}`}, {"POST", "/purge", `{"ids":["` + id + `"]}`}, {"POST", "/purge", `{"all":true}`},
		{"GET", "/conversations/*", ""}, {"GET", "/conversations/..%2f" + id, ""}, {"GET", "/conversations?cursor=" + base64.RawURLEncoding.EncodeToString([]byte(id)), ""},
	} {
		status, text := api(of["bob"], c.method, c.path, c.body)
		if strings.Contains(text, secret) || strings.Contains(text, `"id":"`+id) {
			t.Errorf("bob: %s %s: %d %s", c.method, c.path, status, text)
		}
	}
	if status, text := api(of["alice"], "GET", one+"/messages", ""); status != 200 || !strings.Contains(text, secret) {
		t.Errorf("after bob tried, alice has %d %s", status, text)
	}
	if status, _ := api(of["bob"], "PATCH", "/settings", `{"threshold":5}`); status != http.StatusForbidden {
		t.Errorf("bob changes the settings: %d", status)
	}
	if status, text := api(of["root"], "GET", one+"/messages", ""); status != 200 || !strings.Contains(text, secret) {
		t.Errorf("the admin does not see it: %d", status)
	}
	// The same words of another owner are another conversation, whatever its headers hint.
	_, header, _ = a.post("/v1/messages", hello(secret), "X-Precis-Key: "+of["bob"], "X-Api-Key: sk-good", "X-Precis-Conversation: "+id)
	if got := header.Get("X-Precis-Conversation"); got == id {
		t.Error("bob's conversation is alice's")
	}
}

// No credential of a client and no text of a conversation appears in the log, in metrics, or in
// files that others can read.
func TestNothingLeaks(t *testing.T) {
	a := attack(t)
	for _, canary := range []string{"X-Api-Key: canary-key-1", "Authorization: Bearer canary-key-2", "X-Goog-Api-Key: canary-key-3", "Cookie: canary-key-4", "Anthropic-Beta: canary-key-5"} {
		a.post("/v1/messages", hello("canary-said-1"), canary)
		a.post("/v1/messages?key=canary-key-6", `{"canary-field-1":1,"canary-field-1":2,`+hello("canary-said-2")[1:], canary)
		a.post("/canary-path-1/v1/x", "canary-said-3", canary)
	}
	a.upstream.Close() // errors of the way, too
	a.post("/v1/messages?key=canary-key-7", hello("canary-said-4"), "X-Api-Key: canary-key-8")
	_, _, metrics := a.raw("GET /metrics HTTP/1.1\r\nHost: " + a.addr + "\r\nConnection: close\r\n\r\n")
	log, err := os.ReadFile(a.log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(metrics, "precis_requests_total") || !bytes.Contains(log, []byte(`"status":200`)) {
		t.Fatalf("there are no metrics or no log to look at: %.300s\n%.300s", metrics, log)
	}
	for what, text := range map[string]string{"log": string(log), "metrics": metrics} {
		if at := strings.Index(text, "canary-key"); at >= 0 {
			t.Errorf("the %s holds a key: …%s", what, text[max(at-80, 0):at+12])
		}
		if at := strings.Index(text, "canary-said"); at >= 0 {
			t.Errorf("the %s holds what was said: …%s", what, text[max(at-80, 0):at+12])
		}
	}
	files, _ := filepath.Glob(a.store + "*")
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			continue // a log of writes that was just removed
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others can read %s: %v", filepath.Base(name), info.Mode())
		}
		if data, _ := os.ReadFile(name); bytes.Contains(data, []byte("canary-key")) {
			t.Errorf("a key is in %s", filepath.Base(name))
		}
	}
	if len(files) == 0 {
		t.Error("there is no store")
	}
}

// Five hundred stalled clients, and fifty that announce large bodies, do not block others.
func TestSlowClientsOfTheProgram(t *testing.T) {
	a := attack(t)
	for i := range 560 {
		conn, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Skip("so many connections cannot be opened here: ", err)
		}
		t.Cleanup(func() { conn.Close() })
		size := 1000
		if i >= 510 {
			size = 67_000_000
		}
		fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n{\"mod", a.addr, size)
	}
	a.alive("slow clients")
	if status, _, text := a.raw("GET /readyz HTTP/1.1\r\nHost: " + a.addr + "\r\nConnection: close\r\n\r\n"); status != 200 {
		t.Errorf("there is room, and /readyz says %d: %s", status, text)
	}
}
