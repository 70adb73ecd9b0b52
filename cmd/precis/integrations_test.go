package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// integrate runs a program of the folder integrations against precis serve.
func integrate(t *testing.T, dir string, args ...string) {
	t.Helper()
	base, _ := served(t, "memory")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRECIS_URL="+base, "PRECIS_KEY=", "PYTHONDONTWRITEBYTECODE=1", "XDG_STATE_HOME="+t.TempDir(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// TestPythonIntegrations runs the Python adapters, which need no package.
func TestPythonIntegrations(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it starts processes")
	}
	if err := exec.Command("python3", "--version").Run(); err != nil {
		t.Skip("there is no python3")
	}
	integrate(t, "../../integrations/python", "python3", "-m", "unittest", "test_integrations")
}

// TestNodeIntegrations runs the TypeScript adapters against the packages of npm: make
// integrations.
func TestNodeIntegrations(t *testing.T) {
	if os.Getenv("PRECIS_NPM") == "" {
		t.Skip("PRECIS_NPM is not set: packages of npm would be installed")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash("../../integrations/typescript"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"}, {"npx", "tsc"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	integrate(t, dir, "node", "--test", "test/")
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
