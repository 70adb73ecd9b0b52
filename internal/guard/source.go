package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed dialect.txt
var dialectText string

var dialect = table.Lazy("dialect.txt", dialectText, "phrase", "instead")

// phrase is an entry of dialect.txt.
type phrase struct {
	*regexp.Regexp
	instead string
}

func phraseOf(row table.Row) phrase {
	return phrase{regexp.MustCompile(`(?i)\b(?:` + row.Get("phrase") + `)\b`), row.Get("instead")}
}

// mark is the directive in the documentation of a package that only tests and developers use.
const mark = "//precis:testonly"

// widest is how many characters a line of code may have; a tab is one.
const widest = 120

// pkg is a package: its Go files without tests, with any build constraints.
type pkg struct {
	dir      string // "." is the root
	program  bool
	testOnly bool            // it has the mark
	imports  map[string]bool // folders of the packages of this module
	embeds   []string        // patterns, with the folder
	counts
}

type counts struct{ lines, branches, regexps, wide, comments, exported int }

// source is the Go code of the project.
type source struct {
	root    string // folder
	module  string // path
	pkgs    map[string]*pkg
	dialect []string // comments of the product with a phrase of dialect.txt, once for each phrase
}

// readSource reads the Go files below a folder, without tests and their data.
func readSource(root string) (*source, error) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	s := &source{root: root, module: strings.TrimSpace(strings.TrimPrefix(first, "module")),
		pkgs: map[string]*pkg{}}
	var phrases []phrase
	for _, row := range dialect().Rows {
		phrases = append(phrases, phraseOf(row))
	}
	files := token.NewFileSet()
	var later []func()
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch base := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && filepath.Clean(name) == filepath.Join(root, "lab"): // a module of its own
			return filepath.SkipDir
		case e.IsDir() && name != root &&
			(base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_'):
			return filepath.SkipDir
		case e.IsDir() || filepath.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		p := s.add(filepath.ToSlash(rel), file, text)
		later = append(later, func() {
			if !p.testOnly {
				s.readDialect(phrases, files, file)
			}
		})
		return nil
	})
	for _, read := range later { // once the marks are known
		read()
	}
	return s, err
}

// add adds a file to its package.
func (s *source) add(dir string, file *ast.File, text []byte) *pkg {
	p := s.pkgs[dir]
	if p == nil {
		p = &pkg{dir: dir, imports: map[string]bool{}}
		s.pkgs[dir] = p
	}
	p.program = file.Name.Name == "main"
	for _, c := range commentsOf(file.Doc) {
		p.testOnly = p.testOnly || c.Text == mark
	}
	for _, imp := range file.Imports {
		if at, ok := s.folderOf(imp); ok {
			p.imports[at] = true
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if patterns, ok := strings.CutPrefix(c.Text, "//go:embed "); ok {
				for _, pattern := range strings.Fields(patterns) {
					p.embeds = append(p.embeds, path.Join(dir, pattern))
				}
			}
		}
	}
	p.count(file, text)
	return p
}

// folderOf returns the folder of an imported package of this module.
func (s *source) folderOf(imp *ast.ImportSpec) (string, bool) {
	at, _ := strconv.Unquote(imp.Path.Value)
	if at == s.module {
		return ".", true
	}
	return strings.CutPrefix(at, s.module+"/")
}

func commentsOf(g *ast.CommentGroup) []*ast.Comment {
	if g == nil {
		return nil
	}
	return g.List
}

// count adds the counts of a file.
func (c *counts) count(file *ast.File, text []byte) {
	for line := range strings.Lines(string(text)) {
		c.lines++
		if utf8.RuneCountInString(strings.TrimRight(line, "\r\n")) > widest {
			c.wide++
		}
	}
	for _, group := range file.Comments {
		c.comments += len(prose(group))
	}
	makers := regexpPackages(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			c.branches++
		case *ast.CaseClause:
			if n.List != nil {
				c.branches++
			}
		case *ast.CommClause:
			if n.Comm != nil {
				c.branches++
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				c.branches++
			}
		case *ast.CallExpr:
			c.regexps += regexpsOf(n, makers)
		}
		return true
	})
	for _, d := range file.Decls {
		c.exported += exportedNames(d)
	}
}

// regexpPackages returns the names by which a file imports the packages that compile regular expressions.
func regexpPackages(file *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, imp := range file.Imports {
		at, _ := strconv.Unquote(imp.Path.Value)
		if at != "regexp" && !strings.HasSuffix(at, "/internal/lazyregexp") {
			continue
		}
		if imp.Name != nil {
			names[imp.Name.Name] = true
		} else {
			names[path.Base(at)] = true
		}
	}
	return names
}

// regexpsOf returns how many regular expressions a call compiles.
func regexpsOf(call *ast.CallExpr, makers map[string]bool) int {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0
	}
	if of, ok := sel.X.(*ast.Ident); !ok || !makers[of.Name] {
		return 0
	}
	switch sel.Sel.Name {
	case "Compile", "MustCompile", "CompilePOSIX", "MustCompilePOSIX", "New":
		return 1
	case "All":
		return len(call.Args)
	}
	return 0
}

// exportedNames returns how many exported names a declaration has, without methods.
func exportedNames(d ast.Decl) (n int) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			n++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

var directive = regexp.MustCompile(`^//[a-z]+:`)

// prose returns the lines of a group of comments, without directives.
func prose(group *ast.CommentGroup) (all []string) {
	for _, c := range group.List {
		if !directive.MatchString(c.Text) {
			all = append(all, strings.Split(c.Text, "\n")...)
		}
	}
	return all
}

// readDialect collects the comments of a file that contain a phrase of dialect.txt.
func (s *source) readDialect(phrases []phrase, files *token.FileSet, file *ast.File) {
	for _, group := range file.Comments {
		for _, line := range prose(group) {
			for _, p := range phrases {
				for _, found := range p.FindAllString(line, -1) {
					s.dialect = append(s.dialect,
						fmt.Sprintf("%s: %q, write %s: %s", files.Position(group.Pos()), found, p.instead,
							strings.TrimSpace(line)))
				}
			}
		}
	}
}

// figures returns what is counted of the product.
func (s *source) figures() ([]figure, error) {
	var sum counts
	var packages []figure
	var embeds []string
	for _, dir := range slices.Sorted(maps.Keys(s.pkgs)) {
		p := s.pkgs[dir]
		if p.testOnly {
			continue
		}
		embeds = append(embeds, p.embeds...)
		packages = append(packages, figure{name: dir + lines, now: float64(p.lines), ofPackage: true},
			figure{name: dir + branches, now: float64(p.branches), ofPackage: true})
		sum.lines += p.lines
		sum.branches += p.branches
		sum.regexps += p.regexps
		sum.wide += p.wide
		sum.comments += p.comments
	}
	tables, err := s.tableFigures(embeds)
	if err != nil {
		return nil, err
	}
	perThousand := math.Round(10*1000*float64(len(s.dialect))/float64(sum.comments)) / 10
	figures := []figure{
		{name: "all lines", now: float64(sum.lines)},
		{name: "all branches", now: float64(sum.branches)},
		{name: "regular expressions", now: float64(sum.regexps)},
		{name: "lines over 120 columns", now: float64(sum.wide)},
		{name: "dialect per 1,000 comment lines", now: perThousand},
		{name: "exported names of the root", now: float64(s.pkgs["."].exported)},
	}
	return slices.Concat(packages, figures, tables), nil
}

// tableFigures returns the sizes of the data files that the product embeds.
func (s *source) tableFigures(patterns []string) ([]figure, error) {
	size := map[string]int{".txt": 0, ".tsv": 0, ".json": 0, ".packed": 0}
	read := func(name string, e fs.DirEntry, err error) error {
		ext := filepath.Ext(name)
		if _, counted := size[ext]; err != nil || e.IsDir() || !counted {
			return err
		}
		text, err := os.ReadFile(name)
		if ext == ".packed" {
			size[ext] += len(text)
		} else {
			size[ext] += strings.Count(string(text), "\n")
		}
		return err
	}
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(s.root, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if err := filepath.WalkDir(name, read); err != nil {
				return nil, err
			}
		}
	}
	return []figure{
		{name: "table lines", now: float64(size[".txt"] + size[".tsv"] + size[".json"])},
		{name: "table lines in .txt", now: float64(size[".txt"])},
		{name: "table lines in .tsv", now: float64(size[".tsv"])},
		{name: "table lines in .json", now: float64(size[".json"])},
		{name: "bytes of packed tables", now: float64(size[".packed"])},
	}, nil
}

// wrongMarks returns a message for each package that has the mark although the product imports
// it, and for each unmarked package that is not part of the product.
func (s *source) wrongMarks() (problems []string) {
	reached := map[string]bool{}
	var reach func(dir string)
	reach = func(dir string) {
		p := s.pkgs[dir]
		if p == nil || reached[dir] {
			return
		}
		reached[dir] = true
		for _, imp := range slices.Sorted(maps.Keys(p.imports)) {
			if q := s.pkgs[imp]; q != nil && q.testOnly {
				problems = append(problems, fmt.Sprintf("%s imports %s, which is marked %s", dir, imp, mark))
				continue
			}
			reach(imp)
		}
	}
	dirs := slices.Sorted(maps.Keys(s.pkgs))
	for _, dir := range dirs {
		p := s.pkgs[dir]
		isPublic := !p.program && !slices.Contains(strings.Split(dir, "/"), "internal")
		if dir == "cmd/precis" || isPublic && !p.testOnly {
			reach(dir)
		}
	}
	for _, dir := range dirs {
		if !reached[dir] && !s.pkgs[dir].testOnly {
			problems = append(problems, fmt.Sprintf("%s is not part of the product: mark its package comment with %s, or remove it", dir, mark))
		}
	}
	return problems
}
