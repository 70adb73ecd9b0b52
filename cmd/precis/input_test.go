package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// A command that waits for input ends when it is canceled.
func TestWaitingForInputIsCanceled(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile("run.json", []byte(`{"messages":[{"role":"user","content":"a"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", "-"}, {"gate", "--summary", "-", "run.json"}, {"store", "--store", "s.db", "import", "-"}} {
		never, writer := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		in := &onFirst{Reader: never, then: cancel}
		var errs strings.Builder
		if code := run(ctx, args, console.Streams{In: in, Out: io.Discard, Errs: &errs}); code != 130 {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		_ = writer.Close()
	}
}

// onFirst calls a function when it is first read.
type onFirst struct {
	io.Reader
	then func()
}

func (f *onFirst) Read(p []byte) (int, error) {
	f.then()
	return f.Reader.Read(p)
}

// Input that fails is an error, and what came before it is not lost in pieces.
func TestInputComesInPieces(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Chdir(t.TempDir())
	text := `{"messages":[{"role":"user","content":"` + strings.Repeat("word ", 100_000) + `"}]}`
	in := io.MultiReader(strings.NewReader(text[:100]), strings.NewReader(text[100:150_000]), strings.NewReader(text[150_000:]))
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"show", "-", "m0"}, console.Streams{In: in, Out: &out, Errs: &errs}); code != 0 || strings.Count(out.String(), "word ") != 100_000 {
		t.Errorf("exit code %d, %d bytes: %s", code, out.Len(), errs.String())
	}
}

// Every command refuses paths that are not regular files before opening them.
func TestPipesAndDevicesAreNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	pipe := "pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipe can be made: ", err)
	}
	if err := os.WriteFile("run.json", []byte(`{"messages":[{"role":"user","content":"a"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("task", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join("task", "api_conversation_history.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"inspect", pipe}, {"inspect", "/dev/zero"}, {"condense", "task"}, {"show", "--original", pipe}, {"experiments", pipe},
		{"gate", "--summary", pipe, "run.json"}, {"store", "--store", "s.db", "import", pipe}, {"pin", "-o", pipe, "run.json", "m0"},
	} {
		var errs strings.Builder
		if code := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: io.Discard, Errs: &errs}); code != 2 || !strings.Contains(errs.String(), "no regular file") {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
	}
}
