package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// served starts precis serve and returns its URL, and what ends it.
func served(t *testing.T, store string, args ...string) (base string, stop func()) {
	t.Helper()
	self, err := exec.LookPath("precis") // this very test, as the command; see TestMain
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, self, append([]string{"serve", "--listen", "127.0.0.1:0", "--store", store}, args...)...)
	cmd.Dir, cmd.Cancel = dir, func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(errs)
	line, _ := in.ReadString('\n')
	done := make(chan struct{})
	go func() { defer close(done); _, _ = io.Copy(io.Discard, in) }()
	stop = func() { cancel(); <-done; _ = cmd.Wait() }
	t.Cleanup(stop)
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "precis serve listens on ")
	if !ok {
		t.Fatalf("precis serve does not listen: %s", line)
	}
	return base, stop
}

// asked posts to the API and returns the status and the answer.
func asked(t *testing.T, url, body string, header ...string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out := map[string]any{}
	if raw, err := io.ReadAll(res.Body); err != nil || json.Unmarshal(raw, &out) != nil {
		t.Fatalf("%s answers %s (%v)", url, raw, err)
	}
	return res.StatusCode, out
}

// readings returns a request body with n file reads.
func readings(n int, fields string) string {
	list := []string{`{"role":"user","content":"Read the files. Never touch main.go."}`}
	for i := range n {
		text, _ := json.Marshal(strings.Repeat(fmt.Sprintf("value %d of file %d\nfile %d of value %d\n", i*7919, i, i, i*7919), 50))
		list = append(list,
			fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.txt\"}"}}]}`, i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"t%d","content":%s}`, i, text))
	}
	return `{"model":"m","window":8000,"messages":[` + strings.Join(list, ",") + `]` + fields + `}`
}

func TestServe(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts a process")
	}
	store := filepath.Join(t.TempDir(), "store.db")
	base, stop := served(t, store)
	api := base + "/precis/api/v1"
	code, v := asked(t, api+"/assemble", readings(20, `,"conversation":"ticket"`))
	if code != 200 || v["acted"] != true || v["tokens_after"].(float64) > 8000 {
		t.Fatalf("%d %v", code, v["error"])
	}
	if code, v := asked(t, api+"/expand", `{"conversation":"ticket","handle":"m2"}`); code != 200 || !strings.Contains(v["text"].(string), "value 0 of file 0") {
		t.Errorf("%d %v", code, v)
	}
	if code, _ := asked(t, base+"/v1/chat/completions", readings(1, "")); code != 404 {
		t.Errorf("a request to a model is answered with %d", code)
	}
	res, err := http.Get(base + "/precis/")
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != 200 {
		t.Errorf("the pages are answered with %d", res.StatusCode)
	}
	stop()
	base, _ = served(t, store)
	code, again := asked(t, base+"/precis/api/v1/assemble", readings(20, `,"conversation":"ticket"`))
	if a, b := fmt.Sprint(again["messages"]), fmt.Sprint(v["messages"]); code != 200 || a != b || again["acted"] != false {
		t.Errorf("after a restart: %d, acted %v, the same %v", code, again["acted"], a == b)
	}
}

// TestServeAsksForKeys as the gateway does.
func TestServeAsksForKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts a process")
	}
	self, _ := exec.LookPath("precis")
	out, err := exec.Command(self, "gateway", "key", "anna").CombinedOutput() // the key itself goes to standard error
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Fields(string(out))
	var key, line string
	for i, w := range shown {
		if strings.HasPrefix(w, "pk-") {
			key = w
		}
		if len(w) == 64 && i > 0 {
			line = "anna " + w + "\n"
		}
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	base, _ := served(t, "memory", "--set", "gateway.keys_file="+file)
	url := base + "/precis/api/v1/assemble"
	if code, _ := asked(t, url, readings(1, "")); code != 401 {
		t.Errorf("without a key: %d", code)
	}
	if code, v := asked(t, url, readings(1, ""), "X-Precis-Key", key); code != 200 {
		t.Errorf("with a key: %d %v", code, v)
	}
}
