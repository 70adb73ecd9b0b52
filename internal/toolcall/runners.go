package toolcall

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/table"
)

//go:embed runners.txt
var runnersText string

// runners are the programs that run another one.
var runners = table.Lazy("runners.txt", runnersText, "program", "verbs", "arguments")

// unwrapped returns the words of a command without programs that only run another one: "pytest -q"
// of "uv run pytest -q" and of "python -m pytest -q", "./dig.sh" of "bash dig.sh".
func unwrapped(words []word) []word {
	const deepest = 4
	for range deepest {
		inner := innerCommand(words)
		if len(inner) == 0 {
			break
		}
		words = inner
	}
	return words
}

// innerCommand returns the words of the program that a command runs; nil when it runs none.
func innerCommand(words []word) []word {
	name, rest := base(words[0].text), words[1:]
	runner, runs := runners().Find(name)
	switch {
	case is("prefix", name):
		return afterFlags(rest, name)
	case runsModule(words) && is("module", rest[1].text) && !strings.Contains(name, "."):
		return rest[1:]
	case is("packages", name) && name != "npm" && len(rest) > 0 && is("package", rest[0].text):
		return rest
	case is("shell", name):
		for len(rest) > 0 && len(rest[0].text) > 1 && rest[0].text[0] == '-' &&
			strings.Trim(rest[0].text[1:], "xeuvl") == "" {
			rest = rest[1:]
		}
		if len(rest) > 0 && !strings.HasPrefix(rest[0].text, "-") &&
			!strings.ContainsAny(rest[0].text, " \n") {
			return rest
		}
		return nil
	case !runs, len(rest) == 0:
		return nil
	case runner.Get("verbs") != "":
		if !slices.Contains(runner.Words("verbs"), rest[0].text) {
			return nil
		}
		rest = rest[min(len(rest), 1+len(runner.Words("arguments"))):]
	}
	return afterFlags(rest, name)
}

// programName returns the name for comparing runs of a program: without the folder for an installed
// program, with it for a script.
func programName(p string) string {
	name := base(p)
	if as := ofProgram(name, "as"); len(as) > 0 {
		return as[0]
	}
	switch folder := path.Dir(path.Clean(p)); {
	case folder == ".", path.Base(folder) == "bin", path.Base(folder) == ".bin":
		return name
	}
	return path.Clean(p)
}

// narrows reports whether a flag selects a part of a program's work, and takes a value.
func narrows(program, flag string) (narrow, valued bool) {
	if is("filter", flag) || slices.Contains(ofProgram(program, "narrows"), flag) {
		return true, true
	}
	return slices.Contains(ofProgram(program, "alone"), flag), false
}
