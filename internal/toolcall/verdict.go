package toolcall

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// broken is a line by which a tool that builds, checks, tests or deploys says that something went wrong, by what it begins with:
	// Maven, Gradle, MSBuild, Xcode, CMake, ninja, Next, Vite, esbuild, Elm, Packer; tox, nox, pre-commit, PHPUnit; Prettier, rustfmt;
	// kubectl, Docker, the AWS CLI, k6, Lighthouse; apt, Composer, Bundler, yarn, pnpm, Lerna, Turbo, just, Task; systemd.
	broken = lazyregexp.New(`^(?:\[\w+\] )?\W{0,3}(?:BUILD FAIL(?:ED|URE)\b|(?:BUILD|TEST|ARCHIVE) FAILED \*\*|Build (?:FAILED|failed)\b|Build '[^']+' errored|FAILURES!$|FAILURE: |Configuring incomplete|ninja: build stopped|[Ff]ailed to compile|error during build|✘ \[ERROR\] \S|[A-Z][A-Z ]+ ERROR -{5,}|` +
		`evaluation failed|nox > .* failed$|.{1,60}\.{3,}(?:\([^)]*\))?Failed$|Code style issues |Diff in /\S+:\d+|Error from server \(|Error response from daemon: |(?:upload|download|copy|move|delete) failed: |ERRO\[\d+\] thresholds|Assertion failed\. Exiting|` +
		`E: (?:Unable|Could|Package|Failed|Sub-process|The repository)|Your requirements could not be resolved|Could not find gem |error Command failed|ELIFECYCLE|\w+ ERR! |ERROR +run failed|error: Recipe |task: Failed to run|Job for \S+ failed)`)
	// brokenWithin is the same by what stands in it: Bazel, tox, Ansible, ScalaTest, Flutter, Cypress, Black, RuboCop, sbt, webpack, Nx,
	// linkers, the AWS CLI and CDK, openssl.
	brokenWithin = lazyregexp.New(`^//\S+ +(?:\(cached\) )?(?:FAILED|TIMEOUT|NO STATUS)\b|^[\w.-]+: FAIL(?: code \d+)?\b|: ok=\d+ .*\b(?:failed|unreachable)=[1-9]|\*\*\* FAILED \*\*\*|\bSome tests failed\.?$|` +
		`\b[1-9]\d* (?:of \d+ failed|fails? locally|files? would be reformatted|offenses? detected)\b|\b\d+/\d+ targets failed\b|^\[error\] .*(?:Exception|unsuccessful|Compilation failed)|^webpack .*\bcompiled with [1-9]\d* errors?|` +
		`: error: ld returned|^ld: .*\bnot found|\bAn error occurred \(\w+\) when calling\b|^\W*\w+Stack failed: |: verification failed$`)
	// countsErrors counts what a checker found, where it fails for that.
	countsErrors = lazyregexp.New(`(?i)^(?:[✖✗×x] *)?(?:\[\w+\] )?(?:[\w -]{0,30}\bfound )?(?:\d+ problems? \()?[1-9]\d* (?:errors?\b|error\(s\)|issues?:$)`)
	// placedError is the line of a compiler or a checker that names a place and the error there: of C, Swift, Haskell and mypy, of
	// MSBuild and tsc, of Dart and Maven; of ESLint below the name of the file.
	placedError = lazyregexp.New(`^\S+?(?::\d+(?::\d+)?:?|\(\d+,\d+\):?)(?: -)? (?:fatal )?error\b|^error +• |^\[ERROR\] [^\s:]+:\[\d+,\d+\] `)
	lintRow     = lazyregexp.New(`^\d+:\d+ +(?:error|✖) +\S`)
	// rowsFile is the line above such rows.
	rowsFile = lazyregexp.New(`^\S+\.\w{1,8}$`)
)

var (
	// checkers are programs and tasks whose output names errors where they fail.
	checkers = lazyregexp.New(`(?i)\b(?:make|ninja|cmake|bazel|gcc|cc|clang|rustc|cargo|dotnet|msbuild|swiftc?|xcodebuild|mvnw?|gradlew?|sbt|scalac|javac|kotlinc|mix|stack|cabal|ghc|zig|flutter|dart|go|tsc|vite|webpack|next|` +
		`esbuild|rollup|parcel|tsup|elm|pytest|rspec|phpunit|jest|vitest|mocha|eslint|stylelint|biome|oxlint|ruff|pylint|flake8|mypy|pyright|phpstan|psalm|rubocop|credo|golangci-lint|staticcheck|tflint|ansible-lint|pre-commit|tox|nox|ng|vue-tsc|svelte-check|` +
		`lint|build|compile|type-?check|check|verify|validate|analy[sz]e|vet|tests?)\b|[cg]\+\+`)
	// passed is what such a program says at its end where it went well.
	passed = lazyregexp.New(`(?im)\bBUILD SUCC|\bBuild succeeded|\bcompiled successfully|\bfound 0 errors|\bno (?:issues|errors) found|\ball checks passed|^ *Finished .*\btarget|^PASS\b|^ok\s+\S|\b[1-9]\d* pass(?:ed|ing)\b|\b0 failures\b|^test result: ok`)
)

// raised is the line by which a program of Python, Java or JavaScript ends that an exception ended.
var raised = lazyregexp.New(`^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): \S`)

// endsByException reports whether the last line of an output is that of an exception.
func endsByException(text string) bool {
	text = strings.TrimSpace(text)
	return raised.MatchString(text[strings.LastIndexByte(text, '\n')+1:])
}

// complaint is what follows the name of a program in its own words of a failure.
var complaint = lazyregexp.New(`(?i)\b(?:permission denied|no such|cannot|can't|could not|not found|fail(?:ed|ure)|errors?|refused|unable|invalid|not permitted|not recoverable|unrecognized|unknown)\b|\(\d+\) `)

// complains returns the line near the end of an output in which one of the programs of a command says by its own name that it failed,
// as those of Unix do: "tar: …", "rsync error: …"; "" when none does. Those that print what others wrote are left out, but for what
// they fetch.
func complains(programs []string, text string) string {
	for l := range strings.Lines(text[max(0, len(text)-lastBytes):]) {
		name, rest, ok := strings.Cut(strings.TrimSpace(overwritten(l)), ": ")
		if !ok || len(name) > 40 || strings.Contains(rest, "warning") {
			continue
		}
		word, _, _ := strings.Cut(name, " ")
		if word != name && name != word+" error" || !slices.Contains(programs, word) || printers[word] && word != "curl" && word != "wget" || searches[word] {
			continue
		}
		if name != word || complaint.MatchString(rest) {
			return strings.TrimSpace(overwritten(l))
		}
	}
	return ""
}

// lastBytes is how much of the end of an output is searched for a verdict.
const lastBytes = 4000

// verdictOf returns the line of a command's output that counts tests or checks that failed, or says that a build did; "" when none
// does. Such lines stand at the end.
func verdictOf(command, text string) string {
	const longest = 200
	suites := "" // that failed: how many tests did stands below
	for l := range strings.Lines(text[max(0, len(text)-lastBytes):]) {
		l = strings.TrimSpace(overwritten(l))
		if len(l) > longest || !hintsAtFailure(l) {
			continue
		}
		switch {
		case broken.MatchString(l), brokenWithin.MatchString(l), countAlone.MatchString(l), countsFailed.MatchString(l) && countsTests.MatchString(l) && !triesAgain.MatchString(l),
			countsErrors.MatchString(l) && checkers.MatchString(command):
			if !strings.HasPrefix(l, "Test Suites:") && !strings.HasPrefix(l, "Test Files ") {
				return l
			}
			suites = l
		}
	}
	return suites
}

// hintsAtFailure reports whether a line holds a part of the words that verdicts are made of.
func hintsAtFailure(l string) bool {
	for _, part := range []string{"ail", "FAIL", "rror", "ssue", "offense", "reformatted", "incomplete", "stopped", "unreachable", "TIMEOUT", "STATUS", "unsuccessful", "ERR", "E: ", "Diff in", "ELIFE", "could not be", "Could not"} {
		if strings.Contains(l, part) {
			return true
		}
	}
	return false
}
