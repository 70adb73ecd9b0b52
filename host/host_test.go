package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/host"
	"github.com/precis-dev/precis/internal/jsonedit"
)

// tempDir is what tests and rapid both have.
type tempDir interface {
	Helper()
	Fatal(...any)
}

func machine(dir string) host.Machine {
	return host.Machine{Home: filepath.Join(dir, "home"), Data: filepath.Join(dir, "data"), State: filepath.Join(dir, "state"), Binary: "/usr/local/bin/precis", Version: "v1.2.3"}
}

// newMachine returns an empty machine.
func newMachine(t *testing.T) host.Machine {
	t.Helper()
	m := machine(t.TempDir())
	if err := os.MkdirAll(m.Home, 0o755); err != nil {
		t.Fatal(err)
	}
	return m
}

func named(t tempDir, name string) host.Host {
	t.Helper()
	h, err := host.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func write(t tempDir, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t tempDir, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func install(t tempDir, m host.Machine, name string) *host.Plan {
	t.Helper()
	p, err := named(t, name).Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	return p
}

func uninstall(t tempDir, m host.Machine, name string) *host.Plan {
	t.Helper()
	p, err := named(t, name).Removal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(context.Background()); err != nil {
		t.Fatal(err)
	}
	return p
}

// snapshot is everything below a folder: modes, links and contents.
func snapshot(t tempDir, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text += " -> " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		rel, _ := filepath.Rel(dir, path)
		out[rel] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t *testing.T, before, after map[string]string) {
	t.Helper()
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("not as it was (-before +after):\n%s", d)
	}
}

// places are the files of the user that are written in.
var places = map[string][]string{
	"claude-code": {".claude/settings.json"},
	"codex":       {".codex/hooks.json", ".codex/config.toml"},
	"qwen":        {".qwen/settings.json"},
	"hermes":      {".hermes/config.yaml"},
}

// jsons are settings as people have them.
var jsons = map[string]string{
	"empty":           "",
	"white space":     " \n\n",
	"empty object":    "{}",
	"open object":     "{\n}\n",
	"one line":        `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
	"no final line":   "{\n  \"model\": \"opus\"\n}",
	"comments":        "// mine\n{\n  /* the model */ \"model\": \"opus\", // good\n  // last\n}\n",
	"trailing commas": "{\n  \"env\": {\"A\": \"1\",},\n  \"list\": [1, 2,],\n}\n",
	"tabs":            "{\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n",
	"CRLF":            "{\r\n  \"model\": \"opus\",\r\n  \"env\": {}\r\n}\r\n",
	"BOM":             "\xef\xbb\xbf{\n  \"model\": \"opus\"\n}\n",
	"BOM and CRLF":    "\xef\xbb\xbf{\r\n\t\"model\": \"opus\"\r\n}",
	"duplicate keys":  "{\n  \"hooks\": {},\n  \"model\": \"a\",\n  \"model\": \"b\",\n  \"hooks\": {\"Stop\": []}\n}\n",
	"empty containers": `{
  "hooks": {"SessionStart": [], "PreCompact": []},
  "mcpServers": {}, "ui": {}, "enabledPlugins": {}, "extraKnownMarketplaces": {}
}
`,
	"hooks of others": `{
  "hooks": {
    "SessionStart": [
      {"matcher": "compact", "hooks": [{"type": "command", "command": "other hook session-start"}]} // theirs
    ],
    "PreCompact": [{"hooks": [{"type": "command", "command": "/opt/backup hook qwen pre-compact"}]}]
  }
}
`,
	"names of ours": `{
  "mcpServers": {"precis": {"command": "node", "args": ["my-own.js"]}},
  "statusLine": {"type": "command", "command": "~/line.sh"},
  "ui": {"statusLine": {"type": "command", "command": "~/mine; precis statusline qwen"}},
  "enabledPlugins": {"precis@precis": false, "other@x": true},
  "extraKnownMarketplaces": {"precis": {"source": {"source": "github", "repo": "me/precis"}}}
}
`,
	"odd characters": "{\"\\u0070ath\": \"C:\\\\x\\ud83d\\ude00 <&> \u2028 日本\"}\n",
}

// tomls are settings of Codex.
var tomls = map[string]string{
	"empty":         "",
	"comments":      "# mine\nmodel = \"gpt\" # good\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
	"no final line": "model = \"gpt\"",
	"CRLF":          "model = \"gpt\"\r\n\r\n[tui]\r\nx = 1\r\n",
	"BOM":           "\xef\xbb\xbfmodel = \"gpt\"\n",
	"others":        "[mcp_servers.other]\ncommand = \"x\"\n\n[[list]]\na = 1\n\n[[list]]\na = 2\n",
	"own server":    "[mcp_servers.precis]\ncommand = \"precis\"\nargs = [\"mcp\"]\n",
	"own, inline":   "mcp_servers = { precis = { command = \"x\" } }\n",
	"own, dotted":   "mcp_servers.precis.command = \"x\"\n",
	"tabs":          "model = '''\n[mcp_servers.precis]\n'''\n\t[a]\n\tb = 1\n",
}

// yamls are settings of Hermes.
var yamls = map[string]string{
	"empty":          "",
	"only a comment": "# mine\n",
	"comments":       "# mine\nmodel: opus # good\n\nterminal:\n  cwd: /x\n\n# the end\n",
	"no final line":  "model: opus",
	"CRLF":           "model: opus\r\nterminal:\r\n  cwd: /x\r\n",
	"BOM":            "\xef\xbb\xbfmodel: opus\n",
	"braces":         "{model: opus, terminal: {cwd: /x}}\n",
	"other members":  "context:\n  # how it is compressed\n  threshold: 0.5\nmodel: opus\n",
	"the default":    "context:\n  engine: compressor # the own one\n",
	"another engine": "context: {engine: 'lcm', deep: true}\n",
	"empty mapping":  "context: {}\nmodel: opus\n",
	"empty value":    "context:\n  engine:\nmodel: opus\n",
	"a long line":    "agent:\n  prompt: \"" + strings.Repeat("Be brief. ", 400) + "\"\nmodel: opus\n",
	"lists":          "plugins:\n  enabled:\n  - a # theirs\n  - b\nmodel: opus\n",
}

// contents are settings as people have them, of a file's kind.
func contents(path string) map[string]string {
	return map[string]map[string]string{".json": jsons, ".toml": tomls, ".yaml": yamls}[filepath.Ext(path)]
}

// Whatever a user's settings look like: precis gets in, a second time changes nothing,
// and taking it out gives back every byte.
// Claude Code notes itself which plugins it has loaded, and makes a folder for what they keep.
func TestWhatClaudeCodeNotesIsTakenOut(t *testing.T) {
	m := newMachine(t)
	install(t, m, "claude-code")
	notes := filepath.Join(m.Home, ".claude", "plugins", "installed_plugins.json")
	write(t, notes, `{"version": 2, "plugins": {"other@mine": [], "precis@precis": [{"scope": "user"}]}}`)
	folder := filepath.Join(m.Home, ".claude", "plugins", "data", "precis-precis")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, m, "claude-code")
	uninstall(t, m, "claude-code")
	if got, want := read(t, notes), `{"version": 2, "plugins": {"other@mine": []}}`; got != want {
		t.Errorf("the notes are %s, want %s", got, want)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("its folder is still there")
	}
}

func TestInstalledAndGivenBack(t *testing.T) {
	for _, h := range host.Hosts() {
		cases := map[string]map[string]string{"nothing there": {}}
		for _, path := range places[h.Name] {
			for name, content := range contents(path) {
				cases[filepath.Base(path)+": "+name] = map[string]string{path: content}
			}
		}
		for name, files := range cases {
			t.Run(h.Name+"/"+name, func(t *testing.T) {
				m := newMachine(t)
				for path, content := range files {
					write(t, filepath.Join(m.Home, path), content)
				}
				before := snapshot(t, m.Home)
				if p := install(t, m, h.Name); len(p.Changes) == 0 {
					t.Error("nothing was changed")
				}
				for _, path := range places[h.Name] {
					data, err := os.ReadFile(filepath.Join(m.Home, path))
					if err == nil && strings.HasSuffix(path, ".json") {
						if _, err := jsonedit.Parse(data); err != nil || !strings.Contains(string(data), "precis") {
							t.Errorf("%s: %v\n%s", path, err, data)
						}
					}
				}
				once := snapshot(t, m.Home)
				if in, err := h.Installed(m); err != nil || in.Version != m.Version || in.Binary != m.Binary || in.Changed {
					t.Errorf("installed: %+v, %v", in, err)
				}
				if p := install(t, m, h.Name); len(p.Changes) > 0 {
					t.Errorf("the second time changed %v", p.Changes)
				}
				same(t, once, snapshot(t, m.Home))
				uninstall(t, m, h.Name)
				same(t, before, snapshot(t, m.Home))
				if in, err := h.Installed(m); err != nil || in.Version != "" {
					t.Errorf("installed: %+v, %v", in, err)
				}
				if p := uninstall(t, m, h.Name); len(p.Changes) > 0 {
					t.Errorf("removing twice changes %v", p.Changes)
				}
			})
		}
	}
}

// What the user has under a name of precis stays while precis is installed, too.
func TestMembersOfTheUserStay(t *testing.T) {
	m := newMachine(t)
	for _, name := range []string{"claude-code", "qwen", "codex"} {
		path := filepath.Join(m.Home, places[name][0])
		write(t, path, jsons["names of ours"])
		if name == "codex" {
			write(t, filepath.Join(m.Home, ".codex/config.toml"), tomls["own server"])
		}
		install(t, m, name)
		d, err := jsonedit.Parse([]byte(read(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		for member, want := range map[string]string{"mcpServers": `"my-own.js"`, "statusLine": `~/line.sh`, "ui": `"~/mine; precis statusline qwen"`} {
			if got := string(d.Get(member)); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %s", name, member, got)
			}
		}
		// The user changes something else; their own members still stay.
		write(t, path, strings.Replace(read(t, path), "{", `{"new": 1,`, 1))
		uninstall(t, m, name)
		words := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if want := strings.Replace(jsons["names of ours"], "{", `{"new": 1,`, 1); words(read(t, path)) != words(want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, read(t, path)))
		}
	}
	if got := read(t, filepath.Join(m.Home, ".codex/config.toml")); got != tomls["own server"] {
		t.Errorf("config.toml: %s", got)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	link := func(t *testing.T, to, from string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(from), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	for name, set := range map[string]func(*testing.T, string) string{
		"in the same folder": func(t *testing.T, home string) string {
			write(t, filepath.Join(home, ".claude/real.json"), jsons["comments"])
			link(t, "real.json", filepath.Join(home, ".claude/settings.json"))
			return ".claude/real.json"
		},
		"two, in other folders": func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "dotfiles/b/real.json"), jsons["tabs"])
			link(t, "b/real.json", filepath.Join(home, "dotfiles/a.json"))
			link(t, filepath.Join(home, "dotfiles/a.json"), filepath.Join(home, ".claude/settings.json"))
			return "dotfiles/b/real.json"
		},
		"to nothing": func(t *testing.T, home string) string {
			link(t, "../dotfiles/new.json", filepath.Join(home, ".claude/settings.json"))
			return "dotfiles/new.json"
		},
		"relative, in a linked folder": func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "a/b/shared.json"), jsons["CRLF"])
			link(t, "../shared.json", filepath.Join(home, "a/b/claude/settings.json"))
			link(t, "a/b/claude", filepath.Join(home, ".claude"))
			return "a/b/shared.json"
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			real := set(t, m.Home)
			before := snapshot(t, m.Home)
			install(t, m, "claude-code")
			after := snapshot(t, m.Home)
			if !strings.Contains(after[real], "precis@precis") {
				t.Errorf("the file that the link names has no precis: %q", after[real])
			}
			uninstall(t, m, "claude-code")
			same(t, before, snapshot(t, m.Home))
		})
	}
}

// The user moves the file to another folder and leaves a link.
func TestAFileThatBecameALink(t *testing.T) {
	m := newMachine(t)
	path, moved := filepath.Join(m.Home, ".qwen/settings.json"), filepath.Join(m.Home, "dotfiles/qwen.json")
	write(t, path, jsons["hooks of others"])
	install(t, m, "qwen")
	write(t, moved, read(t, path))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, path); err != nil {
		t.Skip("no links here: ", err)
	}
	if p := install(t, m, "qwen"); len(p.Changes) > 0 {
		t.Errorf("changed: %v", p.Changes)
	}
	uninstall(t, m, "qwen")
	if to, err := os.Readlink(path); err != nil || to != moved || read(t, moved) != jsons["hooks of others"] {
		t.Errorf("link to %q, %v: %s", to, err, read(t, moved))
	}
}

// If one file is invalid, no file is written and the error names it.
func TestNothingIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		host, path, content string
		mode                fs.FileMode
		want                string
	}{
		"read-only JSON": {"claude-code", ".claude/settings.json", "{}", 0o444, "it is read-only"},
		"read-only TOML": {"codex", ".codex/config.toml", "a = 1\n", 0o444, "it is read-only"},
		"broken JSON":    {"qwen", ".qwen/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n", 0o644, "line 3"},
		"not closed":     {"claude-code", ".claude/settings.json", "{\"a\": [1, ", 0o644, "line 1"},
		"an array":       {"qwen", ".qwen/settings.json", "[]", 0o644, "it is no JSON object"},
		"odd hooks":      {"codex", ".codex/hooks.json", `{"hooks": "none"}`, 0o644, "hooks is no object"},
		"odd event":      {"qwen", ".qwen/settings.json", `{"hooks": {"PreCompact": {}}}`, 0o644, "hooks.PreCompact is no array"},
		"broken TOML":    {"codex", ".codex/config.toml", "a = 1\nb = = 2\n", 0o644, "line 2"},
		"TOML twice":     {"codex", ".codex/config.toml", "a = 1\na = 2\n", 0o644, "line 2"},
		"read-only YAML": {"hermes", ".hermes/config.yaml", "model: opus\n", 0o444, "it is read-only"},
		"broken YAML":    {"hermes", ".hermes/config.yaml", "model: opus\nlist: [\n", 0o644, "config.yaml"},
		"a list":         {"hermes", ".hermes/config.yaml", "- model\n", 0o644, "mapping"},
		"endless line":   {"hermes", ".hermes/config.yaml", "model: " + strings.Repeat("x", 20_000) + "\n", 0o644, "line 1: the line is longer"},
		"odd YAML":       {"hermes", ".hermes/config.yaml", "context: compressor\n", 0o644, "cannot be changed alone"},
		"YAML twice":     {"hermes", ".hermes/config.yaml", "model: a\nmodel: b\n", 0o644, "model"},
		"closed table":   {"codex", ".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n", 0o644, "mcp_servers.precis cannot be added"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			path := filepath.Join(m.Home, c.path)
			write(t, path, c.content)
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, m.Home)
			p, err := named(t, c.host).Plan(m)
			if err == nil {
				err = p.Apply(t.Context())
			}
			e, ok := errors.AsType[*precis.Error](err)
			if !ok || e.Code != precis.CodeInvalid || e.Place != path || !strings.Contains(err.Error(), c.want) || e.Hint == "" {
				t.Errorf("error %v", err)
			}
			same(t, before, snapshot(t, m.Home))
			if in, _ := named(t, c.host).Installed(m); in.Version != "" {
				t.Errorf("installed: %+v", in)
			}
		})
	}
}

// A file that cannot be written after others were: those are given back, with their
// modes, and folders that were made are gone.
func TestAFailureGivesAllBack(t *testing.T) {
	long := strings.Repeat("x", 250) // with what a temporary file has besides, too long
	m := newMachine(t)
	write(t, filepath.Join(m.Home, ".codex/hooks.json"), jsons["comments"])
	if err := os.Chmod(filepath.Join(m.Home, ".codex/hooks.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../new/"+long, filepath.Join(m.Home, ".codex/config.toml")); err != nil {
		t.Skip("no links here: ", err)
	}
	before := snapshot(t, m.Home)
	p, err := named(t, "codex").Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context()); err == nil {
		t.Fatal("it was written")
	}
	same(t, before, snapshot(t, m.Home))

	// When the last step of a removal fails, what was removed is there again.
	m = newMachine(t)
	install(t, m, "opencode")
	own := filepath.Join(m.Home, ".config/opencode/plugins/precis.js")
	if err := os.Chmod(own, 0o644); err != nil {
		t.Fatal(err)
	}
	before = snapshot(t, m.Home)
	if p, err = named(t, "opencode").Removal(m); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(m.Data, "installed", "opencode.json")
	p.Changes = append(p.Changes, host.Change{Path: filepath.Join(m.Home, "new", long), After: []byte("x")})
	if err := p.Apply(t.Context()); err == nil {
		t.Fatal("it was written")
	}
	same(t, before, snapshot(t, m.Home))
	if _, err := os.Stat(manifest); err != nil {
		t.Error(err)
	}
}

func TestModesAreKept(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.Home, ".claude/settings.json")
	write(t, path, "{}\n")
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	install(t, m, "claude-code")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o604 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Another path of precis is all that changes, and taking it out still gives back all.
func TestAnotherPathOfPrecis(t *testing.T) {
	for _, h := range host.Hosts() {
		t.Run(h.Name, func(t *testing.T) {
			m := newMachine(t)
			for _, path := range places[h.Name] {
				if strings.HasSuffix(path, ".json") {
					write(t, filepath.Join(m.Home, path), jsons["hooks of others"])
				}
			}
			before := snapshot(t, m.Home)
			install(t, m, h.Name)
			fresh := newMachine(t) // where the other path was the first
			for _, path := range places[h.Name] {
				if strings.HasSuffix(path, ".json") {
					write(t, filepath.Join(fresh.Home, path), jsons["hooks of others"])
				}
			}
			m.Binary = `/opt/it's a "place" & more\/precis-2`
			fresh.Binary, fresh.Data = m.Binary, m.Data+"2"
			install(t, m, h.Name)
			install(t, fresh, h.Name)
			for path, want := range snapshot(t, fresh.Home) {
				want = strings.ReplaceAll(want, fresh.Data, m.Data)
				if got := snapshot(t, m.Home)[path]; got != want {
					t.Errorf("%s:\n%s", path, cmp.Diff(want, got))
				}
			}
			for _, path := range places[h.Name] { // also when the user has changed the file
				if full := filepath.Join(m.Home, path); strings.HasSuffix(path, ".json") {
					write(t, full, strings.Replace(read(t, full), "{", `{"new": 1,`, 1))
					want := jsons["hooks of others"]
					uninstall(t, m, h.Name)
					if want = strings.Replace(want, "{", `{"new": 1,`, 1); read(t, full) != want {
						t.Errorf("%s:\n%s", path, cmp.Diff(want, read(t, full)))
					}
					return
				}
			}
			uninstall(t, m, h.Name)
			same(t, before, snapshot(t, m.Home))
		})
	}
}

// Commands of hooks are one word and arguments to a shell, whatever the path is.
func TestOwnFilesHoldThePath(t *testing.T) {
	m := newMachine(t)
	m.Binary = `/opt/it's a "place"/precis`
	install(t, m, "claude-code")
	var hooks struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
		Modules []string
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(m.Data, "plugins/claude-code/precis/hooks/hooks.json"))), &hooks); err != nil {
		t.Fatal(err)
	}
	if text := read(t, filepath.Join(m.Data, "plugins/claude-code/precis/hooks", hooks.Modules[0])); !strings.Contains(text, `const PRECIS = "/opt/it's a \"place\"/precis";`) {
		t.Errorf("claude-code: %.300s", text)
	}
	want := `[ -x '/opt/it'\''s a "place"/precis' ] || exit 0; exec '/opt/it'\''s a "place"/precis' hook claude-code session-start`
	if got := hooks.Hooks["SessionStart"][0].Hooks[0].Command; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	install(t, m, "hermes")
	if text := read(t, filepath.Join(m.Home, ".hermes/plugins/precis/__init__.py")); !strings.Contains(text, `PRECIS = "/opt/it's a \"place\"/precis"`) {
		t.Errorf("hermes: %.300s", text)
	}
	for name, path := range map[string]string{"opencode": ".config/opencode/plugins/precis.js", "pi": ".pi/agent/extensions/precis.ts", "cline": ".cline/plugins/precis.js"} {
		install(t, m, name)
		if text := read(t, filepath.Join(m.Home, path)); !strings.Contains(text, `const PRECIS = "/opt/it's a \"place\"/precis";`) {
			t.Errorf("%s: %.300s", name, text)
		}
	}
}

// If a variable moves a program's folder, the tool server gets it too; otherwise it would find no
// sessions.
func TestServersKnowMovedFolders(t *testing.T) {
	m := newMachine(t)
	moved := filepath.Join(m.Home, "else where")
	m.Env = func(name string) string {
		if strings.HasSuffix(name, "_HOME") && !strings.HasPrefix(name, "XDG_") || name == "CLAUDE_CONFIG_DIR" {
			return moved
		}
		return ""
	}
	for name, file := range map[string]string{
		"claude-code": filepath.Join(m.Data, "plugins/claude-code/precis/.mcp.json"), "qwen": filepath.Join(moved, "settings.json"),
		"gemini": filepath.Join(moved, ".gemini/extensions/precis/gemini-extension.json"), "codex": filepath.Join(moved, "config.toml"),
	} {
		install(t, m, name)
		if text := read(t, file); strings.Count(text, moved) != 1 {
			t.Errorf("%s: the server does not know %s:\n%s", name, moved, text)
		}
		uninstall(t, m, name)
	}
}

// Gemini CLI does not begin its work when a hook fails: whatever becomes of precis, the
// command answers, with JSON.
func TestGeminiIsNeverStopped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("another shell")
	}
	m := newMachine(t)
	m.Binary = filepath.Join(t.TempDir(), "it's a place", "precis")
	install(t, m, "gemini")
	var hooks struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(m.Home, ".gemini/extensions/precis/hooks/hooks.json"))), &hooks); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"": "{}", "echo '{\"x\": nonsense'; echo no >&2; exit 3": "{}", "cat; echo \" $*\"": "in hook gemini pending",
	} {
		if script != "" {
			write(t, m.Binary, "#!/bin/sh\n"+script+"\n")
			if err := os.Chmod(m.Binary, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for event, list := range hooks.Hooks {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", list[0].Hooks[0].Command)
			cmd.Stdin = strings.NewReader("in")
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
				t.Errorf("%s, %q: %q, %v", event, script, out, err)
			}
		}
		_ = os.Remove(m.Binary)
	}
}

// A file of precis's own that the user has changed is kept, when precis is taken out and
// when it is installed again; an older one that was kept stays, too.
func TestOwnFilesThatWereChanged(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.Home, ".config/opencode/plugins/precis.js")
	for i, saved := range []string{".saved", ".saved2"} {
		install(t, m, "opencode")
		changed := read(t, path) + fmt.Sprintf("// change %d\n", i)
		write(t, path, changed)
		if i == 0 {
			uninstall(t, m, "opencode")
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
		} else if p := install(t, m, "opencode"); len(p.Changes) != 1 || p.Changes[0].Saved != path+saved || read(t, path) == changed {
			t.Errorf("changed %v", p.Changes)
		}
		if got := read(t, path+saved); got != changed {
			t.Errorf("%s holds %q", saved, got)
		}
	}

	// Somebody else's file of that name comes back.
	m = newMachine(t)
	path = filepath.Join(m.Home, ".cline/plugins/precis.js")
	write(t, path, "// my own\n")
	install(t, m, "cline")
	if !strings.Contains(read(t, path), "precis uninstall cline") {
		t.Error("not installed")
	}
	uninstall(t, m, "cline")
	if got := read(t, path); got != "// my own\n" {
		t.Errorf("it is %q", got)
	}
}

// Hooks that the user adds to a group of precis stay; precis's own are removed.
func TestAGroupWithHooksOfBoth(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.Home, ".codex/hooks.json")
	install(t, m, "codex")
	const mine = `{"type": "command", "command": "mine"}`
	write(t, path, strings.Replace(read(t, path), `"hooks": [`+"\n        ", `"hooks": [`+mine+",\n        ", 1))
	for range 2 {
		install(t, m, "codex")
		if got := read(t, path); strings.Count(got, "precis hook codex") != 1 || !strings.Contains(got, mine) {
			t.Fatalf("installed again: %s", got)
		}
	}
	uninstall(t, m, "codex")
	if got := read(t, path); strings.Contains(got, "precis") || !strings.Contains(got, mine) {
		t.Errorf("it is %s", got)
	}
}

// Codex inserts tables before the final comment of the file, within precis's block.
func TestTablesThatCodexAdds(t *testing.T) {
	m := newMachine(t)
	path := filepath.Join(m.Home, ".codex/config.toml")
	for _, end := range []string{"\n", "\r\n"} {
		mine := "model = \"gpt\"" + end
		write(t, path, mine)
		install(t, m, "codex")
		theirs := end + "[projects.\"/x\"]" + end + "trust_level = \"trusted\"" + end
		write(t, path, strings.Replace(read(t, path), "# precis end", "[mcp_servers.precis.env]"+end+"A = \"1\""+end+theirs+"# precis end", 1))
		uninstall(t, m, "codex")
		if got, want := read(t, path), mine+strings.TrimPrefix(theirs, end); strings.TrimSpace(got) != strings.TrimSpace(want) && got != mine+theirs {
			t.Errorf("it is %q, want %q", got, want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// What Codex has written for the trust in precis's hook goes with the hook; what it trusts
// beside stays.
func TestTrustThatCodexHasWritten(t *testing.T) {
	const other = "[hooks.state.\"/x/hooks.json:session_start:0:0\"]\ntrusted_hash = \"sha256:1\"\n"
	for name, c := range map[string]struct{ added, want string }{
		"alone":       {"[hooks.state]\n\n[hooks.state.KEY]\ntrusted_hash = \"sha256:2\"\n", ""},
		"with others": {"[hooks.state]\n\n" + other + "\n[hooks.state.KEY]\ntrusted_hash = \"sha256:2\"\n", "[hooks.state]\n\n" + other + "\n"},
		"in between":  {"[hooks.state]\n\n[hooks.state.KEY]\ntrusted_hash = \"sha256:2\"\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n", "[projects.\"/x\"]\ntrust_level = \"trusted\"\n"},
		"not ours":    {"[hooks.state]\n\n" + other, "[hooks.state]\n\n" + other},
		"values":      {"[hooks.state]\nmine = 1\n[hooks.state.KEY]\ntrusted_hash = \"sha256:2\"\n", "[hooks.state]\nmine = 1\n"},
	} {
		m := newMachine(t)
		hooks, config := filepath.Join(m.Home, ".codex/hooks.json"), filepath.Join(m.Home, ".codex/config.toml")
		const mine = "# mine\nmodel = \"gpt\" # note\n"
		write(t, config, mine)
		write(t, hooks, `{"hooks": {"SessionStart": [{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}]}}`)
		before := read(t, hooks)
		install(t, m, "codex")
		added := strings.Replace(c.added, "KEY", strconv.Quote(hooks+":session_start:1:0"), 1)
		write(t, config, strings.Replace(read(t, config), "# precis end", "\n"+added+"# precis end", 1))
		uninstall(t, m, "codex")
		if got := read(t, config); strings.TrimSpace(got) != strings.TrimSpace(mine+c.want) || !strings.HasPrefix(got, mine) {
			t.Errorf("%s: it is %q", name, got)
		}
		if got := read(t, hooks); got != before {
			t.Errorf("%s: hooks are %s", name, got)
		}
	}
}

// Settings in YAML that the user has changed since: only the one value is taken back.
func TestYAMLThatWasChanged(t *testing.T) {
	for was, want := range map[string]string{
		"":                                   "# new\nother: 1\n",
		"model: opus\n":                      "# new\nother: 1\nmodel: opus\n",
		"context:\n  engine: lcm # theirs\n": "# new\nother: 1\ncontext:\n  engine: lcm # theirs\n",
		"context:\n  deep: true\n":           "# new\nother: 1\ncontext:\n  deep: true\n",
	} {
		m := newMachine(t)
		path := filepath.Join(m.Home, ".hermes/config.yaml")
		write(t, path, was)
		install(t, m, "hermes")
		write(t, path, "# new\nother: 1\n"+read(t, path))
		uninstall(t, m, "hermes")
		if got := read(t, path); got != want {
			t.Errorf("%q becomes %q, want %q", was, got, want)
		}
		install(t, m, "hermes")
		chosen := strings.Replace(read(t, path), "engine: precis", "engine: compressor", 1)
		write(t, path, chosen)
		uninstall(t, m, "hermes")
		if got := read(t, path); got != chosen {
			t.Errorf("what the user has chosen since, %q, becomes %q", chosen, got)
		}
	}
}

func TestManifestLost(t *testing.T) {
	for name := range places {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(name, again), func(t *testing.T) {
				m := newMachine(t)
				for _, path := range places[name] {
					write(t, filepath.Join(m.Home, path), map[string]string{".json": jsons["hooks of others"], ".toml": tomls["comments"], ".yaml": yamls["comments"]}[filepath.Ext(path)])
				}
				before := snapshot(t, m.Home)
				install(t, m, name)
				if err := os.RemoveAll(filepath.Join(m.Data, "installed")); err != nil {
					t.Fatal(err)
				}
				if again {
					install(t, m, name)
				}
				uninstall(t, m, name)
				after := snapshot(t, m.Home)
				maps.DeleteFunc(after, func(path, _ string) bool {
					return strings.Contains(path, "plugins") && filepath.Ext(filepath.Base(path)[1:]) == ""
				}) // without folders, which are not tracked
				same(t, before, after)
			})
		}
	}
}

func TestManifestDamaged(t *testing.T) {
	m := newMachine(t)
	h := named(t, "qwen")
	install(t, m, "qwen")
	before := snapshot(t, m.Home)
	manifest := filepath.Join(m.Data, "installed", "qwen.json")
	write(t, manifest, `{"files": [`)
	_, planErr := h.Plan(m)
	_, removalErr := h.Removal(m)
	_, installedErr := h.Installed(m)
	for _, err := range []error{planErr, removalErr, installedErr} {
		e, ok := errors.AsType[*precis.Error](err)
		if !ok || e.Code != precis.CodeInvalid || e.Place != manifest || e.Hint == "" {
			t.Errorf("error %v", err)
		}
	}
	same(t, before, snapshot(t, m.Home))
	for _, odd := range []string{"null", "{}", `{"files":[{}]}`, `{"files":[{"path":"","existed":true}],"folders":[""]}`} {
		write(t, manifest, odd)
		if p, err := h.Plan(m); err != nil || p.Apply(t.Context()) != nil {
			t.Errorf("%s: %v", odd, err)
		}
		same(t, before, snapshot(t, m.Home))
	}
	uninstall(t, m, "qwen")
}

// Plans that were made at the same time: one is carried out, the others say so, and what
// was there before is not forgotten.
func TestTwoAtOnce(t *testing.T) {
	m := newMachine(t)
	write(t, filepath.Join(m.Home, ".claude/settings.json"), jsons["BOM and CRLF"])
	before := snapshot(t, m.Home)
	h := named(t, "claude-code")
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			p, err := h.Plan(m)
			if err == nil {
				err = p.Apply(t.Context())
			}
			errs[i] = err
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil && precis.CodeOf(err) != precis.CodeConflict {
			t.Error(err)
		}
	}
	if !slices.Contains(errs, nil) {
		t.Errorf("none was carried out: %v", errs)
	}
	uninstall(t, m, "claude-code")
	same(t, before, snapshot(t, m.Home))

	// A plan that was made before another was carried out.
	late, err := h.Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	install(t, m, "claude-code")
	if err := late.Apply(t.Context()); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("error %v", err)
	}
}

// A plan that was made while another was half carried out, its files written and not yet
// remembered: it must not take them for the user's.
func TestAPlanInBetween(t *testing.T) {
	m := newMachine(t)
	write(t, filepath.Join(m.Home, ".qwen/settings.json"), jsons["empty containers"])
	before := snapshot(t, m.Home)
	install(t, m, "qwen")
	manifest := filepath.Join(m.Data, "installed", "qwen.json")
	remembered := read(t, manifest)
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	p, err := named(t, "qwen").Plan(m)
	if err != nil {
		t.Fatal(err)
	}
	write(t, manifest, remembered)
	if err := p.Apply(t.Context()); precis.CodeOf(err) != precis.CodeConflict {
		t.Errorf("error %v", err)
	}
	uninstall(t, m, "qwen")
	same(t, before, snapshot(t, m.Home))
}

func TestHosts(t *testing.T) {
	m := newMachine(t)
	m.Find = func(string) (string, error) { return "", errors.New("not found") }
	for _, h := range host.Hosts() {
		if h.Title == "" || h.Effect == "" || h.Version == "" && h.Name != "hermes" || h.Found(m) {
			t.Errorf("%+v, found %v", h, h.Found(m))
		}
	}
	if err := os.MkdirAll(filepath.Join(m.Home, ".pi/agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	if !named(t, "pi").Found(m) {
		t.Error("pi has a folder and is not found")
	}
	if h := named(t, "claude"); h.Name != "claude-code" {
		t.Errorf("claude is %s", h.Name)
	}
	if _, err := host.Named("emacs"); precis.CodeOf(err) != precis.CodeNotFound {
		t.Errorf("error %v", err)
	}
	write(t, filepath.Join(m.Home, ".claude/settings.json"), "{\"disableAllHooks\": true, // off\n}")
	write(t, filepath.Join(m.Home, ".gemini/settings.json"), `{"hooksConfig": {"enabled": false}}`)
	for name, want := range map[string]int{"claude-code": 2, "gemini": 1, "qwen": 0, "codex": 0} {
		if got := named(t, name).Warnings(m); len(got) != want {
			t.Errorf("%s warns %q", name, got)
		}
	}
}
