package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
