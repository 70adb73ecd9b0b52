package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
)

var update = flag.Bool("update", false, "write the screens as they are now")

// screens are commands in the order of a new user.
var screens = [][]string{
	{"inspect", "add-a-counter.jsonl"},
	{"condense", "--window", "64k", "add-a-counter.jsonl"},
	{"condense", "--window", "64k", "add-a-counter.jsonl"},
	{"inspect", "add-a-counter.precis"},
	{"search", "--limit", "3", "add-a-counter.precis", "counter"},
	{"pin", "add-a-counter.precis", "m0"},
	{"undo", "add-a-counter.precis", "e3"},
	{"undo", "add-a-counter.precis"},
	{"undo", "add-a-counter.precis"},
	{"condense", "--window", "6k", "--target", "0.1", "-o", "small.precis", "add-a-counter.jsonl"},
	{"condense", "-v", "--window", "64k", "-o", "verbose.precis", "add-a-counter.jsonl"},
}

// wide are commands with output that depends on the machine's content; it must fit the terminal.
var wide = [][]string{
	{"condense", "--dry-run", "--window", "64k", "add-a-counter.jsonl"},
	{"view", "--window", "64k", "add-a-counter.jsonl"},
	{"sessions", "--in", "."},
	{"sessions", "stats", "--in", "."},
	{"experiments", "add-a-counter.jsonl"},
	{"config"},
	{"models", "claude-sonnet-4-5"},
	{"inspect", "missing-file-with-a-long-name-that-does-not-fit.jsonl"},
}

// The screens look as they did, and fit terminals of 60, 80 and 120 columns. With
// -update they are written anew.
func TestScreens(t *testing.T) {
	recording, err := os.ReadFile("../../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := filepath.Abs("testdata/screens")
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			if err := os.WriteFile("add-a-counter.jsonl", recording, 0o600); err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, args := range screens {
				fmt.Fprintf(&all, "$ precis %s\n%s\n", strings.Join(args, " "), screen(t, columns, args))
			}
			for _, args := range wide {
				screen(t, columns, args)
			}
			path := filepath.Join(golden, fmt.Sprintf("%d.txt", columns))
			if *update {
				if err := os.WriteFile(path, []byte(all.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := all.String(); got != string(want) {
				t.Errorf("the screens differ from %s; if they are better, run with -update\n%s", path, got)
			}
		})
	}
}

// moment is how long ago something was that the test did itself: machines differ.
var moment = regexp.MustCompile(`last \d+\s+(second|minute)s?\s+ago`)

// screen is what a command shows on a terminal. No line is wider than the terminal.
func screen(t *testing.T, columns int, args []string) string {
	var out, notes bytes.Buffer
	to := term.Options{Terminal: true, Columns: columns}
	code := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Errs: &notes, OutTo: to, ErrsTo: to})
	text := moment.ReplaceAllString(out.String(), "last just now")
	for line := range strings.SplitSeq(progress.ReplaceAllString(notes.String(), ""), "\n") {
		if line != "" && !strings.Contains(line, "level=INFO") {
			text += line + "\n"
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if n := lipgloss.Width(line); n > columns {
			t.Errorf("%q: a line of %d columns at %d: %s", args, n, columns, line)
		}
	}
	if code != 0 {
		text += fmt.Sprintf("[exit %d]\n", code)
	}
	return text
}
