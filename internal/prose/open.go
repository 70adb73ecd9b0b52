package prose

import (
	"strings"
	"unicode"

	"precis/internal/lazyregexp"
)

// FailedChecks returns where a line says that checks do not hold, as "the tests still fail"; nil: nowhere.
func FailedChecks(line string) []int {
	if isASCII(line) && !failing.in(line) {
		return nil
	}
	return fails.FindStringIndex(line)
}

var fails = lazyregexp.New(`(?i)\b(?:tests?|suites?|specs?|checks?|builds?|compil\w+|lint(?:er|ing)?|type-?checks?|ci|pipeline)\b[^.;!?\n]{0,40}\b(?:fail(?:s|ed|ing|ures?)?|broken|breaks?|red|errors?)\b|` +
	`\b(?:failing|failed|broken|red)\s+(?:\w+\s+)?(?:tests?|builds?|suites?|specs?|checks?|ci|lint)\b|` +
	`\bTests?\b[^.;!?\n]{0,30}\b(?:schlagen|schlägt) fehl\b|\btests?\b[^.;!?\n]{0,30}(?:échou\pL+|\ben échec\b)|\b(?:pruebas|tests?)\b[^.;!?\n]{0,30}\bfalla[nr]?\b|` +
	`тест[а-я]*[^.;!?\n]{0,30}(?:упал|падают|не проход)|(?:测试|測試|构建)[^。；！？\n]{0,10}(?:失败|失敗)|(?:テスト|ビルド)[^。！？\n]{0,12}失敗|(?:테스트|빌드)[^.!?\n]{0,12}실패`)

// failing are the words of ASCII without which a line says no such thing.
var failing = phrases{list: func() string {
	return "fail|fails|failed|failing|failure|failures|broken|break|breaks|red|error|errors|fehl|falla|fallan|fallar"
}}

// LeavesOpen reports whether a sentence says that something is wrong, or is to be done.
func LeavesOpen(sentence string) bool {
	return undone.in(sentence) || orders(sentence) || !isASCII(sentence) && undoneBeyond.MatchString(sentence)
}

// undone are words of that, undoneBeyond those that are not of ASCII.
var (
	undone = phrases{list: func() string {
		return "need|need to|needs to|should|must|have to|let me|i'll|i will|going to|now i|now fix*|now updat*|now implement*|now add*|now remov*|missing|wrong|wrongly|incorrect|incorrectly|bug|bugs|" +
			"issue|issues|problem|problems|culprit|root cause|unused|not used|fail|fails|failing|failed|broken|break|breaks|doesn't|does not|isn't|is not|don't|duplicat*|inconsisten*|todo|" +
			"want me to|would you like|recommend*|suggest*|propos*|muss|sollte*|fehlt|falsch|doit|devrait|manque*|il faut|debe*|falta*|incorrecto|incorrecta"
	}}
	undoneBeyond = lazyregexp.New(`(?i)\bmüssen\b|需要|应该|應該|缺少|错误|錯誤|问题|問題|必要|不足|修正|べき|없|필요|нужно|ошибк|не хватает`)
)

// orders reports whether a sentence begins with what is to be done, as an entry of a list does: "2. Update the callers."
func orders(sentence string) bool {
	text := strings.TrimLeftFunc(sentence, func(r rune) bool {
		return unicode.IsSpace(r) || r >= '0' && r <= '9' || strings.ContainsRune(".)*-", r)
	})
	n := 0
	for n < len(text) && isWord(text[n]) {
		n++
	}
	switch strings.ToLower(text[:n]) {
	case "fix", "change", "update", "add", "remove", "delete", "replace", "rename", "move", "implement", "convert", "refactor":
		return true
	}
	return false
}
