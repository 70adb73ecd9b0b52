package harness

import (
	"slices"
	"strings"
	"testing"

	"github.com/precis-dev/precis/internal/table"
	"github.com/precis-dev/precis/internal/table/tabletest"
)

// What each word of marks.txt says of a text.
var isMark = map[string]func(text string) bool{
	"section":     func(text string) bool { return ProgramEnd(text) > 0 && IsProgramText(text) },
	"hands":       func(text string) bool { return !IsProgramText(text + handedOn) },
	"sentence":    IsProgramText,
	"user":        WrapsUser,
	"summary":     IsSummary,
	"observation": IsObservation,
	"loaded":      SaysToolsLoaded,
	"job":         func(text string) bool { l, ok := StandingList(text); return ok && l.Rank == Jobs },
	"passing":     IsTransient,
	"list":        isStanding,
	"path":        isStanding,
	"file":        func(text string) bool { return !isStanding(strings.Replace(text, ".md", ".go", 1)) },
	"delta":       func(text string) bool { l, _ := StandingList(text); return l.Key[0] == '=' },
	"loads":       func(text string) bool { l, _ := StandingList(text); return l.Rank == Skills },
	"expands":     ExpandsCommand,
	"reminder":    func(text string) bool { return ProgramOf(text) == Reminders },
	"wrapper":     func(text string) bool { return ProgramOf(text) == Wrappers },
	"codex":       func(text string) bool { return ProgramOf(text) == Codex },
}

const handedOn = "\nNew instructions for task continuation:\n<feedback>\nDig.\n</feedback>"

func isStanding(text string) bool {
	_, ok := StandingList(text)
	return ok
}

func TestMarks(t *testing.T) {
	tabletest.Examples(t, marksTable(), func(row table.Row, text string) bool {
		return !slices.ContainsFunc(row.Words("is"), func(word string) bool { return !isMark[word](text) })
	})
}

func TestTools(t *testing.T) {
	tabletest.Examples(t, tools(), func(row table.Row, result string) bool {
		from, to := Answer(Result{Tool: row.Get("tool"), Text: result, Around: Wrappers})
		is := row.Words("is")
		asks := IsTool(row.Get("tool"), "answers", "asks")
		return (result[from:to] == "Dig.") == (len(is) > 0) && asks == (len(is) > 0 && is[0] != "own")
	})
}

func TestElements(t *testing.T) {
	tabletest.Examples(t, elements(), func(row table.Row, text string) bool {
		if row.Get("holds") == "words" {
			return !IsProgramText(text)
		}
		typed := Typed(text)
		return len(typed) == 1 && typed[0] == "Dig. "
	})
}

func TestCommandsOfPrograms(t *testing.T) {
	tabletest.Examples(t, commands(), func(row table.Row, text string) bool {
		is := row.Words("is")
		return IsProgramText("<command-name>"+text+"</command-name>") == slices.Contains(is, "recorded") &&
			IsLocalCommand(text) == slices.Contains(is, "typed")
	})
}

func TestMailHeaders(t *testing.T) {
	tabletest.Examples(t, mailHeaders(), func(row table.Row, line string) bool {
		return headerOf(line) == row.Get("name")
	})
	for _, line := range []string{"From:", "From the sea: a", "Into: a"} {
		if got := headerOf(line); got != "" {
			t.Errorf("%q is the header %q", line, got)
		}
	}
}

func TestRefusals(t *testing.T) {
	tabletest.Examples(t, refusals(), func(row table.Row, text string) bool {
		text = strings.ReplaceAll(text, `\n`, "\n")
		said, is := Refusal(Result{Tool: "write_to_file", Text: text, IsError: true, Around: Program(row.Get("by"))})
		return is == Proven && (said == "Dig.") == strings.Contains(text, "Dig.")
	})
}

func TestLeads(t *testing.T) {
	tabletest.Examples(t, leadsTable(), func(_ table.Row, line string) bool {
		return IsIntroduced(line + "\n<feedback>\nDig.\n</feedback>")
	})
}
