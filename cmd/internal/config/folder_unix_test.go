//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/config"
)

func TestAFolderFileIsReadWithCare(t *testing.T) {
	dir := t.TempDir()
	for name, create := range map[string]func(path string) error{
		"folder":     func(p string) error { return os.Mkdir(p, 0o700) },
		"named pipe": func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"endless":    func(p string) error { return os.Symlink("/dev/zero", p) },
		"large":      func(p string) error { return os.WriteFile(p, make([]byte, 2<<20), 0o600) },
	} {
		path := filepath.Join(dir, name)
		if err := create(path); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(config.Sources{Folder: path}); precis.CodeOf(err) != precis.CodeInvalid || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
