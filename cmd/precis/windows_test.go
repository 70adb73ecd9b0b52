package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// precis windows shows and deletes the data of the running gateway.
func TestWindowsOfARunningGateway(t *testing.T) {
	base, stop := served(t, filepath.Join(t.TempDir(), "c.db"))
	self, err := exec.LookPath("precis")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	windows := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), self, append([]string{"windows", "--set", "gateway.listen=" + strings.TrimPrefix(base, "http://")}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := windows(); err != nil || !strings.Contains(out, "0 windows") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := windows("--json"); err != nil || strings.TrimSpace(out) != "[]" {
		t.Errorf("%v %s", err, out)
	}
	stop()
	if out, err := windows(); err == nil || !strings.Contains(out, "precis gateway") {
		t.Errorf("without a gateway: %v %s", err, out)
	}
}
