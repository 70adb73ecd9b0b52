package harness

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms may ask this package, and for what. Who said a text is asked of precis.Speech, in the
// root, by everybody; here the others ask for the form of a text whose author they know.
var rooms = map[string]struct{ asks, why string }{
	".":                  {"*", "Speech answers who said a text"},
	"archive/claudecode": {"IsOurs Proven Refusal Reminder Reminders Result", "writes what the program told its model as the model saw it; refusals of which its file has only the text; which texts of a compaction precis wrote"},
	"archive/copilot":    {"Reminder", "as above"},
	"archive/codex":      {"FromEditor", "the words of a person behind those of an editor, for the title"},
	"condense":           {"Commands ReminderContent WholeState WithoutHead", "what a summary hands on: directives, the state of the editor; a result that is shortened keeps its head"},
	"digest":             {"Appended Commands IsRemark IsTool Speaks WithoutHead WorkingDirectory", "directives, the folder, by which tools the agent asks, speaks and ends a turn, what a result says below its head, where a result ends and what its program added begins, which lines of words a program added"},
	"digest/requests":    {"IsTool", "by which tools the agent asks the user"},
	"digest/effects":     {"Feedback IsRemark", "a person's words in the output of a command; which line of it is its result"},
	"host/hook":          {"Instructions IsOurs OwnMark ReminderContent StandingList SummaryWords WithoutOurs", "what precis and the program gave the model before, and which words of a summary are the model's"},
	"internal/preview":   {"ReminderClose ReminderOpen", "what a program adds to a result is no content"},
	"internal/prose":     {"Typed Unquoted", "in what a person said only what was typed has weight"},
	"internal/toolcall":  {"Claimed IsIntroduced IsObservation IsRemark Program Proven Refusal RegistersTools ReminderOpen Result ResultHead WithoutHead", "calls and results that are written as text, how calls ended, and results that register tools"},
	"inforce":            {"Appended IsTransient Jobs Reminder ReminderContent StandingList", "which texts of programs stay until a later one replaces them, what programs append to results, the words inside of a wrapper"},
	"policy":             {"IsEditorState IsObservation Reminder ResultHead", "what a note on hidden content quotes: the head of a result, the state of the editor; a wrapper around words of a system message"},
	"reduce":             {"Appended IsEditorState StateNote WithoutHead WorkingDirectory", "what stays of a result that is shortened, states of the editor that are out of date"},
	"retain":             {"IsRemark Quoted", "what a program writes around results holds no facts, in what a person said what was pasted is shortened first"},
	"workstate":          {"Background Element IsRemark Jobs ReminderContent SkillBase StandingList Typed", "the kinds of what the program says"},
}

func TestWhoAsksHere(t *testing.T) {
	const top = "../.."
	asked := map[string]map[string]bool{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(path), top+"/"))
		if d.IsDir() {
			if path != top && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || rel == "internal/harness" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		name := ""
		for _, imp := range tree.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); strings.HasSuffix(p, "/internal/harness") {
				name = "harness"
				if imp.Name != nil {
					name = imp.Name.Name
				}
			}
		}
		if name == "" {
			return nil
		}
		room := filepath.ToSlash(filepath.Dir(rel))
		if asked[room] == nil {
			asked[room] = map[string]bool{}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == name {
					asked[room][s.Sel.Name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, names := range asked {
		r, may := rooms[room]
		if !may {
			t.Errorf("%s asks internal/harness, and nothing says why", room)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(names)), " "); may && r.asks != "*" && got != r.asks {
			t.Errorf("%s asks for\n%s, not for\n%s: who said a text, precis.Speech says", room, got, r.asks)
		}
	}
	for room := range rooms {
		if asked[room] == nil {
			t.Errorf("%s asks nothing here any more", room)
		}
	}
}
