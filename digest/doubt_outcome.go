package digest

import (
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// checkKind is a kind of checks that summaries say the outcome of.
type checkKind struct {
	says *lazyregexp.Regexp
	runs runPattern
}

var checkKinds = []checkKind{
	{lazyregexp.New(`(?i)\b(?:tests?|test suite|suite|specs?)\b|^\W*(?:all|currently|now) (?:passing|failing|green)\b|测试|測試|テスト`), testRuns},
	{lazyregexp.New(`(?i)\b(?:builds?|compil(?:es|ed|ation)|build)\b|构建|编译|ビルド`), runPattern{lazyregexp.New(`\b(?:go (?:build|install|vet)|cargo (?:build|check)|` + packageScript + ` build|(?:mvn|gradle|gradlew)\b[^|;&]*\b(?:package|compile|build|assemble)|tsc|vite build|webpack|cmake --build|(?:make|mise run|just|task)(?: build| all)?(?:$|\s*(?:2>&1|[|;&]))|dotnet build|swift build|xcodebuild|javac|gcc|g\+\+)\b`)}},
	{lazyregexp.New(`(?i)\b(?:lint(?:er|ing)?|vet|static analysis)\b`), runPattern{lazyregexp.New(`\b(?:golangci-lint|eslint|ruff|flake8|pylint|clippy|staticcheck|go vet|rubocop|shellcheck|biome|(?:mise(?: run)?|` + packageScript + `) lint|make lint)\b`)}},
	{lazyregexp.New(`(?i)\btype[- ]?checks?\b|\btype checker\b`), runPattern{lazyregexp.New(`\b(?:tsc|mypy|pyright|` + packageScript + ` (?:type-?check|check-?types))\b`)}},
}

var (
	// holdsWell and holdsIll say how checks end now.
	holdsWell = lazyregexp.New(`(?i)\b(?:pass(?:es|ing)?|passed|succeeds?|succeeded|(?:is|are|now|all|came (?:out|back)|comes back|turned|stays?|ended|ran|runs|stands?) (?:now )?(?:green|clean|ok)|lint clean|(?:came|comes) back (?:without|with no)|(?:without|with no|no|zero|0) (?:any )?(?:errors?|failures?|issues?)|works|compiles|builds (?:cleanly|successfully|fine)|goes through)\b|通过|成功|通り|パス`)
	holdsIll  = lazyregexp.New(`(?i)\b(?:fails|failing|fail|is broken|are broken|are red|is red|(?:does|do) not (?:build|pass|compile|work)|(?:does|do)n't (?:build|pass|compile|work)|still (?:report|show|complain|trip|fail)\w*|left (?:standing|unfixed|open)|unresolved|not (?:yet )?(?:fixed|clean|green|passing))\b|失败|失敗`)
	// tellsOfFailure says that something failed, or was interrupted by an error.
	tellsOfFailure = lazyregexp.New(`(?i)\b(?:fail\w*|error\w*|broken?|breaks|red|panic\w*|crash\w*|not (?:pass|build|compile|work)\w*|n't (?:pass|build|compile|work)\w*|exit code|issues?|missing|undefined)\b|失败|失敗|错误|エラー`)
	// someFailed says that checks failed at some time.
	// allEnded is a clause that says nothing but how all of them ended.
	allEnded    = lazyregexp.New(`(?i)^\W*(?:all|everything|both)\b[^,;:]{0,12}\b(?:pass(?:ed|es|ing)?|succeed(?:ed)?|failed|fail|green|clean)\W*$`)
	parentheses = lazyregexp.New(`\s*\([^()]*\)`)
	someFailed  = lazyregexp.New(`(?i)\bfailed\b`)
	alsoFails   = lazyregexp.New(`(?i)\bfail(?:s|ed|ing|ures?)?\b`)
	allOfThem   = lazyregexp.New(`(?i)\b(?:all|full|whole|entire|every)\b`)
	past        = lazyregexp.New(`(?i)\b(?:was|were|had|initially|at first|first|previously|earlier|before|until|then|when|after|because|due|fixed|expected|expecting|would|should|could|if|once|ran into|used to|caused|causing|now pass\w*)\b|→|->`)
)

// withIssues says that checks pass and report something, unless it is said ofNone: what ends so is the newest run, whatever
// the text says later.
var (
	ofNone     = lazyregexp.New(`(?i)\b(?:no|zero|0|without)\b`)
	withIssues = lazyregexp.New(`(?i)\b(?:pass\w*|succe\w+|green)\b[^.,;:]{0,20}\bwith (?:[1-9]\d* |some |several )?(?:[\w-]+ ){0,2}(?:issues?|warnings?|errors?|failures?|problems?)\b`)
)

// checks doubts what a statement says of the outcome of a kind of checks, where their newest run shows otherwise.
func (d *doubter) checks(s statement) bool {
	if s.ahead || s.quotes || someTests.MatchString(s.text) {
		return false
	}
	w := d.in.work()
	for _, k := range checkKinds {
		clause, says := k.clauseOf(s.text)
		if !says {
			continue
		}
		good, bad := holdsWell.MatchString(clause) && !denies.MatchString(clause), holdsIll.MatchString(clause) || someFailed.MatchString(clause)
		if good == bad {
			continue
		}
		i, ok, failed := d.newestCheck(k)
		if i < 0 {
			continue
		}
		if beside := strings.Replace(s.text, clause, "", 1); good && alsoFails.MatchString(beside) {
			continue // it tells of a failure, too
		}
		end, told := d.endOf(i), past.MatchString(clause) || s.text != clause && past.MatchString(s.text)
		switch {
		case good && end == toolcall.Failed && !unsure.MatchString(clause) && !d.passedSince(w.calls[i].Use.From) && (withIssues.MatchString(clause) && !ofNone.MatchString(clause) || !(ok && d.tellsLater(s, k))),
			good && !ok && failed && !d.passedSince(w.calls[i].Use.From):
			d.contradict(s.text, doubtOutcome, "the newest run, "+said(w.calls[i].Line)+", failed"+codeOf(w.ends[i]), w.calls[i].Use)
			return true
		case bad && end == toolcall.OK && !d.failsStill(k, i) && (!told && holdsIll.MatchString(clause) || !failed || allOfThem.MatchString(s.text) && !told):
			d.contradict(s.text, doubtOutcome, "the newest run, "+said(w.calls[i].Line)+", did not fail", w.calls[i].Use)
			return true
		}
	}
	return false
}

// clauseOf returns the clause of a sentence that says how such checks ended: the first that names them and says it, with or without
// what stands in parentheses, or the last when it says it of all. Without one it is the first that names them; says is false when none does.
func (k checkKind) clauseOf(text string) (clause string, says bool) {
	const most = 4 // that name them
	tells := func(clause string) bool { return holdsWell.MatchString(clause) || holdsIll.MatchString(clause) }
	for _, text := range []string{text, parentheses.ReplaceAllString(text, "")} {
		for _, at := range k.says.FindAllStringIndex(text, most) {
			one := clauseAround(text, at[0])
			if tells(one) {
				return one, true
			}
			if !says {
				clause, says = one, true
			}
		}
	}
	if last := clauseAround(text, len(text)); says && allEnded.MatchString(last) {
		return last, true
	}
	return clause, says
}

// clauseAround returns the clause of a sentence that holds a byte.
func clauseAround(text string, at int) string {
	const ends = ",;:()—"
	from := strings.LastIndexAny(text[:at], ends) + 1
	if n := strings.IndexAny(text[at:], ends); n >= 0 {
		return text[from : at+n]
	}
	return text[from:]
}

// newestCheck returns the newest run of a kind of checks, -1 when there is none, and whether one of them may have ended well
// or failed.
func (d *doubter) newestCheck(k checkKind) (newest int, ok, failed bool) {
	w := d.in.work()
	newest = -1
	for i := range w.calls {
		c, end := &w.calls[i], w.ends[i].End
		if c.Kind != toolcall.Command || end == toolcall.Rejected || w.isWaiting(i) || toolcall.Prints(c.Line) || !k.runs.MatchString(c.Line) {
			continue
		}
		newest = i
		ok = ok || end != toolcall.Failed
		failed = failed || end != toolcall.OK
	}
	return newest, ok, failed
}

// endOf returns how a run of checks ended; where a pipe hides it, as its output says.
func (d *doubter) endOf(i int) toolcall.End {
	w := d.in.work()
	end := w.ends[i].End
	if end != toolcall.Unknown {
		return end
	}
	out := noneFailed.ReplaceAllString(w.calls[i].Output(), "")
	switch passed := saysPassed.MatchString(out); {
	case passed && !tellsOfFailure.MatchString(out):
		return toolcall.OK
	case !passed && saysFailed.MatchString(out):
		return toolcall.Failed
	}
	return end
}

var (
	saysPassed = lazyregexp.New(`(?m)^ok\s+\S+\s|^PASS\s*$|\b\d+ (?:tests? )?passed\b|^test result: ok|^0 issues|^All checks passed|^OK \(|^# pass [1-9]|^BUILD SUCCESS`)
	saysFailed = lazyregexp.New(`(?m)^(?:--- FAIL|FAIL\b|error(?:\[\w+\])?:|BUILD FAIL|\S+\.[a-z]{1,4}:\d+:\d+: )|\b[1-9]\d* (?:failed|failures?|errors?|issues?)\b|\[build failed\]|ERROR task failed`)
	noneFailed = lazyregexp.New(`(?i)\b0 (?:failed|failures?|errors?|issues?)\b|# fail 0\b`)
)

// failsStill reports whether a run of a kind of checks failed that the newest one, which passed, may not hold.
func (d *doubter) failsStill(k checkKind, newest int) bool {
	if wholeRuns.MatchString(bareCommand(d.in.work().calls[newest].Line)) {
		return false
	}
	for _, r := range d.in.work().results(func(int) bool { return true }) {
		if r.end.End == toolcall.Failed && k.runs.MatchString(r.given) {
			return true
		}
	}
	return false
}

// wholeRuns are runs of all checks of a kind.
var wholeRuns = lazyregexp.New(`^(?:go test (?:-\S+ )*\./\.\.\.|go (?:build|vet) \./\.\.\.|pytest(?: -\S+)*$|cargo (?:test|build)$|(?:npm|yarn|pnpm|bun|mise|just|task)(?: run)? (?:test|build|lint|type-?check)(?:$| &&)|make(?: test| build| lint)?(?:$| &&)|golangci-lint run(?: \./\.\.\.)?$)`)

// tellsLater reports whether the text says behind a statement that such checks fail: it tells the story in order.
func (d *doubter) tellsLater(s statement, k checkKind) bool {
	for _, later := range d.all {
		if later.at > s.at && (failing.MatchString(later.text) || holdsIll.MatchString(later.text)) && (k.says.MatchString(later.text) || failedTests.MatchString(later.text)) {
			return true
		}
	}
	return false
}
