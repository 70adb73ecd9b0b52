package host_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/precis-dev/precis/host"
)

// installed returns every command line that an installation writes, by what runs it.
func installed(t *testing.T, m host.Machine) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	var find func(v any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if line, ok := v["command"].(string); ok && v["type"] == "command" {
				out[line] = true
			}
			for _, x := range v {
				find(x)
			}
		case []any:
			for _, x := range v {
				find(x)
			}
		}
	}
	for _, dir := range []string{m.Home, m.Data} {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(path) != ".json" {
				return err
			}
			var v any
			if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &v) == nil {
				find(v)
			}
			return nil
		})
	}
	return out
}

// If precis is gone, every command ends at once without an error or output.
func TestNothingIsSaidWherePrecisIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("another shell")
	}
	m := newMachine(t)
	m.Binary = filepath.Join(t.TempDir(), "it's a place", "precis")
	for _, h := range host.Hosts() {
		install(t, m, h.Name)
	}
	lines := installed(t, m)
	if len(lines) < 9 {
		t.Fatalf("%d commands", len(lines))
	}
	write(t, filepath.Join(m.State, "waiting", "claude-code-x"), "")
	for line := range lines {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Stdin = strings.NewReader("{}")
		out, err := cmd.CombinedOutput()
		if err != nil || len(out) > 0 && string(out) != "{}" || string(out) == "{}" && !strings.Contains(line, " gemini ") {
			t.Errorf("%s: %v, %q", line, err, out)
		}
	}
	// And where it is, it is run, with its arguments.
	write(t, m.Binary, "#!/bin/sh\ncat >/dev/null; echo \"ran $1 $2\"\n")
	if err := os.Chmod(m.Binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for line := range lines {
		_ = os.Remove(filepath.Join(m.State, "busy"))
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Stdin = strings.NewReader("{}")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ran hook ") && !strings.HasPrefix(string(out), "ran statusline ") {
			t.Errorf("%s: %v, %q", line, err, out)
		}
	}
}

// After a call of a tool precis is started only while something waits, and one that hangs
// and is killed is not started again.
func TestToolBatchesDoNotWait(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("another shell")
	}
	m := newMachine(t)
	m.Binary = filepath.Join(t.TempDir(), "precis")
	write(t, m.Binary, "#!/bin/sh\necho started\n") // and does not give back what it took, as though it were killed
	if err := os.Chmod(m.Binary, 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, m, "claude-code")
	run := func() (out string) {
		for line := range installed(t, m) {
			if strings.Contains(line, " pending") {
				data, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
				out += string(data)
			}
		}
		return out
	}
	if got := run(); got != "" {
		t.Errorf("nothing has been remembered, and precis is started: %q", got)
	}
	write(t, filepath.Join(m.State, "waiting", "claude-code-x"), "")
	if got := run(); got != "started\n" {
		t.Errorf("something waits: %q", got)
	}
	if got := run(); got != "" {
		t.Errorf("the run that was killed is followed by another one: %q", got)
	}
	for line := range installed(t, m) {
		if strings.Contains(line, "compact") && !strings.Contains(line, "session-start") {
			t.Errorf("the user is shown %s", line)
		}
	}
}

// An installation with unguarded commands of an old version is updated by another install, and
// removed byte for byte.
func TestOldCommandsAreReplaced(t *testing.T) {
	for _, name := range []string{"codex", "qwen"} {
		m := newMachine(t)
		for _, path := range places[name] {
			write(t, filepath.Join(m.Home, path), map[bool]string{true: "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]}\n}\n", false: "# mine\n"}[strings.HasSuffix(path, ".json")])
		}
		before := snapshot(t, m.Home)
		install(t, m, name)
		guarded := installed(t, m)
		// As the version before wrote it: the same without the guard.
		guard := regexp.MustCompile(`\[ -x [^\]]* \] \|\| exit 0; exec `)
		for _, path := range places[name] {
			path = filepath.Join(m.Home, path)
			if text := read(t, path); strings.Contains(text, "exit 0") {
				write(t, path, guard.ReplaceAllString(text, ""))
			}
		}
		for line := range installed(t, m) {
			if strings.Contains(line, "exit 0") {
				t.Fatalf("%s: %s", name, line)
			}
		}
		if name == "qwen" { // and its manifest is gone
			if err := os.RemoveAll(filepath.Join(m.Data, "installed")); err != nil {
				t.Fatal(err)
			}
		}
		install(t, m, name)
		if got := installed(t, m); len(got) != len(guarded) {
			t.Errorf("%s: %v", name, got)
		} else {
			for line := range guarded {
				if !got[line] {
					t.Errorf("%s: %s is not there", name, line)
				}
			}
		}
		uninstall(t, m, name)
		same(t, before, snapshot(t, m.Home))
	}
}
