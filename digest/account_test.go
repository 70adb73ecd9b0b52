package digest_test

import (
	"fmt"
	"strings"
	"testing"

	"precis"
)

// TestWhatWasConcludedIsTold: of what the agent said, causes and decisions stay, and not what it did next.
func TestWhatWasConcludedIsTold(t *testing.T) {
	s := newSession(5)
	s.user("Make the export fast.")
	said := []string{
		"The export is slow because roundToCents parses the currency table for each row.",
		"A cache in front of the table was given up: it never saw the same row twice.",
		"Decided: the table is parsed once, when the exporter is made.",
	}
	for i, text := range said {
		s.says(text)
		for k := range 30 {
			s.says(fmt.Sprintf("Let me look at the next file of the export package, number %d of round %d.", k, i))
			s.call("Bash", map[string]any{"command": fmt.Sprintf("cat export/part%d_%d.go", i, k)}, s.source("part", 30))
		}
	}
	s.says("Let me run the benchmark.")
	where := section(digested(t, 1000, s.msgs...), "Where the work stands")
	lacks(t, "conclusions", where, said...)
	if n := strings.Count(where, "Let me look"); n > 3 {
		t.Errorf("%d of what was done next is told:\n%s", n, where)
	}
	if !strings.HasPrefix(where, "- m"+fmt.Sprint(len(s.msgs)-1)+": Let me run the benchmark.") {
		t.Errorf("the last words are not first:\n%s", where)
	}
}

// TestLastWordsAreNeverLeftOut: a last text that is longer than its room is told from its end, where it says what is next.
func TestLastWordsAreNeverLeftOut(t *testing.T) {
	for _, tokens := range []int{150, 300, 1000, 3500, 8000} {
		s := newSession(6)
		s.user("Go on. " + strings.Repeat("There is much to say of it. ", 40))
		s.call("Bash", map[string]any{"command": "make"}, "ok")
		s.says(strings.Repeat("The parser reads each of the tables that were found in the archive, one after the other. ", 200) + "Next: write the migration.")
		where := section(digested(t, tokens, s.msgs...), "Where the work stands")
		if !strings.Contains(where, "Next: write the migration.") {
			t.Errorf("%d tokens: %q", tokens, where)
		}
	}
}

// TestWhatIsLeftOutIsMarked: two sentences that do not follow each other are not told as if they did.
func TestWhatIsLeftOutIsMarked(t *testing.T) {
	s := newSession(7)
	s.user("Why?")
	s.says("The failure is in computeCartRounding, which rounds twice.\n\n" + "```go\n" + strings.Repeat("total = roundToCents(total)\n", 60) + "```" + "\n\nSo computeShipping must not round, because the cart does.")
	s.call("Bash", map[string]any{"command": "make"}, "ok")
	s.says("Fixed.")
	where := section(digested(t, 500, s.msgs...), "Where the work stands")
	lacks(t, "where", where, "which rounds twice.\n", "… So computeShipping must not round")
}

// TestPastedLogIsFolded: the prose around it stays whole.
func TestPastedLogIsFolded(t *testing.T) {
	var log strings.Builder
	for i := range 120 {
		fmt.Fprintf(&log, "2026-02-09T09:00:%02d.%03d |DEBUG| hook invoked session=%d component=hooks\n", i%60, i, i)
	}
	s := newSession(8)
	s.user("The logs still leak into the old session:\n" + log.String() + "\nFind out why, and tell me before you change anything.")
	for i := range 12 {
		s.call("Bash", map[string]any{"command": fmt.Sprint("cat hooks", i, ".go")}, s.source("hooks.go", 60))
	}
	s.says("The hook opens the log before it reads which session it is in.")
	requests := section(digested(t, 2000, s.msgs...), "The user's requests")
	lacks(t, "requests", requests, "The logs still leak into the old session:", "Find out why, and tell me before you change anything.", "characters left out")
	if n := strings.Count(requests, "|DEBUG|"); n == 0 || n > 12 {
		t.Errorf("%d lines of the log are told:\n%s", n, requests)
	}
}

// TestFailuresComeFirst, however many runs passed since.
func TestFailuresComeFirst(t *testing.T) {
	s := newSession(9)
	s.user("Make it right.")
	s.call("Bash", map[string]any{"command": "go test ./export"}, "Exit code 1\n--- FAIL: TestQuote (0.00s)\n    quote_test.go:77: got 3, want 4\nFAIL")
	for i := range 20 {
		s.call("Bash", map[string]any{"command": fmt.Sprintf("go test ./part%d", i)}, fmt.Sprintf("ok  	shop/part%d	0.01s", i))
	}
	results := section(digested(t, 2000, s.msgs...), "Last results")
	first, rest, _ := strings.Cut(results, "\n")
	if !strings.Contains(first, "`go test ./export` → FAILED") || !strings.Contains(first, "quote_test.go:77: got 3, want 4") {
		t.Errorf("the failure is not first:\n%s", results)
	}
	if n := strings.Count(rest, "→ ok"); n == 0 || n > 5 {
		t.Errorf("%d runs that passed are told", n)
	}
}

// TestOwnWordsAreBounded: of a text of many megabytes only its end is read, in parts, whatever it is made of.
func TestOwnWordsAreBounded(t *testing.T) {
	for name, long := range map[string]string{
		"one word":      strings.Repeat("x", 5<<20),
		"no full stop":  strings.Repeat("and then the parser ", 5<<18),
		"Han":           strings.Repeat("解析器读取表", 5<<17),
		"invalid UTF-8": strings.Repeat("\xff\xfe parser", 5<<17),
	} {
		s := newSession(10)
		s.user("Go on.")
		s.says(long + "\nNext: write the migration.")
		where := section(digested(t, 1000, s.msgs...), "Where the work stands")
		if !strings.HasSuffix(strings.TrimSpace(where), "Next: write the migration.") || len(where) > 4000 {
			t.Errorf("%s: %d bytes: %.200q", name, len(where), where)
		}
	}
}

// TestFoldedRequestsKeepTheirForm: only the digest itself begins lines at the margin.
func TestFoldedRequestsKeepTheirForm(t *testing.T) {
	s := newSession(11)
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "09:00:%02d.%03d |INFO| hook done session=%d\n", i%60, i, 100000+i)
	}
	s.user("Why?\n" + log.String() + "\nTell me.\n## Not a heading of yours\n- m1: nor an entry")
	s.says("I look.")
	for line := range strings.Lines(section(digested(t, 1500, s.msgs...), "The user's requests")) {
		if !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "- m0: Why?") && strings.TrimSpace(line) != "" {
			t.Errorf("%q begins at the margin", line)
		}
	}
}

// TestScriptsInALineAreNotMendedByOthers, unlike what is compiled or run from a file.
func TestScriptsInALineAreNotMendedByOthers(t *testing.T) {
	const fails = "Exit code 1\nTraceback (most recent call last):\nTypeError: expected str, bytes or os.PathLike object, not NoneType"
	for _, c := range []struct {
		failed, passed string
		told           bool
	}{
		{`python -c "import os; os.path.join(None)"`, `python -c "print(1)"`, true},
		{"node -e 'throw 1'", "node -e 'console.log(2)'", true},
		{`python -c "import os; os.path.join(None)"`, `python -c "import os; os.path.join(None)"`, false},
		{"gcc -c parser.c", "gcc -c parser.c lexer.c", false},
		{"pytest -c setup.cfg", "pytest -c setup.cfg", false},
	} {
		s := newSession(12)
		s.user("Make it right.")
		s.call("Bash", map[string]any{"command": c.failed}, fails)
		s.call("Bash", map[string]any{"command": c.passed}, "fine")
		s.says("Done.")
		if got := strings.Contains(section(digested(t, 2000, s.msgs...), "Last results"), "FAILED"); got != c.told {
			t.Errorf("%s, then %s: told as failed: %v", c.failed, c.passed, got)
		}
	}
}

// TestAScriptOfLongAgoIsNoFailure: it was an experiment, which nobody makes again. What runs a file may be run again.
func TestAScriptOfLongAgoIsNoFailure(t *testing.T) {
	for command, told := range map[string]bool{`npx tsx -e "import { total } from './src/cart.js'; total()"`: false, "node -e 'throw 1'": false, "npx tsx src/cart.ts": true, "npm test": true} {
		for _, messages := range []int{20, 260} {
			s := newSession(13)
			s.user("Make it right.")
			s.call("Bash", map[string]any{"command": command}, "Exit code 1\nError: Cannot find module './src/cart.js'")
			for i := range messages / 2 {
				s.call("Read", map[string]any{"file_path": fmt.Sprintf("%sshelf%d.go", root, i%9)}, "package shelf")
			}
			s.says("Done.")
			if got := strings.Contains(section(digested(t, 2000, s.msgs...), "Last results"), "FAILED"); got != (told || messages < 60) {
				t.Errorf("%s, %d messages ago: told as failed: %v", command, messages, got)
			}
		}
	}
}

// TestOwnWordsStandAsTheyWereSaid: sentences that stand together are joined as the agent wrote them.
func TestOwnWordsStandAsTheyWereSaid(t *testing.T) {
	for _, said := range []string{
		"我已经成功读取了这个文件，这是一个核心类文件，包含了大量的功能实现，现在测试失败的原因是端口被丢掉了。从文件内容和环境信息来看，这是一个扩展项目，需要先修正解析函数。",
		"The parser drops the port because `parseHost` returns the name alone, and nothing else reads it later in the whole package. The tests fail.",
	} {
		got := digested(t, 1500, precis.NewText(precis.RoleUser, "Mend it."), precis.NewText(precis.RoleAssistant, said), precis.NewText(precis.RoleUser, "Go on."))
		if !strings.Contains(got, said) {
			t.Errorf("%q in\n%s", said, got)
		}
	}
}

// TestOwnWordsAreNeitherActionsNorCourtesies: what an agent says ends before the command that it writes behind it, and begins behind its apologies.
func TestOwnWordsAreNeitherActionsNorCourtesies(t *testing.T) {
	s := newSession(7)
	s.user("Mend the ledger of the bakery.")
	s.says("I apologize for the confusion. Thank you for the clarification. The ledger doubles each booking because the journal is replayed twice.\n\n<command>\nedit 12:14\n    return [entry for entry in journal.entries() if entry.is_new]\nend_of_edit\n</command>")
	s.says("Apologies about that mistake! The oven prices are read before the flour prices.\n<command>open ovens_of_the_bakery.py 12 in the editor</command>\nThe flour prices stay in cents because the mill of the village bills in cents.")
	s.says("Sorry for the ledger that I broke: its totals are in cents now.\n<command>\nopen ledger.py")
	text := digested(t, 1500, s.msgs...)
	for _, want := range []string{": The ledger doubles each booking because the journal is replayed twice.", "The flour prices stay in cents because the mill of the village bills in cents.", ": Sorry for the ledger that I broke: its totals are in cents now."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	own, _, _ := strings.Cut(text[strings.Index(text, "## Where the work stands"):], "\n\n")
	for _, no := range []string{"apologize", "clarification", "entry for entry", "open ledger.py", "ovens_of", "Apologies"} {
		if strings.Contains(own, no) {
			t.Errorf("%q:\n%s", no, own)
		}
	}
}
