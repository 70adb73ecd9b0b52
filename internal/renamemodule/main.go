// Command renamemodule gives the module in the current folder another path: in
// go.mod and those of modules below, in the imports of all Go files whatever their build tags, in the links of
// comments to one of its packages, in string literals that are the path of one
// (those of tests stay), and in the Go code of Markdown files.
//
//	go run ./internal/renamemodule example.com/you/precis
//
//precis:testonly
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if err := run(".", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "renamemodule: error:", err)
		os.Exit(1)
	}
}

func run(dir string, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return fmt.Errorf("name the new module path, such as example.com/you/precis")
	}
	old, err := goCommand(dir, "list", "-m")
	if err != nil {
		return err
	}
	// The command checks the path.
	if _, err := goCommand(dir, "mod", "edit", "-module", args[0]); err != nil {
		return err
	}
	r := renaming{dir: dir, old: old, new: args[0],
		link: regexp.MustCompile(`(\[\*?)` + regexp.QuoteMeta(old) + `((?:/\w+)+)`)}
	return filepath.WalkDir(dir, r.visit)
}

func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return text, nil
}

type renaming struct {
	dir, old, new string
	link          *regexp.Regexp // the old path and what follows it, at the beginning of a link
}

func (r renaming) visit(path string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if e.IsDir() {
		if e.Name() == ".git" || e.Name() == "node_modules" {
			return filepath.SkipDir
		}
		return nil
	}
	var change func(path string, text []byte) ([]byte, error)
	switch filepath.Ext(path) {
	case ".go":
		change = r.source
	case ".md":
		change = r.markdown
	case ".mod":
		if path != filepath.Join(r.dir, "go.mod") {
			change = r.module
		}
	}
	if change == nil || !e.Type().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := change(path, text)
	if err != nil || bytes.Equal(text, changed) {
		return err
	}
	return os.WriteFile(path, changed, 0o644) // the mode of a file that is there stays
}

// renamed returns the new path of a package; false when it is none of the module's.
func (r renaming) renamed(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, r.old)
	if !ok || rest != "" && rest[0] != '/' {
		return path, false
	}
	return r.new + rest, true
}

// isPackage reports whether a folder of the module holds Go files.
func (r renaming) isPackage(rest string) bool {
	files, _ := filepath.Glob(filepath.Join(r.dir, filepath.FromSlash(rest), "*.go")) // the pattern is good
	return len(files) > 0
}

// source changes a Go file.
func (r renaming) source(path string, text []byte) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	replace := func(n ast.Node, by string) {
		from, to := set.Position(n.Pos()).Offset, set.Position(n.End()).Offset
		out = append(append(out, text[at:from]...), by...)
		at = to
	}
	for _, n := range inOrder(f) {
		switch n := n.(type) {
		case *ast.ImportSpec:
			was, err := strconv.Unquote(n.Path.Value)
			if now, ok := r.renamed(was); err == nil && ok {
				replace(n.Path, strconv.Quote(now))
			}
		case *ast.BasicLit:
			was, err := strconv.Unquote(n.Value)
			now, ok := r.renamed(was)
			if strings.HasSuffix(path, "_test.go") { // it compares texts, the table of imports above all
				continue
			}
			if rest := strings.TrimPrefix(was, r.old); err == nil && ok && rest != "" && r.isPackage(rest) {
				replace(n, strconv.Quote(now))
			}
		case *ast.Comment:
			replace(n, r.comment(n.Text))
		}
	}
	if at == 0 {
		return text, nil
	}
	return format.Source(append(out, text[at:]...)) // the imports may be in another order
}

// inOrder returns the imports, the literals and the comments of a file.
func inOrder(f *ast.File) []ast.Node {
	var comments []*ast.Comment
	for _, g := range f.Comments {
		comments = append(comments, g.List...)
	}
	var out []ast.Node
	before := func(p token.Pos) {
		for ; len(comments) > 0 && comments[0].Pos() < p; comments = comments[1:] {
			out = append(out, comments[0])
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CommentGroup:
			return false
		case *ast.ImportSpec:
			before(n.Pos())
			out = append(out, n)
			return false
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				before(n.Pos())
				out = append(out, n)
			}
		}
		return true
	})
	before(f.FileEnd + 1)
	return out
}

// comment changes where a text links to a package.
func (r renaming) comment(text string) string {
	return r.link.ReplaceAllStringFunc(text, func(found string) string {
		m := r.link.FindStringSubmatch(found)
		if !r.isPackage(m[2]) {
			return found
		}
		return m[1] + r.new + m[2]
	})
}

// module changes the go.mod of a module below this one.
func (r renaming) module(_ string, text []byte) ([]byte, error) {
	old := regexp.QuoteMeta(r.old)
	text = regexp.MustCompile(`(?m)^module `+old+`/`).ReplaceAll(text, []byte("module "+r.new+"/"))
	return regexp.MustCompile(`(?m)^((?:require |replace |\t)?)`+old+`( v|\s+=>)`).ReplaceAll(text,
		[]byte("${1}"+r.new+"${2}")), nil
}

// markdown changes the imports in Go code, and the options of go mod edit.
func (r renaming) markdown(_ string, text []byte) ([]byte, error) {
	old := regexp.QuoteMeta(r.old)
	imports := regexp.MustCompile(`^(\s*(?:import\s+)?(?:[\w.]+\s+)?")` + old +
		`((?:/[\w/]+)?"\s*(?://.*)?)$`)
	options := regexp.MustCompile(`(-require=|-replace=)` + old + `([@=])`)
	lines, code := strings.Split(string(text), "\n"), false
	for i, line := range lines {
		if fence := strings.TrimSpace(line); strings.HasPrefix(fence, "```") {
			code = !code && fence == "```go"
		}
		if code || strings.HasPrefix(line, "    ") {
			line = imports.ReplaceAllString(line, "${1}"+r.new+"${2}")
		}
		lines[i] = options.ReplaceAllString(line, "${1}"+r.new+"${2}")
	}
	return []byte(strings.Join(lines, "\n")), nil
}
