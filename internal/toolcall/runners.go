package toolcall

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"precis/internal/table"
)

//go:embed runners.txt
var runnersText string

// runners are the programs that run another one.
var runners = table.Lazy("runners.txt", runnersText, "program", "verbs", "arguments")

// runnerValues are the flags of runners that a word follows.
var runnerValues = wordSet("-p --package --with --python --project --directory --group --extra --env-file -n --name -e")

// scripted are programs that run the scripts of a package, with or without "run".
var scripted = wordSet("npm pnpm yarn bun")

// packageTools are programs of packages that yarn, pnpm and bun run by their names.
var packageTools = wordSet("eslint tsc jest vitest mocha prettier playwright cypress webpack vite next biome stylelint turbo nx ts-node tsx")

// modules are programs that Python runs as well as modules.
var modules = wordSet("pytest pip mypy ruff black flake8 pylint isort tox nox coverage pre_commit twine poetry")

// otherNames are names under which a program goes, too.
var otherNames = map[string]string{"gradlew": "gradle", "mvnw": "mvn", "python3": "python", "pip3": "pip", "nodejs": "node", "py.test": "pytest", "gmake": "make"}

// shells run scripts in files.
var shells = wordSet("bash sh zsh dash ksh")

// unwrapped returns the words of a command without the programs that only run another one: "pytest -q" of "uv run pytest -q" and of
// "python -m pytest -q", "./dig.sh" of "bash dig.sh".
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
	case prefixes[name]:
		return behindWords(rest)
	case strings.HasPrefix(name, "python") && len(rest) > 1 && rest[0].text == "-m" && modules[rest[1].text] && !strings.Contains(name, "."):
		return rest[1:]
	case scripted[name] && name != "npm" && len(rest) > 0 && packageTools[rest[0].text]:
		return rest
	case shells[name]:
		for len(rest) > 0 && len(rest[0].text) > 1 && rest[0].text[0] == '-' && strings.Trim(rest[0].text[1:], "xeuvl") == "" {
			rest = rest[1:]
		}
		if len(rest) > 0 && !rest[0].redirect && !strings.HasPrefix(rest[0].text, "-") && !strings.ContainsAny(rest[0].text, " \n") {
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
	for len(rest) > 0 {
		switch w := rest[0].text; {
		case w == "--":
			return rest[1:]
		case runnerValues[w] && len(rest) > 1:
			rest = rest[2:]
		case strings.HasPrefix(w, "-"), strings.Contains(w, "=") && !strings.ContainsAny(w, "/ "):
			rest = rest[1:]
		default:
			return rest
		}
	}
	return nil
}

// behindWords is [behindFlags] of the words of a lexer.
func behindWords(words []word) []word {
	return words[flagWords(len(words), func(i int) string { return words[i].text }):]
}

// programName returns the name of a program under which its runs are compared: where it lies does not matter when it is installed,
// and does when it is a script.
func programName(p string) string {
	name := base(p)
	if other, ok := otherNames[name]; ok {
		return other
	}
	switch folder := path.Dir(path.Clean(p)); {
	case folder == ".", path.Base(folder) == "bin", path.Base(folder) == ".bin":
		return name
	}
	return path.Clean(p)
}

// narrowing are the flags of programs that choose a part of what they do, beside [filters]: of each, those that a word follows,
// and those that stand alone, behind a bar.
var narrowing = map[string]string{
	"tox": "-e|", "nox": "-s -e --session --sessions|", "xcodebuild": "-scheme -target -only-testing -workspace|", "pytest": "-m --deselect --ignore|", "go": "-tags|-short", "rspec": "-e --example --tag|",
	"phpunit": "--testsuite --group|", "mocha": "-f --fgrep|", "ctest": "-L -E|", "flutter": "--plain-name --name -n|", "cargo": "--bin --example --bench|--lib --bins --doc --examples",
	"ansible-playbook": "--tags --limit -l --skip-tags|", "mix": "--only|--failed", "playwright": "--project|", "terraform": "-target|", "behave": "--tags -n|", "cucumber": "--tags|", "docker": "-f --file|", "kubectl": "-n --namespace --context -l|",
	"helm": "-n --namespace|", "jest": "--selectProjects --testPathPattern|", "pnpm": "-F|", "dotnet": "--framework -f|",
}

// narrows reports whether a flag of a program chooses a part of what it does, and whether a word follows it.
func narrows(program, flag string) (is, valued bool) {
	if filters[flag] {
		return true, true
	}
	withWord, alone, _ := strings.Cut(narrowing[program], "|")
	if slices.Contains(strings.Fields(withWord), flag) {
		return true, true
	}
	return slices.Contains(strings.Fields(alone), flag), false
}

// folderFlags name the folder that a program is to run in.
var folderFlags = wordSet("-C --prefix --dir --cwd --directory --project-directory --test-dir -chdir --chdir --manifest-path")
