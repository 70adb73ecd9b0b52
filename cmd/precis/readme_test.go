package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/console"
)

// readme returns the README, and goes to an empty folder that has its example.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile("../../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.Mkdir("examples", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("examples/add-a-counter.jsonl", recording, 0o600); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the README shows of an output, line by line, is what the command prints.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	text := readme(t)
	for _, tt := range []struct {
		begin string
		args  []string
	}{{"$ precis condense examples/add-a-counter.jsonl\n", []string{"condense"}}} {
		begin, args := tt.begin, tt.args
		var out, errs bytes.Buffer
		if code := run(t.Context(), append(args, "examples/add-a-counter.jsonl"), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs}); code != 0 {
			t.Fatalf("%v: %s", args, errs.String())
		}
		_, sample, ok := strings.Cut(text, "```\n"+begin)
		sample, _, _ = strings.Cut(strings.TrimPrefix(begin, "$ ")+sample, "```")
		if !ok {
			t.Errorf("the README shows nothing of %v", args)
		}
		for line := range strings.Lines(sample) {
			if line = strings.TrimRight(line, "\n"); !strings.Contains(out.String(), line) && !strings.Contains(begin, line) && !strings.Contains(line, "more lines") {
				t.Errorf("%v does not print %q", args, line)
			}
		}
	}
}

// The commands over a recording work in their order, and a second time.
func TestReadme(t *testing.T) {
	_, part, _ := strings.Cut(readme(t), "## You have a recording")
	part, _, _ = strings.Cut(part, "\n## ")
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
