package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// serveUI runs precis ui over a small recording, or the folder that it is in, and returns
// its address.
func serveUI(t *testing.T, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	if err := os.WriteFile(path, []byte(`{"messages": [{"role": "user", "content": "say hello"}, {"role": "assistant", "content": "hello there"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(path))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		defer out.Close()
		done <- run(ctx, append([]string{"ui", name}, flags...), console.Streams{In: strings.NewReader(""), Out: out, Errs: io.Discard})
	}()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("it exits with %d when it is stopped", code)
		}
	})
	lines := bufio.NewReader(in)
	line, err := lines.ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, lines) }() // or the end of the output would wait
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// page requests a path of the dashboard like a browser that has opened the printed address.
func page(t *testing.T, address, path string) (int, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	status, text := 0, ""
	base, _, _ := strings.Cut(address, "?")
	for _, to := range []string{address, base + path} {
		res, err := browser.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if status, text = res.StatusCode, string(data); strings.Contains(res.Request.URL.RawQuery, "key=") {
			t.Errorf("the key stays in the address: %s", res.Request.URL)
		}
	}
	return status, text
}

// Another account of the machine can reach the address but gets no page.
func TestTheDashboardIsForWhoStartedIt(t *testing.T) {
	address := serveUI(t, "run.json", "--edit")
	base, key, ok := strings.Cut(address, "?key=")
	if !ok || len(key) < 20 {
		t.Fatalf("the address is %s", address)
	}
	for _, to := range []string{base, base + "c/run.json", base + "c/run.json/m/m0", base + "?key=" + key[1:], base + "assets/app.js", base + "live"} {
		res, err := http.Get(to)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %d", to, res.StatusCode)
		}
	}
	res, err := http.PostForm(base+"c/run.json/do/pin?key="+key, url.Values{"handle": {"m0"}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a form: %d", res.StatusCode)
	}
	req, err := http.NewRequest("GET", base+"search?q=hello", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Precis-Key", key) // the secret, and yet a page of another site
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	req.Header.Set("Sec-Fetch-Mode", "no-cors")
	if res, err = http.DefaultClient.Do(req); err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusForbidden {
		t.Errorf("another site: %d", res.StatusCode)
	}
	if status, text := page(t, address, "c/run.json"); status != http.StatusOK || !strings.Contains(text, "hello there") {
		t.Errorf("who started it: %d %.300s", status, text)
	}
}

func TestTheDashboardOfARecording(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		want  string
	}{{nil, "Read-only"}, {[]string{"--edit"}, "Exclude"}} {
		t.Run(tt.want, func(t *testing.T) {
			status, text := page(t, serveUI(t, "run.json", tt.flags...), "c/run.json")
			if status != 200 || !strings.Contains(text, "hello there") || !strings.Contains(text, tt.want) {
				t.Errorf("status %d: %.300s", status, text)
			}
		})
	}
}

func TestTheDashboardOfAFolder(t *testing.T) {
	address := serveUI(t, ".")
	for path, want := range map[string]string{"": "say hello", "c/run": "hello there", "search?q=hello": "say hello"} {
		if status, text := page(t, address, path); status != 200 || !strings.Contains(text, want) {
			t.Errorf("%q: status %d: %.300s", path, status, text)
		}
	}
}
