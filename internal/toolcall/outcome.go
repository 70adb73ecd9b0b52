package toolcall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/visible"
)

// End is how a call ended.
type End string

// The ends of calls.
const (
	OK          End = "ok"
	Failed      End = "failed"
	Rejected    End = "rejected"    // by the user: it was not carried out
	Interrupted End = "interrupted" // before its end, or never begun, with an unknown result
	Unknown     End = "unknown"     // the result does not state it
)

// Outcome is how a call ended, with the evidence in its result.
type Outcome struct {
	End  End
	Code *int // the exit code that the result states; nil: none
	// of a failure: the result line that best describes it; of an interruption the line that states it; or ""
	Line string
	Why  string // of a failure with a Line that only names the test: the line with the cause; "" for none
	Said string // of a rejection: the user's words with it; "" for none
	// Claimed means that only the result's own text reports a rejection; any page or command could
	// contain such a text. The call then counts as failed, and no part of it as the user's words.
	Claimed bool
}

// Outcome determines how the call ended. Evidence in this order: a refusal by the user, see
// [harness.Refusal]; an explicit exit code; an error flag; words in the output. Exit code 1 of a
// search without a hit is not a failure. Words decide only for commands without an exit code or
// flag, or if a pipeline or list hides the codes of its parts; never for programs that print
// existing data, since a file may contain any word. If the program marks failed commands of this
// conversation, an unmarked command failed only if its words are unambiguous.
func (c *Call) Outcome() Outcome {
	if len(c.Results) == 0 {
		return Outcome{End: Interrupted}
	}
	text := strings.TrimSpace(visible.WithoutSequences(harness.WithoutHead(c.Text)))
	const longest = 500 // bytes of a result that consists of a refusal
	acts := (c.IsError || len(c.Text) < longest) && (c.Kind == Write || c.Kind == Command && !Prints(c.Line))
	switch said, is := harness.Refusal(harness.Result{Tool: c.Name, Text: c.Text, IsError: c.IsError,
		Refused: c.refused, Around: c.around, Acts: acts}); is {
	case harness.Proven:
		return Outcome{End: Rejected, Said: said}
	case harness.Claimed:
		return Outcome{End: Rejected, Claimed: true, Line: failureLine(text)}
	}
	if c.Kind == Command {
		return c.commandOutcome(text)
	}
	o := Outcome{End: OK, Code: c.code}
	if code, ok := exitCode(text); ok && c.patch { // Codex states a code and sets no flag
		o.Code = &code
	}
	said, failed := c.failure(text, o.Code)
	switch {
	case failed:
		o.End, o.Line = Failed, failureLine(said)
	case c.patch:
		text = strings.TrimSpace(c.Output())
		if halt, halted := stoppedBy(text, o.Code); halted {
			o.End, o.Line = Interrupted, halt
		} else if line, rank := worstLine(text); o.Code == nil && rank == surely {
			o.End, o.Line = Failed, line
		}
	}
	if failed && c.Kind == Other {
		o.explain(said, "")
	}
	return o
}

// failure returns the evidence of failure in the result of a call other than a command.
func (c *Call) failure(text string, code *int) (said string, failed bool) {
	if c.patch {
		text = strings.TrimSpace(c.Output())
	}
	switch {
	case c.IsError, code != nil && *code != 0, c.Kind == Write && isOfKind("unwritten", text),
		c.Kind == Other && isOfKind("uncalled", text), c.params != nil && isOfKind("untold", text):
		return text, true
	case c.Kind == Read:
		return "", false
	}
	said = errorField(text)
	return said, said != ""
}

// errorField returns the failure that a JSON result reports in its field "error", or next to an
// error flag, as OpenHands and many MCP servers do; "" without a failure.
func errorField(text string) string {
	const longest = 64 << 10 // bytes of a result that is not content
	raw := []byte(text[:min(len(text), longest+1)])
	if len(raw) > longest || jsonspan.Kind(raw) != '{' || jsonspan.Valid(raw) != nil {
		return ""
	}
	var failed, all ending
	for m, err := range jsonspan.Object(raw) {
		if err != nil {
			return ""
		}
		all.member(m.Name, m.Raw, 0)
		if is("ends", m.Name) {
			failed.member(m.Name, m.Raw, 0)
		}
	}
	if !failed.failed {
		return ""
	}
	return cmp.Or(failed.text(), all.text(), "failed")
}

func (c *Call) commandOutcome(text string) Outcome {
	o := Outcome{End: Unknown}
	if c.flagged && !strings.HasPrefix(text, carriedOut) {
		o.End = OK // its agent marks the results of calls that fail
	}
	first, programs := mainProgram(c.Line)
	words := !prints(first) || first == "sql:reads" && isOfKind("sql", text) ||
		is("fetches", first) && ownFailureLine(programs, text) != ""
	code, stated := exitCode(text)
	if !words {
		code, stated = codeOfProgram(text)
	}
	if o.Code = c.code; stated && c.code == nil {
		o.Code = &code
	}
	text = c.Output()
	if code, ok := printed(c.Line, text); ok && (o.Code == nil || *o.Code == 0) {
		o.Code = &code
	}
	said, hides := "", hidesCodes(c.Line)
	if words {
		said = verdictOf(c.Line, text)
	}
	halt, halted := stoppedBy(text, o.Code)
	switch {
	case o.Code != nil && *o.Code == 0:
		o.End = OK
		words = words && hides
	case o.Code != nil && *o.Code == 1 && len(text) < 120 && slices.ContainsFunc(programs,
		func(p string) bool { return is("finds", p) }):
		o.End = Unknown
		return o
	case halted:
		o.End, o.Line = Interrupted, halt
		return o
	case o.Code != nil || c.IsError:
		o.End, o.Line = Failed, failureLine(text)
		if said != "" && errorRank(o.Line) <= byTheWay {
			o.Line = said
		}
		o.explain(text, said)
		return o
	}
	if !words {
		return o
	}
	line, rank := worstLine(text)
	switch said = cmp.Or(said, ownFailureLine(programs, text)); {
	case rank < likely && said != "":
		line, rank = said, surely
	case rank == likely && (said != "" || brokenBuild(c.Line, line, text) || hides && endsByException(text)):
		rank = surely
	}
	switch {
	case rank == surely:
		o.End, o.Line = Failed, line
		o.explain(text, said)
	case rank == likely && (o.End == Unknown || !c.coded || hides):
		o.End, o.Line = Unknown, line
	}
	return o
}

// explain adds the cause of a failure from the output; said is the tool's verdict, or "".
func (o *Outcome) explain(text, said string) {
	o.Line, o.Why = withPlace(text, o.Line, reason(text, o.Line))
	switch {
	case o.Why == "" && said != o.Line && isOfKind("step", o.Line):
		o.Why = said
	case o.Why != "" && strings.HasSuffix(o.Line, "] ERROR task failed"):
		o.Line, o.Why = o.Why, ""
	}
}

// Output returns the text of the result without the escape sequences of terminals; of one that
// is a JSON object, the text of its output member.
func (c *Call) Output() string { return visible.WithoutSequences(c.output()) }

func (c *Call) output() string {
	if c.Name == geminiShell {
		return strings.TrimSpace(labels.ReplaceAllString(c.Text, "$1"))
	}
	if !strings.HasPrefix(c.Text, `{"`) {
		return c.Text
	}
	for _, name := range []string{"output", "stdout"} {
		if s, ok := jsonspan.String(jsonspan.Field([]byte(c.Text), name)); ok {
			return s
		}
	}
	return c.Text
}

// Unwrapped returns the output of a tool without the wrapping of its program: JSON as
// {"output":"…","metadata":{…}} or [{"query":"…","result":"…","success":true}], or lines before the
// output, see [harness.IsRemark]. Other texts are returned unchanged.
func Unwrapped(text string) string {
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && jsonspan.Valid([]byte(text)) == nil {
		if out, ok := printedIn([]byte(text), 0); ok {
			return out
		}
		return text
	}
	for rest := text; ; text = rest {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line = strings.TrimSpace(line); line == harness.ReminderOpen || !harness.IsRemark(line) {
			return text
		}
	}
}

// printedIn returns the output texts in a wrapping object, or in a list of such objects.
func printedIn(raw []byte, depth int) (string, bool) {
	const deepest = 3
	var out []string
	add := func(raw []byte) bool {
		s, ok := jsonspan.String(raw)
		if !ok && depth < deepest {
			s, ok = printedIn(raw, depth+1)
		}
		if s = strings.TrimRight(s, "\n"); s != "" {
			out = append(out, s)
		}
		return ok
	}
	found := false
	switch jsonspan.Kind(raw) {
	case '{':
		for m, err := range jsonspan.Object(raw) {
			switch {
			case err != nil, !is("printed", m.Name) && !is("envelope", m.Name),
				is("printed", m.Name) && !add(m.Raw):
				return "", false
			}
			found = found || is("printed", m.Name)
		}
	case '[':
		for e, err := range jsonspan.Array(raw) {
			if err != nil || jsonspan.Kind(e.Raw) != '{' || !add(e.Raw) {
				return "", false
			}
			found = true
		}
	}
	return strings.Join(out, "\n"), found
}

// geminiShell is the tool of Gemini CLI and Qwen Code that runs commands.
const geminiShell = "run_shell_command"

// labels match the labels of such a tool before the output, and for missing parts.
var labels = lazyregexp.New(`(?s)^(?:Command: .*?\n(?:Stdout|Output)|Output): (?:\(empty\))?|` +
	`(\n)Stderr: (?:\(empty\))?|\nError: \(none\)`)

// The exit codes of commands stopped by timeout, and of programs ended by a signal.
const byTimeout, byTerm, byKill = 124, 143, 137

// stoppedBy reports whether the first or last lines of a result say that the command was stopped
// before its end, and returns that line. code is the exit code in the result, nil for none. If a
// command ended with a code of its own, such a line is about something else.
func stoppedBy(text string, code *int) (line string, is bool) {
	if code != nil && *code != byTimeout && *code != byTerm && *code != byKill && *code >= 0 {
		return "", false
	}
	const reach, lines = 600, 4
	text = strings.TrimSpace(text)
	head := strings.SplitN(text[:min(len(text), reach)], "\n", lines)
	tail := strings.Split(text[max(0, len(text)-reach):], "\n")
	for _, l := range slices.Concat(head, tail[max(0, len(tail)-lines):]) {
		if l = strings.TrimSpace(l); isOfKind("stopped", l) {
			return l, true
		}
	}
	return "", code != nil && *code == byTimeout
}

// carriedOut is Cline's statement about any command, whatever its exit code.
const carriedOut = "Command executed."

// hidesCodes reports whether the exit code of a command line hides the codes of some of its parts.
func hidesCodes(line string) bool { return lex(line).hidesExitCode }

// Unclear reports whether a line of output reports a problem in a command with hidden exit codes,
// where exit code 0 does not mean success.
func Unclear(command, line string) bool { return isOfKind("opens", line) && hidesCodes(command) }

// run is one program in a command line.
type run struct {
	name  string   // of git, gh and others: a special name if it only prints existing data
	words []word   // words from the program on
	set   []string // variables that are set for it, with their values
}

// programsOf returns the programs of commands.
func programsOf(commands []command) (out []run) {
	const most = 50
	for _, c := range commands[:min(len(commands), most)] {
		r := run{words: c.program()}
		if len(r.words) == 0 {
			continue
		}
		for _, w := range c.words[:len(c.words)-len(r.words)] {
			if strings.Contains(w.text, "=") {
				r.set = append(r.set, w.text)
			}
		}
		if is("shell", base(r.words[0].text)) { // a script in a file
			if script := innerCommand(r.words); len(script) > 0 {
				r.words = script
			}
		}
		r.name = base(r.words[0].text)
		if inner := wordsRunElsewhere(r.name, r.words); len(inner) > 0 && prints(base(inner[0].text)) {
			r.name = "remote:reads"
		} else {
			r.name = cmp.Or(readerName(r.name, r.words, c.fed), r.name)
		}
		out = append(out, r)
	}
	return out
}

// mainProgram returns the name of the first program of a command line, preparations aside, and the
// names of all its programs.
func mainProgram(line string) (first string, all []string) {
	for _, r := range programsOf(lex(line).commands) {
		all = append(all, r.name)
		if first == "" && !is("stages", r.name) {
			first = r.name
		}
	}
	return first, all
}

// failureLine returns the line of a failed call's result that best describes the failure; the first
// one if no line does.
func failureLine(text string) string {
	if line, rank := worstLine(text); rank > byTheWay {
		return line
	}
	if line := cmp.Or(lineOf("uncommitted", text), lineOf("eval", text)); line != "" {
		return line
	}
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l != "" && !StatesCode(l) && !strings.HasPrefix(l, "<") && !isOfKind("progress", l) {
			return l
		}
	}
	return ""
}

// NothingToCommit reports whether git's output says that there was no change to commit; the state
// of the work tree comes before that line.
func NothingToCommit(output string) bool { return lineOf("uncommitted", output) != "" }

// lineOf returns the first line of a text that is of a kind; "" for none.
func lineOf(kind, text string) string {
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(overwritten(l)); isOfKind(kind, l) {
			return l
		}
	}
	return ""
}

// worstLine returns the first line of output that reports a failure with the most certainty, and
// its rank.
func worstLine(text string) (line string, best int) {
	const long = 5          // lines of a message
	message, since := "", 0 // of PowerShell: "Remove-Item : A parameter ..." and the lines after it
	for l := range strings.Lines(text) {
		l = overwritten(l)
		if rank := errorRank(l); rank > best {
			best, line = rank, strings.TrimSpace(l)
		}
		if message != "" && since < long && isOfKind("PowerShell", l) {
			best, line = surely, message
		}
		if best == surely {
			break
		}
		if since++; strings.Contains(l, " : ") {
			message, since = strings.TrimSpace(l), 0
		}
	}
	return line, best
}

// overwritten returns the final state of a line on a terminal: the text after its last carriage
// return.
func overwritten(l string) string {
	l = strings.TrimRight(l, "\r\n")
	return l[strings.LastIndexByte(l, '\r')+1:]
}

// Ranks of lines of output: how certainly a line reports a failure, and how specific it is.
const (
	byTheWay = 1 + iota
	likely
	surely
)

// brokenBuild reports whether a line reports broken code, even if a pipe hid the exit code.
func brokenBuild(command, line, text string) bool {
	if isOfKind("diagnostic", line) && !isOfKind("warns", line) && runsA("complainer", command) {
		return true
	}
	return (isOfKind("placed", line) || isOfKind("row", line)) &&
		!isOfKind("passed", text[max(0, len(text)-lastBytes):]) && runsA("checker", command)
}

// runsA reports whether a command line runs a program of a kind, judged by programs and their
// subcommands, not by folders and files in the line.
func runsA(kind, line string) bool {
	return slices.ContainsFunc(programsOf(lex(line).commands), func(r run) bool {
		return !is("stages", r.name) && isOfKind(kind, kindOf(unwrapped(r.words)))
	})
}

// errorRank returns how certainly a line of output reports a failure; 0 if it does not.
func errorRank(l string) int {
	t := strings.TrimLeft(strings.TrimSpace(l[:min(len(l), 400)]), "│╷ ") // Terraform draws a frame
	switch {
	case t == "", len(t) < 60 && StatesCode(t):
		return 0
	case isOfKind("surely", t), isOfKind("shell", t) && !isOfKind("notice", t):
		return surely
	case isOfKind("likely", t), isOfKind("diagnostic", t),
		strings.Contains(t, "error") && (isOfKind("placed", t) || isOfKind("row", t)):
		return likely
	case isOfKind("hint", t) && !isOfKind("none", t):
		return byTheWay
	}
	return 0
}
