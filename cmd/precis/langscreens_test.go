package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/internal/texts"
)

// told are commands with output for people that must be in one language.
var told = []string{
	"inspect a.json", "inspect -v a.json", "condense --dry-run --window 8000 a.json", "condense --window 8000 a.json", "condense --window 8000 a.json", "condense -v --window 8000 -o v.precis a.json",
	"inspect -v a.precis", "search a.precis λόγος", "search --limit 1 a.precis λόγος", "search a.precis ψψψ", "pin a.precis m0", "show a.precis x9", "undo a.precis e9", "undo a.precis", "undo a.precis", "undo a.precis",
	"restore a.precis m4", "rewind --message m9 a.precis", "rewind --message m900 a.precis", "view --window 8000 a.json",
	"sessions --in .", "sessions stats --in .", "sessions tree --in .", "sessions check a.json", "sessions show nobody", "sessions show --in . @last", "sessions search --in . λόγος", "sessions search --in . ψψψ",
	"gate --summary s.txt a.json", "verify --summary s.txt a.json", "verify a.json", "experiments a.json", "experiments v.precis",
	"status a.json", "config", "models claude-sonnet-4-5", "models nobody", "stats hosts", "install --list", "repair v.precis",
	"inspect", "inspect --nothing", "nothing", "store purge", "config set nothing 1", "--set nothing=1 config", "condense --target 7 a.json", "ui --edit", "help nothing", "digest --tokens 5 a.json",
}

// names matches text that is the same in every language: user input and names.
var names = regexp.MustCompile(strings.Join([]string{
	`precis: `, `\bprecis (\w+ )*[\w@./-]+`, `--?[\w-]+(=\S+)?( FILE| [A-Z]+)?`, `\b[A-Z]{2,}\b`, `\bWORD\b`, `https?://\S+`, `\[[\w-]+\]`,
	`\b(?:catwalk anthropic/|Claude Code|Roo Code|Gemini CLI|Qwen Code|Model Context Protocol|VS Code)\b`, `\b[a-z]+ (?:--\S+|plugins enable precis)`, `claude-\S+`, `Cline \(command line\)`, `connection refused`, `\w+ run\.jsonl`,
	`\bonly \.\.\.`, `\bstats hosts\b`,
}, "|"))

// english are words of English that are none of French, and two words of it in a row.
var (
	english  = regexp.MustCompile(`(?i)\b(the|of|is|are|by|with|and|from|what|which|has|was|were|it|its|that|this|not|to|be|as|at|an|than|each|only)\b`)
	ofPeople = regexp.MustCompile(`\b[a-z]{2,}( [a-z]{2,})+\b`)
)

// writeGreek writes a recording without a word of English that does not fit its window.
func writeGreek(t *testing.T) {
	t.Helper()
	type object = map[string]any
	messages := []object{{"role": "user", "content": "λόγος πάντα ῥεῖ"}}
	for i := range 30 {
		id := "t" + string(rune('a'+i%26)) + string(rune('0'+i/26))
		messages = append(messages,
			object{"role": "assistant", "content": []object{{"type": "text", "text": "λόγος"}, {"type": "tool_use", "id": id, "name": "Read", "input": object{"file_path": "/λ/" + id}}}},
			object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": id, "content": strings.Repeat("λόγος "+id+" αβγ\n", 60)}}})
	}
	messages = append(messages, object{"role": "assistant", "content": "λόγος"}, object{"role": "user", "content": "αβγ"})
	data, err := json.Marshal(object{"model": "claude-sonnet-4-5", "title": "λόγος", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"a.json": data, "s.txt": []byte("λόγος πάντα")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// No command says anything of its own in English to a user of another language, and what it
// says fits a terminal of 80 columns, with letters of two columns as well.
func TestCommandsAreWholeInEachLanguage(t *testing.T) {
	langs := []string{"fr", "ja", "zh"}
	if testing.Short() {
		langs = langs[1:2]
	}
	for _, lang := range langs {
		t.Run(lang, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			t.Setenv("PATH", t.TempDir())
			writeGreek(t)
			for _, args := range told {
				whole(t, lang, args, toldIn(t, lang, args))
			}
		})
	}
}

// Help is in the language of the user, all of it.
func TestHelpIsInEachLanguage(t *testing.T) {
	for _, lang := range []string{"fr", "ja", "zh"} {
		for _, c := range helped() {
			args := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "precis")) + " --help"
			if c.Long != "" && !c.HasSubCommands() && !c.Runnable() {
				args = "help " + c.Name()
			}
			text := ""
			for line := range strings.SplitSeq(toldIn(t, lang, args), "\n") {
				text += beside(line) + "\n"
			}
			whole(t, lang, args, text)
		}
	}
}

// gap matches the space between a command and its description.
var gap = regexp.MustCompile(`(\S) {2,}(\S)`)

// beside returns a line of help without the part that is the same in every language: the example
// command.
func beside(line string) string {
	switch at := gap.FindStringIndex(line); {
	case !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t"), strings.HasPrefix(strings.TrimSpace(line), "-"):
		return line
	case at == nil:
		return ""
	default:
		return "·" + line[at[0]+1:]
	}
}

// helped are the commands and topics that have help.
func helped() []*cobra.Command {
	root := newCommandLine(console.Streams{}).root(nil)
	root.InitDefaultCompletionCmd("precis")
	return slices.DeleteFunc(all(root), func(c *cobra.Command) bool { return c.Hidden })
}

// sameParts are parts of help that are the same in every language.
var sameParts = []string{"#### Linux:", "#### macOS:"}

// speaks reports whether a part of a help text has prose: it is a paragraph, or a block with words
// after a gap or a "#".
func speaks(part string) bool {
	switch {
	case strings.TrimSpace(part) == "", slices.Contains(sameParts, part):
		return false
	case strings.HasPrefix(part, " "), strings.HasPrefix(part, "\t"):
		return gap.MatchString(part) || strings.Contains(part, "# ")
	}
	return true
}

// typed are what a translation keeps of a help text: flags, placeholders and variables,
// names with a sign in them, addresses, and numbers.
var typed = regexp.MustCompile(strings.Join([]string{
	`--[a-z][\w-]*`, `\B-[a-z]\b`, `\b[A-Z][A-Z_]*[A-Z]\b`, `X-[\w-]+`, `[@~/.]?\w*\w[./@~:_=-]+[\w/-]*[\w/]`, `[@.]\w+`, `[A-Z]?\w*\d\w*`,
}, "|"))

// prosaic are words that typed takes for names.
var prosaic = regexp.MustCompile(`^[a-z]+-[a-z]+$|^(OS|UI)$`)

// kept returns what a translation of a help text keeps, with the commands that it names.
func kept(root *cobra.Command, text string) []string {
	out := slices.DeleteFunc(typed.FindAllString(text, -1), prosaic.MatchString)
	for _, m := range regexp.MustCompile(`precis ([a-z]+)( [a-z-]+)?`).FindAllStringSubmatch(text, -1) {
		if c, rest, err := root.Find(strings.Fields(m[1] + m[2])); err == nil && len(rest) < 2 && c != root {
			out = append(out, c.CommandPath())
		}
	}
	return out
}

// Each part of the help of each command has a translation into every language, which keeps
// the commands, flags, placeholders and numbers of the English.
func TestEveryPartOfHelpIsInEveryLanguage(t *testing.T) {
	sentences, err := texts.AllSentences()
	if err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, c := range helped() {
		for _, part := range append(helpParts(c.Long), helpParts(c.Example)...) {
			if !speaks(part) {
				continue
			}
			parts++
			for _, lang := range texts.Languages()[1:] {
				translation := sentences[strings.ReplaceAll(part, "%", "%%")][lang]
				if translation == "" {
					t.Errorf("%s: %s: no translation of %q", c.CommandPath(), lang, part)
					continue
				}
				for _, word := range kept(c.Root(), part) {
					if !strings.Contains(translation, word) {
						t.Errorf("%s: %s: %q has no %s, which is in %q", c.CommandPath(), lang, translation, word, part)
					}
				}
			}
		}
	}
	if parts < 100 {
		t.Errorf("only %d parts of help were found", parts)
	}
}

func toldIn(t *testing.T, lang, args string) string {
	t.Helper()
	var out, notes strings.Builder
	to := term.Options{Terminal: true, Columns: 80}
	run(t.Context(), strings.Fields(args), console.Streams{In: strings.NewReader(""), Out: &out, Errs: &notes, OutTo: to, ErrsTo: to, Lang: lang})
	return ourColors.ReplaceAllString(out.String()+progress.ReplaceAllString(notes.String(), ""), "")
}

// whole checks that a text holds no English, and that it fits.
func whole(t *testing.T, lang, args, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, "level=") { // logs
			continue
		}
		if n := lipgloss.Width(line); n > 80 {
			t.Errorf("%s: %s: a line of %d columns: %s", lang, args, n, line)
		}
		if strings.Contains(line, "│") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") { // what the model reads
			continue
		}
		rest := names.ReplaceAllString(line, "·")
		found := english.FindString(rest)
		if found == "" && lang != "fr" {
			found = ofPeople.FindString(rest)
		}
		if found != "" {
			t.Errorf("%s: precis %s: %q in %q", lang, args, found, strings.TrimSpace(line))
		}
	}
}

// JSON is the same in every language, errors as well: programs read it.
func TestJSONIsInNoLanguage(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	writeGreek(t)
	for _, args := range []string{
		"inspect --json a.json", "search --json a.json λόγος", "verify --json --summary s.txt a.json", "config --json", "models --json claude-sonnet-4-5", "sessions check --json a.json",
		"undo --json a.json e9", "inspect --json missing.json", "--json inspect", "condense --json --target 7 a.json", "experiments --json a.json",
	} {
		want := toldIn(t, "en", args)
		for _, lang := range []string{"fr", "ja", "zh"} {
			if got := toldIn(t, lang, args); got != want {
				t.Errorf("%s: precis %s: %s, in English %s", lang, args, got, want)
			}
		}
	}
}
