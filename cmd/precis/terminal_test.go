package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
)

// hostile is what a tool or a file may bring: it would set the clipboard and the
// title, clear the screen, change colors, turn text around, hide it.
const hostile = "EVIL \x1b]52;c;ZXZpbA==\x07\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m \u009b31m\u202eright to left\u202c \b\b\x7f\r over \u200bhidden\u2066 \U000e0041"

// writeHostile writes a recording with hostile texts, names and paths, too long for a window of
// 8000 tokens.
func writeHostile(t *testing.T, path string) {
	t.Helper()
	type object = map[string]any
	messages := []object{{"role": "user", "content": "Never touch " + hostile + "\nRead every file."}}
	for i := range 30 {
		file := fmt.Sprintf("%s/f%d.go", hostile, i)
		messages = append(messages,
			object{"role": "assistant", "content": []object{
				{"type": "thinking", "thinking": hostile, "signature": "x"}, {"type": "text", "text": hostile},
				{"type": "tool_use", "id": fmt.Sprintf("t%d", i), "name": "read" + hostile, "input": object{"path": file, hostile: hostile}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": fmt.Sprintf("t%d", i), "is_error": i%7 == 0,
				"content": strings.Repeat(fmt.Sprintf("error %d in %s: %s\n", i, file, hostile), 10)}}})
	}
	messages = append(messages, object{"role": "assistant", "content": hostile}, object{"role": "user", "content": "Report. " + hostile})
	data, err := json.Marshal(object{"model": hostile, "title": hostile, "system": hostile, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// ourColors are the codes that precis writes itself.
var ourColors = regexp.MustCompile(`\x1b\[(1|(1;)?38;5;\d{1,3})?m`)

// progress is what the progress of long work looks like.
var progress = regexp.MustCompile(`\r[⠀-⣿] reading [^\r\n]*|\rreading sessions +\d+% [^\r\n]*|\r +\r`)

// obeyed returns the first character that a terminal would obey or not show.
func obeyed(out string) (at string, found bool) {
	out = progress.ReplaceAllString(ourColors.ReplaceAllString(out, ""), "")
	i := strings.IndexFunc(out, func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
	if i < 0 {
		return "", false
	}
	return out[max(0, i-40):min(len(out), i+20)], true
}

// No command writes to a terminal what a recording holds for it.
func TestTerminalsObeyNoRecording(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	file := "a" + strings.ReplaceAll(hostile, "/", "") + ".json"
	writeHostile(t, file)
	own := strings.TrimSuffix(file, ".json") + ".precis"
	summary := "summary.txt"
	if err := os.WriteFile(summary, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join("task")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	window := []string{"--window", "8000"}
	for _, tt := range []struct {
		args  []string
		plain bool // the output contains no text of the recording
	}{
		{args: []string{"inspect", file}},
		{args: []string{"-v", "inspect", file}},
		{args: []string{"condense", "--dry-run", file}},
		{args: []string{"condense", "--dry-run", "--full", file}},
		{args: []string{"condense", "--dry-run", "--json", file}},
		{args: []string{"condense", file}},
		{args: []string{"condense", "-o", own, file}},
		{args: []string{"search", file, "EVIL"}},
		{args: []string{"search", file, "nowhere" + hostile}},
		{args: []string{"show", own, "m0-m3"}},
		{args: []string{"show", "--json", own, "m0-m3"}},
		{args: []string{"show", own, hostile}},
		{args: []string{"show", "--original", summary}},
		{args: []string{"view", file}},
		{args: []string{"view", "--json", file}},
		{args: []string{"digest", file}},
		{args: []string{"gate", "--summary", summary, file}},
		{args: []string{"verify", "--summary", summary, file}},
		{args: []string{"pin", own, "m0"}},
		{args: []string{"rewind", "--message", "m9", own}},
		{args: []string{"undo", own}},
		{args: []string{"undo", own, hostile}},
		{args: []string{"restore", own, "m4"}},
		{args: []string{"experiments", own, file}},
		{args: []string{"inspect", hostile}},
		{args: []string{"--config", hostile, "inspect", file}},
		{args: []string{"--set", hostile + "=1", "config"}},
		{args: []string{"--set", "gateway.store=" + hostile, "config"}},
		{args: []string{"models", hostile}, plain: true},
		{args: []string{hostile}},
		{args: []string{"help", hostile}},
		{args: []string{"inspect", "--" + hostile, file}},
		{args: []string{"run", "--store", "memory", "--", "/no/" + hostile}},
	} {
		var out, errs bytes.Buffer
		to := term.Options{Terminal: true, Color: true, Columns: 120}
		run(t.Context(), append(append([]string{}, window...), tt.args...), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs, OutTo: to, ErrsTo: to})
		for name, got := range map[string]string{"output": out.String(), "errors": errs.String()} {
			if at, found := obeyed(got); found {
				t.Errorf("%q: the %s holds %q", tt.args, name, at)
			}
			if strings.Contains(got, "\x1b[31mred") {
				t.Errorf("%q: the recording colors the %s", tt.args, name)
			}
		}
		if all := out.String() + errs.String(); !tt.plain && !strings.Contains(all, "EVIL") && !strings.Contains(all, "\x1b[") {
			t.Errorf("%q prints nothing of the recording and no color: %q", tt.args, all)
		}
	}
}

// Files and pipes get the bytes, and so do terminals when the user insists.
func TestBytesPassWhereTheyAreWanted(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	writeHostile(t, "run.json")
	show := func(to term.Options, args ...string) string {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Errs: &errs, OutTo: to, ErrsTo: to}); code != 0 {
			t.Fatalf("%q exits with %d: %s", args, code, errs.String())
		}
		return out.String()
	}
	terminal := term.Options{Terminal: true, Columns: 100}
	want := show(term.Options{}, "show", "run.json", "m0")
	if !strings.Contains(want, hostile) {
		t.Errorf("a pipe gets %q", want)
	}
	if got := show(terminal, "show", "--raw", "run.json", "m0"); got != want {
		t.Errorf("--raw: %q, want %q", got, want)
	}
	if got := show(terminal, "show", "run.json", "m0"); strings.Contains(got, hostile) || !strings.Contains(got, "␛]52;c;ZXZpbA==␇") || !strings.Contains(got, "<U+202E>right to left") {
		t.Errorf("a terminal gets %q", got)
	}

	// JSON on a terminal is the same JSON.
	var piped, seen any
	for to, into := range map[term.Options]*any{{}: &piped, terminal: &seen} {
		if err := json.Unmarshal([]byte(show(to, "show", "--json", "run.json", "m0-m4")), into); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := fmt.Sprint(piped), fmt.Sprint(seen); a != b || !strings.Contains(a, hostile) {
		t.Errorf("%q is not %q", b, a)
	}
}
