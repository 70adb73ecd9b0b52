package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"precis/cmd/internal/console"
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

func TestTheDashboardOfARecording(t *testing.T) {
	for _, tt := range []struct {
		flags []string
		want  string
	}{{nil, "Read-only"}, {[]string{"--edit"}, "Exclude"}} {
		t.Run(tt.want, func(t *testing.T) {
			res, err := http.Get(serveUI(t, "run.json", tt.flags...) + "c/run.json")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			page, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 200 || !strings.Contains(string(page), "hello there") || !strings.Contains(string(page), tt.want) {
				t.Errorf("status %d, %v: %.300s", res.StatusCode, err, page)
			}
		})
	}
}

func TestTheDashboardOfAFolder(t *testing.T) {
	address := serveUI(t, ".")
	for path, want := range map[string]string{"": "say hello", "c/run": "hello there", "search?q=hello": "say hello"} {
		res, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || !strings.Contains(string(page), want) {
			t.Errorf("%q: status %d, %v: %.300s", path, res.StatusCode, err, page)
		}
	}
}
