package digest

import (
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// passes is how agents and summaries say that checks hold, in the languages that they are
// found to write.
var passes = lazyregexp.New(`(?i)\b(?:tests?|suites?|specs?|checks?|builds?|lint(?:er|ing)?|type-?checks?|ci|pipeline)\b[^.;!?\n]{0,30}\b(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|ok(?:ay)?|clean)\b|` +
	`\b(?:passing|green)\s+(?:tests?|builds?|suites?|ci)\b|` +
	`\bTests?\b[^.;!?\n]{0,30}\b(?:grün|bestanden|bestehen|laufen durch|erfolgreich)\b|` +
	`\btests?\b[^.;!?\n]{0,30}\b(?:passent|réussis(?:sent)?|au vert|ok)\b|` +
	`\b(?:pruebas|tests?)\b[^.;!?\n]{0,30}\b(?:pasan|pasaron|correctas|en verde)\b|\bpasan (?:todas )?(?:las pruebas|los tests)\b|` +
	`тест[а-я]*[^.;!?\n]{0,30}(?:проходят|прошли|зел[её]ные)|` +
	`(?:测试|測試|构建)[^。；！？\n]{0,10}(?:通过|通過|成功)|(?:テスト|ビルド)[^。！？\n]{0,12}(?:通|パス|成功|グリーン)|(?:테스트|빌드)[^.!?\n]{0,12}(?:통과|성공)`)

// denies is how a sentence says that they do not.
var denies = lazyregexp.New(`(?i)\b(?:not|n't|never|no longer|fails?|failed|failing|until|unless|if|once|should|must|make sure|nicht|bis|wenn|pas|si|jusqu|no|hasta)\b|(?:^|\s)(?:не|если)\s|不|没|未|ない|ません|ば|않|못`)

// checking are words in the kind of a command whose outcome such a sentence is about.
var checking = runPattern{lazyregexp.New(`test|\bspecs?\b|rspec|jest|mocha|check(?:[^o]|$)|build|lint|\bvet\b|\btsc\b|compile|make|\bci\b|verify|\b[nt]ox\b|ruff|mypy|pyright`)}

// checks reports whether a command is run to see whether the work is right.
func checks(p toolcall.Purpose) bool {
	return checking.MatchString(p.Kind) || checking.MatchString(p.Key)
}

// failing returns for each kind of check the message of the newest run that failed and was not mended since; -1: none. A
// run of no kind, such as of a pipeline, is one of each.
func (in *input) failing() []int {
	if in.failed != nil {
		return in.failed
	}
	in.failed = slices.Repeat([]int{-1}, len(checkKinds))
	for _, r := range in.work().results(func(int) bool { return true }) {
		if r.end.End != toolcall.Failed || !checks(toolcall.PurposeOf(r.given)) {
			continue
		}
		known := slices.ContainsFunc(checkKinds, func(k checkKind) bool { return k.runs.MatchString(r.given) })
		for i, k := range checkKinds {
			if !known || k.runs.MatchString(r.given) {
				in.failed[i] = max(in.failed[i], r.at)
			}
		}
	}
	return in.failed
}

// failedOf returns the newest failed run of the checks that a sentence names, of all when it names none of a kind: a build
// that is green is the pipeline.
func (in *input) failedOf(sentence string) int {
	if strings.Contains(sentence, "green") {
		return slices.Max(in.failing())
	}
	at, named := -1, false
	for i, failed := range in.failing() {
		if checkKinds[i].says.MatchString(sentence) {
			at, named = max(at, failed), true
		}
	}
	if !named {
		return slices.Max(in.failing())
	}
	return at
}

// refuted marks the lines of what an agent or a summary says at a message that call checks
// fine although one of them has failed since.
func (in *input) refuted(message int, text string) string {
	if slices.Max(in.failing()) <= message || !passes.MatchString(text) {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		out.WriteString(bare)
		if at := passes.FindStringIndex(bare); at != nil {
			said := sentence(bare, at[0], at[1])
			if failed := in.failedOf(said); failed > message && !denies.MatchString(said) {
				out.WriteString(" [failed since, at " + in.handle(failed) + "]")
			}
		}
		out.WriteString(line[len(bare):])
	}
	return out.String()
}

// sentence returns the sentence of a line in which some words stand.
func sentence(line string, from, to int) string {
	const ends = ".;!?。！？；"
	from = strings.LastIndexAny(line[:from], ends) + 1
	if n := strings.IndexAny(line[to:], ends); n >= 0 {
		return line[from : to+n]
	}
	return line[from:]
}
