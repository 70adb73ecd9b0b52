// Command faults changes one place of a package at a time and reports which tests notice: it measures
// the tests, not the code.
//
//	go run ./internal/faults -n 10 -seed 1 ./digest ./gateway ./reduce ./store/... .
//
// Faults are selected at random among the conditions, comparisons and numbers of each package, equally
// from every package. Equal seeds select equal faults in equal code. The source is not written: a fault
// is an overlay of go test. Each fault is tried with the tests of its package at three levels, until
// one fails: -short, without it, and with PRECIS_ALL=1 together with the packages of -also.
//
//precis:testonly
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fault replaces bytes of a file.
type fault struct {
	file     string
	from, to int // offsets in bytes
	by       string
	line     int
	was      string
}

func main() {
	n := flag.Int("n", 10, "number of faults in each package")
	seed := flag.Uint64("seed", 1, "selects the faults")
	also := flag.String("also", ". ./preset ./conformance",
		"packages that the last level runs, too, separated by spaces")
	deepest := flag.Int("levels", 3, "levels to try: 1 is -short, 2 without it, 3 with PRECIS_ALL=1")
	flag.Parse()
	if err := run(flag.Args(), *n, *seed, strings.Fields(*also), *deepest); err != nil {
		fmt.Fprintln(os.Stderr, "faults: error:", err)
		os.Exit(1)
	}
}

func run(patterns []string, n int, seed uint64, also []string, deepest int) error {
	out, err := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, patterns...)...).Output()
	if err != nil {
		return fmt.Errorf("list the packages: %w", err)
	}
	work, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	found := make([]int, deepest+1) // by level; the last: by none
	for _, dir := range strings.Fields(string(out)) {
		faults, err := faultsIn(dir)
		if err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		tried := 0
		for _, f := range faults {
			if tried == n {
				break
			}
			overlay, err := f.overlay(work)
			if err != nil {
				return err
			}
			if exec.Command("go", "build", "-overlay", overlay, dir).Run() != nil {
				continue // the compiler notices
			}
			tried++
			level := noticed(dir, overlay, also, deepest)
			found[level]++
			name := "NOT"
			if level < deepest {
				name = names[level]
			}
			fmt.Printf("%-9s %s:%d: %s → %s\n", name, filepath.Base(dir)+"/"+filepath.Base(f.file), f.line,
				f.was, f.by)
		}
	}
	for level, n := range found[:deepest] {
		fmt.Printf("%s: %d\n", names[level], n)
	}
	fmt.Printf("not noticed: %d\n", found[deepest])
	return nil
}

// names are the levels, in the order in which they are tried.
var names = []string{"short", "long", "all"}

// noticed returns the first level at which a test fails; deepest when none does.
func noticed(dir, overlay string, also []string, deepest int) int {
	for level := range deepest {
		longest := []string{"2m", "10m", "30m"}[level] // a fault may make a loop endless
		args := []string{"test", "-vet=off", "-failfast", "-timeout", longest, "-overlay", overlay}
		if level == 0 {
			args = append(args, "-short")
		}
		if args = append(args, dir); level == 2 {
			args = append(args, also...)
		}
		cmd := exec.Command("go", args...)
		if level == 2 {
			cmd.Env = append(os.Environ(), "PRECIS_ALL=1")
		}
		if cmd.Run() != nil {
			return level
		}
	}
	return deepest
}

// overlay writes the changed file and the file that go test reads it by, and returns the path of the latter.
func (f fault) overlay(work string) (string, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(work, "changed.go"), filepath.Join(work, "overlay.json")
	text = slices.Concat(text[:f.from], []byte(f.by), text[f.to:])
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {f.file: changed}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// opposites are the operators that replace another one.
var opposites = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// faultsIn returns the faults that the production code of a folder can have, in the order of the source.
func faultsIn(dir string) (all []fault, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, text, 0)
		if err != nil {
			return nil, err
		}
		add := func(from, to token.Pos, by func(was string) string) {
			a, b := set.Position(from), set.Position(to)
			was := string(bytes.TrimSpace(text[a.Offset:b.Offset]))
			all = append(all, fault{file, a.Offset, b.Offset, by(was), a.Line, was})
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IfStmt:
					add(n.Cond.Pos(), n.Cond.End(), func(was string) string { return "!(" + was + ")" })
				case *ast.BinaryExpr:
					if by := opposites[n.Op]; by != "" {
						add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), func(string) string { return by })
					}
				case *ast.BasicLit:
					if n.Kind == token.INT {
						add(n.Pos(), n.End(), func(was string) string { return "(" + was + "+1)" })
					}
				}
				return true
			})
		}
	}
	return all, nil
}
