package launch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"precis"
	"precis/cmd/internal/launch"
)

const base = "http://127.0.0.1:8377"

// place is a home with files, and the arguments and environment of a command.
type place struct {
	files map[string]string
	env   map[string]string
	args  []string
}

func (p place) prepare(t *testing.T) (*launch.Plan, string) {
	t.Helper()
	home := t.TempDir()
	for name, text := range p.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return t.TempDir()
		}
		return p.env[name]
	}
	temp := launch.NewTemp(env)
	t.Cleanup(func() {
		if err := temp.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(home, "project")
	plan, err := launch.Prepare(launch.Place{Args: p.args, Base: base, Env: env, Home: home, Dir: dir, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range p.files {
		if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(got) != text {
			t.Errorf("%s of the user was changed: %q, %v", name, got, err)
		}
	}
	return plan, home
}

func TestEveryClientIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		place
		want      map[string]string // environment
		wantArgs  []string
		anthropic string
		openai    string
	}{
		"claude": {place: place{args: []string{"/usr/bin/claude", "-p", "x"}}, want: map[string]string{"ANTHROPIC_BASE_URL": base}, wantArgs: []string{"/usr/bin/claude", "-p", "x"}},
		"claude that points elsewhere": {place: place{args: []string{"claude"}, env: map[string]string{"ANTHROPIC_BASE_URL": "https://proxy.example"}},
			want: map[string]string{"ANTHROPIC_BASE_URL": base}, wantArgs: []string{"claude"}, anthropic: "https://proxy.example"},
		"claude with settings": {place: place{args: []string{"claude"}, files: map[string]string{".claude/settings.json": `{"env":{"ANTHROPIC_BASE_URL":"https://set.example"}}`}},
			want: map[string]string{"ANTHROPIC_BASE_URL": base}, wantArgs: []string{"claude", "--settings", `{"env":{"ANTHROPIC_BASE_URL":"` + base + `"}}`}, anthropic: "https://set.example"},
		"qwen": {place: place{args: []string{"qwen", "-y"}}, want: map[string]string{"ANTHROPIC_BASE_URL": base, "OPENAI_BASE_URL": base + "/v1"},
			wantArgs: []string{"qwen", "--openai-base-url", base + "/v1", "-y"}},
		"qwen by a flag": {place: place{args: []string{"qwen", "--openai-base-url=https://q.example/compatible-mode/v1"}}, want: map[string]string{"ANTHROPIC_BASE_URL": base, "OPENAI_BASE_URL": base + "/v1"},
			wantArgs: []string{"qwen", "--openai-base-url=" + base + "/v1"}, openai: "https://q.example/compatible-mode/v1"},
		"aider": {place: place{args: []string{"aider"}, env: map[string]string{"OPENAI_API_BASE": "https://o.example/openai/"}}, wantArgs: []string{"aider"}, openai: "https://o.example/openai#",
			want: map[string]string{"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_BASE": base, "OPENAI_BASE_URL": base + "/v1", "OPENAI_API_BASE": base + "/v1", "AIDER_OPENAI_API_BASE": base + "/v1"}},
		"goose": {place: place{args: []string{"goose", "session"}, env: map[string]string{"OPENAI_HOST": "https://o.example"}}, wantArgs: []string{"goose", "session"}, openai: "https://o.example",
			want: map[string]string{"ANTHROPIC_HOST": base, "OPENAI_HOST": base, "GOOSE_AUTO_COMPACT_THRESHOLD": "0"}},
		"crush": {place: place{args: []string{"crush"}}, wantArgs: []string{"crush"}, want: map[string]string{"ANTHROPIC_API_ENDPOINT": base, "OPENAI_API_ENDPOINT": base + "/v1"}},
		"another, through a proxy": {place: place{args: []string{"agent.py"}, env: map[string]string{"HTTPS_PROXY": "http://p:3128", "NO_PROXY": "intern"}}, wantArgs: []string{"agent.py"},
			want: map[string]string{"ANTHROPIC_BASE_URL": base, "OPENAI_BASE_URL": base + "/v1", "OPENAI_API_BASE": base + "/v1", "NO_PROXY": "intern,127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan, _ := c.prepare(t)
			if diff := cmp.Diff(c.want, plan.Env); diff != "" {
				t.Errorf("environment: %s", diff)
			}
			if diff := cmp.Diff(c.wantArgs, plan.Args); diff != "" {
				t.Errorf("arguments: %s", diff)
			}
			if plan.Anthropic != c.anthropic || plan.OpenAI != c.openai || len(plan.Warnings) > 0 {
				t.Errorf("upstreams %q and %q, warnings %q", plan.Anthropic, plan.OpenAI, plan.Warnings)
			}
		})
	}
}

func TestCodexLeavesContextToTheGateway(t *testing.T) {
	plan, _ := place{args: []string{"codex", "exec", "fix"}}.prepare(t)
	line := strings.Join(plan.Args, " ")
	for _, want := range []string{`-c openai_base_url="` + base + `/v1"`, "-c model_context_window=10000000", "-c model_auto_compact_token_limit=9000000"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
	if n := len(plan.Args); plan.Args[n-2] != "exec" || plan.Args[n-1] != "fix" {
		t.Errorf("its own arguments do not stand behind: %q", plan.Args)
	}
	plan, _ = place{args: []string{"codex", "-c", "model_context_window=5000"}}.prepare(t)
	if strings.Contains(strings.Join(plan.Args, " "), "window=10000000") {
		t.Errorf("what the user set was set again: %q", plan.Args)
	}
	plan, _ = place{args: []string{"codex"}, files: map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}`}}.prepare(t)
	if plan.OpenAI != "https://chatgpt.com/backend-api/codex#" {
		t.Errorf("a subscription goes to %q", plan.OpenAI)
	}
	plan, _ = place{args: []string{"codex"}, files: map[string]string{".codex/config.toml": "model_provider = \"mine\" # mine\n[model_providers.mine]\nname = \"x\"\nbase_url = \"https://m.example/v1\"\n"}}.prepare(t)
	if !strings.Contains(strings.Join(plan.Args, " "), `-c model_providers.mine.base_url="`+base+`/client-mine/v1"`) || plan.Others["client-mine"] != "https://m.example/v1" {
		t.Errorf("%q, %v", plan.Args, plan.Others)
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOpencodeMergesAddresses(t *testing.T) {
	plan, _ := place{
		args: []string{"opencode", "run", "x"},
		env:  map[string]string{"OPENCODE_CONFIG_CONTENT": `{"theme":"dark"}`},
		files: map[string]string{
			".config/opencode/opencode.jsonc": "{\n // mine\n \"provider\": {\"local\": {\"options\": {\"baseURL\": \"http://10.0.0.1:8000/v1\", \"apiKey\": \"k//k\"},},}, /* end */\n}",
			"project/opencode.json":           `{"provider":{"anthropic":{"options":{"baseURL":"https://a.example/api"}}}}`,
		},
	}.prepare(t)
	got := decode(t, plan.Env["OPENCODE_CONFIG_CONTENT"])
	at := func(url string) map[string]any { return map[string]any{"options": map[string]any{"baseURL": url}} }
	want := map[string]any{"theme": "dark", "provider": map[string]any{
		"anthropic": at(base + "/client-anthropic/v1"), "openai": at(base + "/v1"), "local": at(base + "/client-local/v1"),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"client-anthropic": "https://a.example/api#", "client-local": "http://10.0.0.1:8000/v1"}, plan.Others); diff != "" {
		t.Error(diff)
	}
}

func TestPiGetsAnExtension(t *testing.T) {
	plan, _ := place{
		args:  []string{"pi", "-p", "x"},
		files: map[string]string{".pi/agent/models.json": `{"providers":{"mock":{"baseUrl":"https://m.example/v1","api":"openai-completions"},"claude-like":{"baseUrl":"https://c.example","api":"anthropic-messages"}}}`},
	}.prepare(t)
	if plan.Args[1] != "-e" || plan.Args[3] != "-p" {
		t.Fatalf("%q", plan.Args)
	}
	code := read(t, plan.Args[2])
	for _, want := range []string{
		`pi.registerProvider("anthropic", { baseUrl: "` + base + `" })`, `pi.registerProvider("openai", { baseUrl: "` + base + `/v1" })`,
		`pi.registerProvider("mock", { baseUrl: "` + base + `/client-mock/v1" })`, `pi.registerProvider("claude-like", { baseUrl: "` + base + `/client-claude-like" })`,
	} {
		if !strings.Contains(code, want) {
			t.Errorf("%s lacks %s", code, want)
		}
	}
	if plan, _ := (place{args: []string{"pi", "install", "x"}}).prepare(t); len(plan.Args) != 3 {
		t.Errorf("what talks to no model was told: %q", plan.Args)
	}
}

func TestClineGetsItsFilesButTheProviders(t *testing.T) {
	plan, home := place{
		args: []string{"cline", "do it"},
		files: map[string]string{
			".cline/data/settings/providers.json": `{"providers":{"openai-compatible":{"settings":{"baseUrl":"https://x.example/v1","apiKey":"secret"}}}}`,
			".cline/data/settings/mcp.json":       `{}`, ".cline/data/tasks.json": `[]`,
		},
	}.prepare(t)
	if !slices.Equal(plan.Args[:1], []string{"cline"}) || !slices.Contains(plan.Args, "--compaction") {
		t.Fatalf("%q", plan.Args)
	}
	dir := plan.Args[slices.Index(plan.Args, "--data-dir")+1]
	if got := read(t, filepath.Join(dir, "settings", "providers.json")); !strings.Contains(got, base+"/client-openai-compatible/v1") || !strings.Contains(got, "secret") {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"settings/mcp.json", "tasks.json", "sessions", "db"} {
		if to, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err != nil || !strings.Contains(to, filepath.Join(".cline", "data")) {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	info, err := os.Stat(filepath.Join(dir, "settings", "providers.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	_ = home
}

func TestContinueGetsACopy(t *testing.T) {
	plan, _ := place{
		args: []string{"cn", "-p", "x"},
		files: map[string]string{".continue/config.yaml": `name: mine # with a comment
models:
  - {name: a, provider: openai, model: gpt-5}
  - name: b
    provider: openai
    apiBase: https://b.example/v1
    defaultCompletionOptions: {maxTokens: 100}
  - {name: c, provider: gemini, model: g}
`},
	}.prepare(t)
	if plan.Args[1] != "--config" {
		t.Fatalf("%q", plan.Args)
	}
	got := decode(t, read(t, plan.Args[2]))
	want := map[string]any{"name": "mine", "models": []any{
		map[string]any{"name": "a", "provider": "openai", "model": "gpt-5", "apiBase": base + "/v1", "defaultCompletionOptions": map[string]any{"contextLength": 1e7}},
		map[string]any{"name": "b", "provider": "openai", "apiBase": base + "/client-openai-b/v1", "defaultCompletionOptions": map[string]any{"maxTokens": 100.0, "contextLength": 1e7}},
		map[string]any{"name": "c", "provider": "gemini", "model": "g"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "model c") {
		t.Errorf("%q", plan.Warnings)
	}
}

func TestCrushGetsACopyWhereItHasAddresses(t *testing.T) {
	plan, _ := place{
		args:  []string{"crush"},
		files: map[string]string{".config/crush/crush.json": `{"providers":{"x":{"type":"openai-compat","base_url":"https://x.example/v1"}}}`, ".config/crush/other": "1"},
	}.prepare(t)
	dir := plan.Env["CRUSH_GLOBAL_CONFIG"]
	if got := read(t, filepath.Join(dir, "crush.json")); !strings.Contains(got, base+"/client-x/v1") {
		t.Errorf("%s", got)
	}
	if read(t, filepath.Join(dir, "other")) != "1" {
		t.Error("the other files are not there")
	}
}

func TestUnknownClient(t *testing.T) {
	_, err := launch.Prepare(launch.Place{Args: []string{"x"}, Client: "nobody", Env: func(string) string { return "" }})
	if precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), "claude") {
		t.Error(err)
	}
}

func TestFoldersOfThoseThatAreGoneAreRemoved(t *testing.T) {
	base := t.TempDir()
	env := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return base
		}
		return ""
	}
	alive, err := launch.NewTemp(env).Dir()
	if err != nil {
		t.Fatal(err)
	}
	reused := filepath.Join(base, filepath.Base(alive)+"9") // our number, another start
	unknown := filepath.Join(base, "precis-run-x")
	for _, dir := range []string{filepath.Join(base, "precis-run-999999999-5"), reused, unknown} {
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	launch.NewTemp(env)
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(alive), "precis-run-x"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}
