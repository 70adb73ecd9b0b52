package harness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayMark are the rooms that may hold words by which programs are known, besides this one.
var mayMark = map[string]string{
	"archive":           "readers know the marks of the program whose recordings they read",
	"outline":           "its format for many files has a frame of its own",
	"internal/hostile":  "texts for tests",
	"internal/upstream": "a scripted agent for tests",
	"integrations":      "programs of their own",
	"examples":          "recordings for the documentation",
	"internal/plain":    "mutes whatever looks like a tag of a program, whoever wrote it",
}

// knownMarks returns all words by which this room knows programs, but for those that say little by
// themselves.
func knownMarks() []string {
	const least = 6 // bytes
	all := []string{ReminderOpen, ReminderClose, "<command-", "tool_use_error", OwnMark, requestHeading}
	for _, row := range marksTable().Rows {
		if is := row.Get("is"); is != "observation" && is != "summary" {
			all = append(all, strings.TrimPrefix(row.Get("mark"), `\`))
		}
	}
	for _, row := range elements().Rows {
		if row.Get("holds") == "words" {
			all = append(all, "<"+row.Get("element")+">")
		}
	}
	// Words of English, or names of elements that mean something else elsewhere.
	common := []string{"<notice>", "<answer>", "[ERROR]", "<tools>", "<skill>", "<files>", "# Environment", "Contents of ", "<url_content", "Tool loaded.", "Tools loaded.", "Output Style:", "Token usage:"}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < least || slices.Contains(common, s) })
	slices.Sort(all)
	return slices.Compact(all)
}

// Who said a text is known by marks here alone: no other room holds one in its code.
func TestMarksOfProgramsStandHere(t *testing.T) {
	known := knownMarks()
	for _, want := range []string{"<system-reminder>", "<environment_details>", "[Request interrupted", "This session is being continued from a previous conversation", "<command-name>", "Base directory for this skill:"} {
		if !slices.Contains(known, want) {
			t.Errorf("%q is no mark", want)
		}
	}
	const top = "../.."
	files := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if _, may := mayMark[rel]; may || rel == "internal/harness" || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		files++
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for _, m := range known {
				if strings.Contains(text, m) {
					t.Errorf("%s:%d: %q is a mark of a program: ask precis.Speech who said a text, or this package for the form", rel, set.Position(lit.Pos()).Line, m)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files were read: %v", files, err)
	}
}
