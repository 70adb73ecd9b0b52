package toolcall

import (
	"strings"

	"precis/internal/lazyregexp"
)

var (
	// broken is a line by which a tool that builds, checks, tests or deploys says that something went wrong: Maven, Gradle, MSBuild,
	// Xcode, CMake, ninja, Bazel, tox, nox, pre-commit, PHPUnit, ScalaTest, Flutter, Cypress, Ansible, kubectl, Prettier, Black.
	broken = lazyregexp.New(`^(?:\[\w+\] )?\W{0,3}(?:BUILD FAIL(?:ED|URE)\b|(?:BUILD|TEST|ARCHIVE) FAILED \*\*|Build FAILED\b|FAILURES!$|FAILURE: |Configuring incomplete|ninja: build stopped|evaluation failed|` +
		`Code style issues |Error from server \(|Error response from daemon: |.{1,60}\.{3,}(?:\([^)]*\))?Failed$|nox > .* failed$)|` +
		`^//\S+ +(?:\(cached\) )?(?:FAILED|TIMEOUT|NO STATUS)\b|^[\w.-]+: FAIL(?: code \d+)?\b|: ok=\d+ .*\b(?:failed|unreachable)=[1-9]|\*\*\* FAILED \*\*\*|\bSome tests failed\.?$|` +
		`\b[1-9]\d* (?:of \d+ failed|fails? locally|files? would be reformatted|offenses? detected)\b|^\[error\] .*(?:Exception|unsuccessful|Compilation failed)`)
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
		`eslint|stylelint|biome|oxlint|ruff|pylint|flake8|mypy|pyright|phpstan|psalm|rubocop|credo|golangci-lint|staticcheck|tflint|ansible-lint|pre-commit|tox|nox|ng|vue-tsc|svelte-check|` +
		`lint|build|compile|type-?check|check|verify|validate|analy[sz]e|vet|tests?)\b|[cg]\+\+`)
	// passed is what such a program says at its end where it went well.
	passed = lazyregexp.New(`(?im)\bBUILD SUCC|\bBuild succeeded|\bcompiled successfully|\bfound 0 errors|\bno (?:issues|errors) found|\ball checks passed|^ *Finished .*\btarget`)
)

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
		case broken.MatchString(l), countAlone.MatchString(l), countsFailed.MatchString(l) && countsTests.MatchString(l) && !triesAgain.MatchString(l),
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
	for _, part := range []string{"ail", "FAIL", "rror", "ssue", "offense", "reformatted", "incomplete", "stopped", "unreachable", "TIMEOUT", "STATUS", "unsuccessful"} {
		if strings.Contains(l, part) {
			return true
		}
	}
	return false
}
