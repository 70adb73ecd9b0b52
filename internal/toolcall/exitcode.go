package toolcall

import (
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
)

// exits match the explicit exit codes of results.
var exits = lazyregexp.New(`(?i)(?:\bexit(?:ed with)? code:?|\bexit_code"?:?|\bexit status|<returncode>|\breturn code:?)\s*\(?(-?\d{1,6})\b`)

// exitCode returns the exit code that a result states at its beginning or end.
func exitCode(text string) (int, bool) {
	for _, part := range slices.Backward(endsOf(text)) {
		if !namesCode(part) {
			continue
		}
		if found := exits.FindAllStringSubmatchIndex(part, -1); len(found) > 0 {
			last := found[len(found)-1]
			code, err := strconv.Atoi(part[last[2]:last[3]])
			return code, err == nil
		}
	}
	return 0, false
}

// StatesCode reports whether a line states an exit code.
func StatesCode(line string) bool { return namesCode(line) && exits.MatchString(line) }

// namesCode is a fast test for a word that every exit code statement contains; exits is slow.
func namesCode(text string) bool { return containsFold(text, "exit") || containsFold(text, "code") }

// containsFold reports whether a text contains a word, in any case.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// codeOfProgram returns the exit code of a command that prints existing data, which may contain any
// code: it must be on a line of its own at the beginning or the end, or be a field of JSON.
func codeOfProgram(text string) (int, bool) {
	const longest = 80 // bytes of a line
	code, ok := exitCode(text)
	if !ok || strings.HasPrefix(text, `{"`) {
		return code, ok
	}
	var own []string
	for l := range strings.Lines(strings.Join(endsOf(text), "\n")) {
		if l = strings.TrimRight(l, "\n"); len(l) <= longest && isOfKind("code", l) && StatesCode(l) {
			own = append(own, l)
		}
	}
	return exitCode(strings.Join(own, "\n"))
}

// endsOf returns the first and last lines of a result, where programs state exit codes.
func endsOf(text string) []string {
	const end = 300
	if len(text) <= 2*end {
		return []string{text}
	}
	return []string{text[:end], text[len(text)-end:]}
}

// ownCode matches the end of an output where a command prints the exit code of the command before
// it, ignoring lines of the tool after it.
var ownCode = lazyregexp.New(`(?:^|\n)[ \t]*(?:[A-Za-z_ -]{0,24}[:= ]\s*)?(\d{1,3})\s*(?:\n\s*[\[<][^\n]*)*\s*$`)

// printed returns the exit code that a line prints at its end, as "make; echo $?" does.
func printed(line, output string) (int, bool) {
	const reach = 400 // bytes from the end
	commands := lex(line).commands
	if len(commands) < 2 {
		return 0, false
	}
	last := commands[len(commands)-1].words
	says := func(w word) bool {
		return strings.Contains(w.text, "$?") || strings.Contains(w.text, "$status") ||
			strings.EqualFold(w.text, "$LASTEXITCODE")
	}
	m := ownCode.FindStringSubmatch(output[max(0, len(output)-reach):])
	if m == nil || !is("echoes", strings.ToLower(last[0].text)) || !slices.ContainsFunc(last, says) {
		return 0, false
	}
	code, err := strconv.Atoi(m[1])
	return code, err == nil
}
