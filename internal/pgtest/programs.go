//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// programs returns the directory of PostgreSQL's programs: that of the initdb
// in PATH, the one pg_config names, or where Debian keeps the newest version.
func programs() (string, error) {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	versions, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(versions)
	for _, dir := range append(dirs, versions...) {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", ErrMissing
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
