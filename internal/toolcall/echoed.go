package toolcall

import (
	"path"
	"strings"

	"precis/internal/lazyregexp"
)

// echo is how task runners print a command that they run: mise and yarn ("[test] $ go test ./..."), npm ("> jest"), go-task
// ("task: [test] go test ./..."), tox ("py312: commands[0]> pytest") and nox ("nox > pytest").
var echo = lazyregexp.New(`^(?:(?:\[[\w:./-]+\] )?\$ |(?:nox )?> |task: \[[^\]]+\] |[\w.-]+: commands\[\d+\]> (?:[^\s>]*> )?)(.+)$`)

// IsEcho reports whether a line of output may be a command as a task runner prints it before it runs it, behind a sign, or the line
// before that.
func IsEcho(line string) bool { return echo.MatchString(line) }

// Bounds of what is read of a call's output for the commands that it ran.
const (
	mostEchoLines = 40
	mostEchoBytes = 8 << 10
)

// echoed returns the commands that a task runner says it ran, in order; nil for none.
func (c *Call) echoed() (out []string) {
	if c.Kind != Command {
		return nil
	}
	_, all := mainProgram(c.Line)
	runs, bare := false, false
	for _, p := range all {
		runs, bare = runs || is("tasks", p), bare || is("bare", p)
	}
	if !runs {
		return nil
	}
	text, n := c.Output(), 0
	for line := range strings.Lines(text[:min(len(text), mostEchoBytes)]) {
		if n++; n > mostEchoLines {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		if m := echo.FindStringSubmatch(line); m != nil && !says("npm", line) {
			out = append(out, m[1])
		} else if program, _, _ := strings.Cut(line, " "); bare && is("checks", program) {
			out = append(out, line)
		}
	}
	return out
}

// Echoed returns what the commands are for that a task runner in a command says it ran, in order: jest, of "npm test" that prints
// "> jest". Where the command failed, the last one did. It is nil for other commands.
func (c *Call) Echoed() (out []Purpose) {
	for _, line := range c.echoed() {
		for _, p := range Purposes(line) {
			p.folder = path.Join(folderOf(lexScript(c.Line).commands), p.folder)
			out = append(out, p)
		}
	}
	return out
}

// Ran returns what a command ran: the purposes of its line, see [Purposes], and behind them those of [Call.Echoed].
func (c *Call) Ran() []Purpose { return append(Purposes(c.Line), c.Echoed()...) }
