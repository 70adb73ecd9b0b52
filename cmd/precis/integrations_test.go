package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runIn runs a program of the folder integrations or examples in a folder, and returns its output.
func runIn(t *testing.T, dir, stdin string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "PRECIS_KEY=", "PYTHONDONTWRITEBYTECODE=1", "XDG_STATE_HOME="+t.TempDir(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	cmd.Env = append(cmd.Env, env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

// pythonWith returns a Python that has modules. With CI_REQUIRE_HTTPX set it must be there.
func pythonWith(t *testing.T, modules string) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+modules).Run() == nil {
			return python
		}
	}
	skip := t.Skipf
	if os.Getenv("CI_REQUIRE_HTTPX") != "" {
		skip = t.Fatalf
	}
	skip("there is no python3 with %s", modules)
	return ""
}

// oneAnswer is an API that answers each request with how many tokens of four bytes it has, and whether it
// has what the user said.
func oneAnswer(t *testing.T) string {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","object":"chat.completion","model":"gpt-4","choices":[{"index":0,"message":{"role":"assistant","content":"fits: %v, said: %v"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3000,"completion_tokens":9}}`,
			len(body)/4 < 8192, bytes.Contains(body, []byte("Never touch main.go.")))
	}))
	t.Cleanup(up.Close)
	return up.URL + "/v1"
}

// tooLarge is a request for a model with a window of 8,192 tokens.
func tooLarge() string {
	return strings.Replace(readings(40, ""), `"model":"m","window":8000,`, `"model":"gpt-4",`, 1)
}

const fits = "fits: true, said: true"

// TestPythonIntegrations runs what needs no package but the standard library.
func TestPythonIntegrations(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts processes")
	}
	python := pythonWith(t, "json")
	base, _ := served(t, "memory")
	runIn(t, "../../integrations/python", "", []string{"PRECIS_URL=" + base}, python, "-m", "unittest", "test_integrations")
}

// TestHTTPXIntegrations runs the transports inside httpx, builds their package, and runs the example with
// the package installed.
func TestHTTPXIntegrations(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts processes")
	}
	python := pythonWith(t, "httpx, build, setuptools, venv")
	base, _ := served(t, "memory")
	env := []string{"PRECIS_URL=" + base}
	runIn(t, "../../integrations/python", "", env, python, "-m", "unittest", "test_httpx")

	dir, wheels, home := copyWithout(t, "../../integrations/python"), t.TempDir(), t.TempDir()
	runIn(t, dir, "", nil, python, "-m", "build", "--no-isolation", "--wheel", "--outdir", wheels)
	wheel, err := filepath.Glob(filepath.Join(wheels, "precis_httpx-*.whl"))
	if err != nil || len(wheel) != 1 {
		t.Fatalf("%q, %v", wheel, err)
	}
	runIn(t, home, "", nil, python, "-m", "venv", "--system-site-packages", "env") // httpx is there
	own := filepath.Join(home, "env", "bin", "python")
	runIn(t, home, "", nil, own, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", wheel[0])
	example, err := filepath.Abs("../../examples/python/main.py")
	if err != nil {
		t.Fatal(err)
	}
	if out := runIn(t, home, tooLarge(), env, own, example, oneAnswer(t)+"/chat/completions", "Bearer k"); !strings.Contains(out, fits) {
		t.Errorf("the example prints %q", out)
	}
}

// TestNodeIntegrations runs precisFetch inside the packages of npm, packs it, and runs the example in a
// folder where the package was installed: make integrations.
func TestNodeIntegrations(t *testing.T) {
	if os.Getenv("PRECIS_NPM") == "" {
		t.Skip("PRECIS_NPM is not set: packages of npm would be installed")
	}
	base, _ := served(t, "memory")
	env := []string{"PRECIS_URL=" + base}
	dir, home := copyWithout(t, "../../integrations/typescript", "node_modules", "dist"), copyWithout(t, "../../examples/typescript")
	runIn(t, dir, "", nil, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts")
	runIn(t, dir, "", env, "npm", "test")

	runIn(t, dir, "", nil, "npm", "pack", "--silent", "--pack-destination", home)
	tgz, err := filepath.Glob(filepath.Join(home, "precis-fetch-*.tgz"))
	if err != nil || len(tgz) != 1 {
		t.Fatalf("%q, %v", tgz, err)
	}
	write(t, filepath.Join(home, "package.json"), `{"private":true,"type":"module"}`)
	runIn(t, home, "", nil, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", tgz[0])
	runIn(t, home, "", nil, "node", "--input-type=module", "-e", `import { precisFetch } from "precis-fetch"; precisFetch()`)
	runIn(t, home, "", nil, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "openai", "typescript", "@types/node")
	runIn(t, home, "", nil, "npx", "tsc", "--module", "nodenext", "--target", "es2022", "--strict", "--skipLibCheck", "--types", "node", "main.ts")
	if out := runIn(t, home, tooLarge(), append(env, "OPENAI_API_KEY=k", "OPENAI_BASE_URL="+oneAnswer(t)), "node", "main.js"); !strings.Contains(out, fits) {
		t.Errorf("the example prints %q", out)
	}
}

// TestGoExample runs the example in a module of its own, which needs this one.
func TestGoExample(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts processes")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := copyWithout(t, "../../examples/go")
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Fields(string(mod))[1]
	write(t, filepath.Join(dir, "go.mod"), "module example.com/agent\n\ngo 1.26.6\n\nrequire "+path+" v0.0.0\n\nreplace "+path+" => "+root+"\n")
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	out := runIn(t, dir, tooLarge(), []string{"GOFLAGS=" + os.Getenv("GOFLAGS") + " -mod=mod"}, "go", "run", ".", oneAnswer(t)+"/chat/completions", "Bearer k")
	if !strings.Contains(out, fits) {
		t.Errorf("the example prints %q", out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVSCodeExtension installs the tools of the extension for VS Code, runs its tests
// against this program, and packages it. With CI_REQUIRE_NPM set it must not skip.
func TestVSCodeExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it installs packages of npm")
	}
	skip := t.Skipf
	if os.Getenv("CI_REQUIRE_NPM") != "" {
		skip = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if err := exec.Command(program, "--version").Run(); err != nil {
			skip("there is no %s: the extension for VS Code is not tested", program)
		}
	}
	dir := copyWithout(t, "../../integrations/vscode", "node_modules", "dist", "out")
	self, err := exec.LookPath("precis") // this very test, as the command; see TestMain
	if err != nil {
		t.Fatal(err)
	}
	recording, err := filepath.Abs("../../examples/add-a-counter.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	npm := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "PRECIS_BINARY="+self, "PRECIS_RECORDING="+recording)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := npm("ci", "--no-audit", "--no-fund", "--ignore-scripts"); err != nil {
		skip("npm ci: %v: the extension for VS Code is not tested\n%s", err, out)
	}
	out, err := npm("test")
	if err != nil {
		t.Fatalf("npm test: %v\n%s", err, out)
	}
	if !strings.Contains(out, "skipped 0\n") {
		t.Errorf("a test was skipped\n%s", out)
	}
	if out, err := npm("run", "package"); err != nil {
		t.Fatalf("npm run package: %v\n%s", err, out)
	}
	checkPackage(t, filepath.Join(dir, "precis.vsix"))
}

// copyWithout copies a folder without entries of some names at its top.
func copyWithout(t *testing.T, from string, names ...string) (to string) {
	t.Helper()
	to = t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if slices.Contains(names, e.Name()) {
			continue
		}
		if e.IsDir() {
			err = os.CopyFS(target, os.DirFS(source))
		} else {
			var data []byte
			if data, err = os.ReadFile(source); err == nil {
				err = os.WriteFile(target, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// checkPackage verifies that the extension's package contains only the expected files and the
// license of this repository.
func checkPackage(t *testing.T, path string) {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := map[string]bool{"dist/extension.js": false, "package.json": false, "package.nls.json": false, "l10n/bundle.l10n.fr.json": false, "readme.md": false, "LICENSE.txt": false}
	for _, f := range r.File {
		name, inside := strings.CutPrefix(f.Name, "extension/")
		if _, ok := want[name]; ok {
			want[name] = true
		} else if inside && !strings.HasPrefix(name, "package.nls.") && !strings.HasPrefix(name, "l10n/") {
			t.Errorf("%s does not belong into the package", name)
		}
	}
	for name, found := range want {
		if !found {
			t.Errorf("%s is not in the package", name)
		}
	}
	own, err := os.ReadFile("../../integrations/vscode/LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	if root, err := os.ReadFile("../../LICENSE"); err != nil || string(root) != string(own) {
		t.Errorf("the license of the extension is not that of the repository (%v)", err)
	}
}
