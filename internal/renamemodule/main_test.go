package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/sample"
)

const elsewhere = "example.com/you/precis"

// TestRename gives a copy of the repository another module path and works with it.
func TestRename(t *testing.T) {
	dir := copyOfRepository(t)
	if err := run(dir, []string{elsewhere}); err != nil {
		t.Fatal(err)
	}
	wantNoOldImports(t, dir)
	if out, err := exec.Command("gofmt", "-l", dir).Output(); err != nil || len(out) > 0 {
		t.Errorf("gofmt would change %s, %v", out, err)
	}
	if !sample.All() {
		return // what follows compiles everything
	}
	wantGo(t, dir, "build", "./...")
	wantGo(t, dir, "test", "-short", "./wire", "./store/memory")
	wantGo(t, filepath.Join(dir, "integrations", "go", "anthropic"), "vet", "./...")
}

// copyOfRepository copies the files that git tracks, as they are now.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = filepath.Join("..", "..")
	list, err := cmd.Output()
	if err != nil {
		t.Skip("this is not a git checkout: there is no list of the files to copy")
	}
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(cmd.Dir, name))
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantGo(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := goCommand(dir, args...); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

// wantNoOldImports looks at files that this machine does not build, too.
func wantNoOldImports(t *testing.T, dir string) {
	t.Helper()
	was, err := goCommand(".", "list", "-m")
	if err != nil {
		t.Fatal(err)
	}
	old := renaming{old: was}
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			if _, is := old.renamed(strings.Trim(spec.Path.Value, `"`)); is {
				t.Errorf("%s imports %s", path, spec.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestRenameChangesNothingElse(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":      "module precis\n\ngo 1.26\n",
		"store/s.go":  "package store\n",
		"store/x.txt": "precis/store\n",
		"s_test.go":   "package main\n\nimport _ \"precis/store\"\n\nconst room = \"precis/store\"\n",
		"main.go": `//go:build never

// Package main is no part of precis/store, see /precis/store, precis/nothing and
// [precis/store.X].
package main

import (
	_ "embed"

	. "precis/store" // precis/store
)

//go:embed store/x.txt
var text string

var names = []string{"precis", "precis/store", "precis/nothing", "/precis/store", "a precis/store"}
`,
		"README.md": "`precis/store`\n\n```go\nimport \"precis\"\n\n\ts \"precis/store\"\n```\n\nimport \"precis\"\n\n    go mod edit -require=precis@v0.0.0 -replace=precis=../precis\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, []string{"no path"}); err == nil {
		t.Error("a module path with a space is taken")
	}
	if err := run(dir, []string{elsewhere}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"go.mod":      "module example.com/you/precis\n\ngo 1.26\n",
		"store/s.go":  files["store/s.go"],
		"store/x.txt": files["store/x.txt"],
		"s_test.go":   "package main\n\nimport _ \"example.com/you/precis/store\"\n\nconst room = \"precis/store\"\n",
		"main.go": `//go:build never

// Package main is no part of precis/store, see /precis/store, precis/nothing and
// [example.com/you/precis/store.X].
package main

import (
	_ "embed"

	. "example.com/you/precis/store" // precis/store
)

//go:embed store/x.txt
var text string

var names = []string{"precis", "example.com/you/precis/store", "precis/nothing", "/precis/store", "a precis/store"}
`,
		"README.md": "`precis/store`\n\n```go\nimport \"example.com/you/precis\"\n\n\ts \"example.com/you/precis/store\"\n```\n\nimport \"precis\"\n\n" +
			"    go mod edit -require=example.com/you/precis@v0.0.0 -replace=example.com/you/precis=../precis\n",
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, []byte(text)) {
			t.Errorf("%s is\n%s\nwant\n%s\n%v", name, got, text, err)
		}
	}
}
