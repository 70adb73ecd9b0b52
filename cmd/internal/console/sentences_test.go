package console_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/texts"
)

// collector finds the English sentences in the source that people read.
type collector struct {
	where map[string]string // by sentence the place
	file  string
	fset  *token.FileSet
	faces bool // the file is one of the command line
}

var verbs = regexp.MustCompile(`%%|%(\[\d\])?[-+ #0]*(\*|\d+)?(\.\d+)?[a-zA-Z]`)

// commands are hints that are a command to type, the same in every language.
var commands = []string{"chmod 600 %s", "precis install %s", "precis stats hosts"}

// normal replaces verbs by %d and %s, which is what a sentence shows of them.
func normal(format string) string {
	return verbs.ReplaceAllStringFunc(format, func(v string) string {
		switch {
		case v == "%%":
			return v
		case strings.HasSuffix(v, "d"):
			return "%d"
		}
		return "%s"
	})
}

func (c *collector) add(key string, at ast.Node) {
	if slices.Contains(commands, key) {
		return
	}
	if strings.Trim(verbs.ReplaceAllString(key, ""), " :;,.()\"'%") != "" {
		c.where[key] = c.file + ":" + strconv.Itoa(c.fset.Position(at.Pos()).Line)
	}
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// sentence returns the key of an expression that makes a sentence: a literal, a sum, what
// fmt writes, or an error made of these.
func sentence(e ast.Expr) (string, bool) {
	if s, ok := literal(e); ok {
		return strings.ReplaceAll(s, "%", "%%"), true
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		a, left := sentence(e.X)
		b, right := sentence(e.Y)
		if !left {
			a = "%s"
		}
		if !right {
			b = "%s"
		}
		return a + b, left || right
	case *ast.CallExpr:
		args := e.Args
		switch called(e) {
		case "New":
			if len(args) == 1 {
				return sentence(args[0])
			}
		case "Sprintf", "Errorf":
			if i := slices.IndexFunc(args, func(a ast.Expr) bool { _, ok := literal(a); return ok }); i >= 0 && i < 3 {
				for ; i < 2 && i+1 < len(args) && called(e) == "Errorf" && len(args) > 2; i++ { // precis.Errorf(code, op, format, …)
					if _, ok := literal(args[i+1]); !ok {
						break
					}
				}
				s, _ := literal(args[i])
				return normal(s), true
			}
		}
	}
	return "", false
}

func called(e *ast.CallExpr) string {
	switch f := e.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}

var (
	flags = regexp.MustCompile(`^(String|Bool|Int|StringArray|StringSlice)(Var)?P?$`)
	ends  = regexp.MustCompile(`^([a-z].*)?[a-z)…]$`)
)

// engineNames are the names of fields and variables with sentences for people.
var engineNames = []string{"Hint", "hint", "Reason", "Does", "After"}

func (c *collector) visit(n ast.Node) bool {
	engine := func(name string, value ast.Expr) {
		if s, ok := sentence(value); ok && slices.Contains(engineNames, name) {
			c.add(s, value)
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if k, ok := n.Key.(*ast.Ident); ok {
			engine(k.Name, n.Value)
			if s, ok := sentence(n.Value); ok && c.faces && (k.Name == "Short" || k.Name == "help" && strings.HasPrefix(c.file, "cmd/internal/config/")) {
				c.add(s, n.Value)
			}
		}
	case *ast.AssignStmt:
		for i, l := range n.Lhs {
			if len(n.Rhs) != len(n.Lhs) {
				break
			}
			switch l := l.(type) {
			case *ast.Ident:
				engine(l.Name, n.Rhs[i])
			case *ast.SelectorExpr:
				engine(l.Sel.Name, n.Rhs[i])
			}
		}
	case *ast.CompositeLit:
		c.pairs(n)
	case *ast.CallExpr:
		c.call(n)
	}
	return true
}

// pairs takes the names of pairs: [2]string{"name", …}.
func (c *collector) pairs(n *ast.CompositeLit) {
	t, ok := n.Type.(*ast.ArrayType)
	if !ok || !c.faces {
		return
	}
	one := func(n *ast.CompositeLit) {
		if s, ok := literal(n.Elts[0]); ok && len(n.Elts) == 2 && ends.MatchString(s) {
			c.add(s, n)
		}
	}
	if inner, ok := t.Elt.(*ast.ArrayType); ok && inner.Len != nil {
		for _, e := range n.Elts {
			if e, ok := e.(*ast.CompositeLit); ok {
				one(e)
			}
		}
	} else if t.Len != nil && len(n.Elts) == 2 {
		one(n)
	}
}

// warnings collects the texts of warnings about recordings, and of those added to lists of
// warnings.
func (c *collector) warnings(name string, args []ast.Expr) {
	if len(args) < 2 {
		return
	}
	list := ""
	switch a := args[0].(type) {
	case *ast.Ident:
		list = a.Name
	case *ast.SelectorExpr:
		list = a.Sel.Name
	}
	s, ok := sentence(args[1])
	if l, is := literal(args[1]); is {
		s, ok = normal(l), true
	}
	if ok && (name == "append" && strings.EqualFold(list, "warnings") || strings.EqualFold(name, "warn") && strings.HasPrefix(c.file, "archive/")) {
		c.add(s, args[1])
	}
}

func (c *collector) call(n *ast.CallExpr) {
	name := called(n)
	args := n.Args
	if strings.HasPrefix(c.file, "cmd/internal/doctor") && (name == "ok" || name == "add") && len(args) >= 2 {
		for i, a := range args {
			if s, ok := literal(a); ok && (name == "ok" && i == 1 || name == "add" && i == 3) {
				c.add(normal(s), a)
			} else if s, ok := sentence(a); ok && name == "add" && i == 2 && s != "" {
				c.add(s, a)
			}
		}
	}
	c.warnings(name, args)
	if strings.HasPrefix(c.file, "dashboard/") && (name == "Errorf" || name == "New") {
		if s, ok := sentence(n); ok && !strings.Contains(s, "Options.") {
			c.add(s, n)
		}
	}
	if !c.faces || len(args) == 0 {
		return
	}
	switch {
	case slices.Contains([]string{"Text", "Line", "Warn", "Note"}, name), name == "say" && strings.HasSuffix(c.file, "reports/gate.go"):
		if s, ok := literal(args[0]); ok {
			c.add(s, n)
		}
	case name == "Heads":
		for _, a := range args {
			if s, ok := literal(a); ok {
				c.add(s, a)
			}
		}
	case name == "Count" && len(args) == 2:
		if s, ok := literal(args[1]); ok {
			c.add("%d "+s, n)
			c.add("%d "+term.Noun(2, s), n)
		}
	case flags.MatchString(name) && len(args) >= 3:
		if s, ok := sentence(args[len(args)-1]); ok {
			c.add(s, n)
		}
	}
}

// collected returns the sentences of the source of this module.
func collected(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	c := &collector{where: map[string]string{}, fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"cmd/internal/scale", "examples", "mcpserver", "integrations", "store/storetest", "provider/providertest", ".git"}, rel):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || strings.Contains(rel, "testdata"):
			return nil
		}
		f, err := parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		c.file, c.faces = rel, strings.HasPrefix(rel, "cmd/") && rel != "cmd/precis/outlineworker.go" && rel != "cmd/precis/man.go" && !strings.HasPrefix(rel, "cmd/internal/texts")
		ast.Inspect(f, c.visit)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.where
}

// Every sentence of the source that people read has a translation into every language.
func TestEverySentenceIsInEveryLanguage(t *testing.T) {
	all, err := texts.AllSentences()
	if err != nil {
		t.Fatal(err)
	}
	where := collected(t)
	for _, key := range slices.SortedFunc(maps.Keys(where), func(a, b string) int { return strings.Compare(where[a], where[b]) }) {
		if _, ok := all[key]; !ok {
			t.Errorf("%s: no translation of %q", where[key], key)
		}
	}
}

// typed are what users type, which a translation keeps: flags, variables, placeholders of
// values, commands.
var typed = regexp.MustCompile("--[a-z][\\w-]*|\\b[A-Z]+_[A-Z_]+\\b|`[^`]+`|\\bprecis (" +
	"condense|config|digest|doctor|gate|gateway|inspect|install|models|pin|repair|restore|run|search|serve|sessions|show|stats|store|undo|uninstall|verify|view)\\b")

// Translations take the values of their sentences, in their order or numbered, and what
// users type.
func TestSentencesTakeTheSameValues(t *testing.T) {
	all, err := texts.AllSentences()
	if err != nil {
		t.Fatal(err)
	}
	find := func(s string) []string {
		return slices.DeleteFunc(verbs.FindAllString(s, -1), func(v string) bool { return v == "%%" })
	}
	for key, in := range all {
		if len(in) != len(texts.Languages())-1 {
			t.Errorf("%q is in %d languages", key, len(in))
		}
		want, kept := find(key), typed.FindAllString(key, -1)
		for lang, said := range in {
			for _, word := range kept {
				if !strings.Contains(said, word) {
					t.Errorf("%s: %q has no %s, which is in %q", lang, said, word, key)
				}
			}
			got := find(said)
			for i, v := range got {
				n := i + 1
				if v[1] == '[' {
					n = int(v[2] - '0')
					v = "%" + v[4:]
				}
				if n > len(want) || want[n-1] != v {
					t.Errorf("%s: value %d of %q is %s, in English %v", lang, n, said, v, want)
				}
			}
			if len(got) != len(want) || said == "" {
				t.Errorf("%s: %q takes %d values, %q takes %d", lang, said, len(got), key, len(want))
			}
			if strings.HasPrefix(key, " ") != strings.HasPrefix(said, " ") && strings.HasPrefix(key, "  ") {
				t.Errorf("%s: %q begins otherwise than %q", lang, said, key)
			}
		}
	}
}
