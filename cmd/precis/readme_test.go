package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"precis/cmd/internal/console"
)

// The commands of the README's first part work in their order, and a second time.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile("../../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(text), "## Try it")
	part, _, _ = strings.Cut(part, "\n## ")
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.Mkdir("examples", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("examples/add-a-counter.jsonl", recording, 0o600); err != nil {
		t.Fatal(err)
	}
	commands := 0
	for range 2 {
		for line := range strings.Lines(part) {
			line, _, _ = strings.Cut(line, " #")
			args, ok := strings.CutPrefix(line, "    precis ")
			if !ok {
				continue
			}
			commands++
			var out, errs bytes.Buffer
			if code := run(t.Context(), strings.Fields(args), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs}); code != 0 || out.Len() == 0 {
				t.Errorf("precis %s exits with %d: %s", strings.TrimSpace(args), code, errs.String())
			}
		}
	}
	if commands < 20 {
		t.Errorf("%d commands were found", commands)
	}
}
