package prose

import "testing"

func TestKindsOfSentences(t *testing.T) {
	for _, s := range []string{
		"Let me look at the tests.", "Now let me update the callers.", "I'll run the suite.", "OK, let's check the parser.", "Great! Now I need to read the file.",
		"Je vais lire le fichier.", "Ich werde die Tests starten.", "让我看看测试。", "まずテストを読みます。", "Сейчас посмотрим тесты.", "Déjame ver las pruebas.",
	} {
		if !Narrates(s) {
			t.Errorf("%q is not taken for what is done next", s)
		}
	}
	for _, s := range []string{
		"The timeout is 45 s because the proxy is slow.", "I'll keep it simple because every caller is trusted.", "Letters are folded first.", "Nothing has been pushed.", "The cause is a missing lock.", "",
	} {
		if Narrates(s) {
			t.Errorf("%q is taken for what is done next", s)
		}
	}
	for _, s := range []string{"The root cause is the cache.", "It fails when the list is empty.", "Next step: write the migration.", "修复完成。", "原因はキャッシュです。", "La cause est le cache.", "Плутает: ошибка в кэше.", "Je garde plutôt la carte."} {
		if !Concludes(s) {
			t.Errorf("%q concludes nothing", s)
		}
	}
	for s, want := range map[string]bool{"The root cause is the cache.": true, "I decided to parse the table once.": true, "原因はキャッシュです。": true, "It fails when the list is empty.": false} {
		if Decides(s) != want {
			t.Errorf("%q states a cause or a decision: %v", s, !want)
		}
	}
}

func TestWhatIsLeftOpen(t *testing.T) {
	for s, want := range map[string]bool{
		"2. Update the callers": true, "- **Fix** the parser": true, "- fix the parser": true, "The retry is missing.": true, "It doesn't handle nil.": true, "Now fixing the lock.": true, "Das muss weg.": true, "Wir müssen warten.": true,
		"需要更新": true, "Fixed the parser.": false, "The parser reads it.": false, "A fix was made.": false, "Updates are read.": false, "": false,
	} {
		if LeavesOpen(s) != want {
			t.Errorf("%q leaves something open: %v", s, !want)
		}
	}
	for s, want := range map[string]string{
		"So the tests still fail, as before.": "tests still fail", "A failing test is left.": "failing test", "The error is in the parser.": "", "The tests pass.": "", "Die Tests schlagen fehl.": "Tests schlagen fehl", "Les tests ont échoué.": "tests ont échoué", "测试失败": "测试失败",
		"las pruebas fallan": "pruebas fallan",
	} {
		got := ""
		if at := FailedChecks(s); at != nil {
			got = s[at[0]:at[1]]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestGist(t *testing.T) {
	for report, want := range map[string]string{
		"Perfect! Now I have all the information I need. Let me create a summary:\n## Flow\nThe handler runs twice.": "The handler runs twice.",
		"## Summary\n\nI've searched the whole tree. Here are my findings:\n\nNo test covers it.":                    "No test covers it.",
		"The handler runs twice.":                "The handler runs twice.",
		"## Summary":                             "## Summary",
		"":                                       "",
		"Let me look at it.":                     "Let me look at it.",
		"Here is the plan:\n1. first\n2. second": "1. first\n2. second",
	} {
		if got := Gist(report); got != want {
			t.Errorf("%q: %q, want %q", report, got, want)
		}
	}
}

func TestIsCode(t *testing.T) {
	for _, s := range []string{
		"contextInfo.priority = Math.max(contextInfo.priority, matchScore);", "if (!this.initialized) {", "reason: 'Error during conflict analysis, please review manually.',",
		"// Track when statements were added", "return commonWords.length / total;", "</content>", "<write_to_file>", "}", "});", "timestamp: Date.now(), // Track when", "{ patterns: [['true', 'false']], weight: 0.8 },",
		"[Response interrupted by a tool use result.]", "const unitsMatch = a.unit === b.unit;", "const add = (a, b) => a + b", "def total(self):", "specificity: 0.5, // Medium specificity",
	} {
		if !IsCode(s) {
			t.Errorf("%q is not taken for code", s)
		}
	}
	for _, s := range []string{
		"The failure is in computeCartRounding, which rounds twice.", "1. **Option A**: keep `parse(x);`, which is slow;", "- `NewCheckpointID(s)` - Returns error for invalid IDs (use for untrusted input)",
		"For the parser, which is slow (see m4), there are two ways:", "Return to the old plan: it was right.", "Import order matters; the cache must come first.", "- [ ] write the migration", "Next: write the migration.",
		"If this fails, then revert it.", "Let it be: nothing has been pushed.", "Cause: `lexer.go:12`, which folds letters", "A < B for all carts, because A > 0 never holds.", "[docs](docs/a.md) says so.", "while reading it I found the bug:", "测试通过；",
	} {
		if IsCode(s) {
			t.Errorf("%q is taken for code", s)
		}
	}
}
