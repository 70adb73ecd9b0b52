package retain

import (
	"strings"
	"unicode/utf8"

	"precis/internal/harness"
)

// Constraints returns the sentences of a user's text that set rules: never,
// always, must, do not, only, and similar words in Chinese, Japanese, French,
// German and Spanish. What the user mentions or pastes sets none: only what was typed
// does, with the words outside of quotation marks. A sentence ends at the end of a line or at a punctuation
// mark; one over 400 bytes is taken for data, not a rule. Each sentence is
// returned once, unchanged but for the list marks before it.
func Constraints(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, typed := range harness.Typed(text) {
		own := harness.Unquoted(typed) // as long as typed, byte for byte
		at := 0
		for s := range sentences(own) {
			at += strings.Index(own[at:], s)
			from := at + len(s) - len(unlisted(s))
			whole := strings.TrimRight(typed[from:at+len(s)], " \t\r")
			at += len(s)
			if len(whole) < 8 || len(whole) > 400 || seen[whole] || !isRule(own[from:from+len(whole)]) {
				continue
			}
			seen[whole] = true
			out = append(out, whole)
		}
	}
	return out
}

// sentences yields the sentences of a text. A full stop ends one only before
// white space, so that file names and versions stay whole.
func sentences(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from := 0
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			end := false
			switch r {
			case '\n', '。', '！', '？':
				end = true
			case '.', '!', '?':
				end = i+1 >= len(text) || strings.IndexByte(" \t\r\n\"')", text[i+1]) >= 0
			}
			i += n
			for end && r != '\n' && i < len(text) { // the marks that close a quotation belong to what they close
				mark, n := utf8.DecodeRuneInString(text[i:])
				if !strings.ContainsRune("\"')]”’»」』", mark) {
					break
				}
				i += n
			}
			if end {
				if !yield(strings.TrimRight(text[from:i], "\n")) {
					return
				}
				from = i
			}
		}
		if from < len(text) {
			yield(text[from:])
		}
	}
}

// unlisted returns a sentence without the marks of lists, headings and
// quotations before it: signs and numbers that are followed by white space or
// by a letter of another script.
func unlisted(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		rest := strings.TrimLeft(s, "-*+#>•")
		if rest == s {
			digits := strings.TrimLeft(s, "0123456789")
			if rest = strings.TrimLeft(digits, ".)"); rest == digits || digits == s {
				return s
			}
		}
		if rest != "" && rest[0] < 0x80 && strings.IndexByte(" \t\r\n", rest[0]) < 0 {
			return s
		}
		s = rest
	}
}

// isRule reports whether a sentence holds a word that sets a rule.
func isRule(s string) bool {
	before := rune(0)
	for i := 0; i < len(s); {
		from := i
		for i < len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			if !inWord(r) {
				break
			}
			i += n
		}
		if i > from {
			word := strings.TrimLeft(s[from:i], "'’")
			if startsRule(strings.ReplaceAll(strings.ToLower(word), "’", "'"), s[i:]) {
				return true
			}
			before = 0
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= 0x80 && hasAsianRule(before, s[i:]) {
			return true
		}
		before = r
		i += n
	}
	return false
}

// inWord reports whether r can be part of a word of a European language: Latin
// letters and apostrophes.
func inWord(r rune) bool {
	return r < 0x80 && is(byte(r), letter) || r == '\'' || r == '’' || r >= 0xc0 && r < 0x250
}

// startsRule reports whether word, together with the text after it, sets a
// rule.
func startsRule(word, rest string) bool {
	after, ok := ruleWords[word]
	if !ok {
		return false
	}
	if after == nil {
		return true
	}
	next := strings.ToLower(strings.TrimLeft(rest[:min(len(rest), 24)], " "))
	for _, a := range after {
		if strings.HasPrefix(next, a) {
			return true
		}
	}
	return false
}

// hasAsianRule reports whether s begins with a word that sets a rule, given the
// character before it.
func hasAsianRule(before rune, s string) bool {
	for _, w := range asianRules {
		if strings.HasPrefix(s, w) {
			return w != "别" || !strings.ContainsRune(compounds, before) && !strings.HasPrefix(s, "别人") && !strings.HasPrefix(s, "别的")
		}
	}
	return false
}

// compounds are the characters that form a word with a following 别, which then
// does not mean "don't": 特别, 分别, 类别, ….
const compounds = "特分区類类级級识識个個差性告鉴鑑辨派国國组組"

// ruleWords are the words that set rules, each with the words one of which must
// follow; nil means any word may follow.
var ruleWords = map[string][]string{
	// English
	"never": nil, "always": nil, "must": nil, "mustn't": nil, "only": nil, "ensure": nil, "avoid": nil, "prefer": nil,
	"require": nil, "required": nil, "requires": nil, "forbidden": nil, "don't": nil, "dont": nil, "shouldn't": nil, "cannot": nil,
	"remember": nil, "without": nil, "do": {"not "}, "should": {"not ", "never ", "always ", "only "}, "make": {"sure"}, "be": {"sure"},
	"instead": {"of "}, "at": {"least", "most", "all times"}, "no": {"more than", "less than", "need to"}, "needs": {"to "}, "may": {"not "},
	"can": {"not ", "only "}, "rather": {"than"}, "under": {"no "},
	// German
	"nie": nil, "niemals": nil, "immer": nil, "muss": nil, "musst": nil, "müssen": nil, "nur": nil, "unbedingt": nil, "vermeide": nil,
	"keinesfalls": nil, "stattdessen": nil, "mindestens": nil, "höchstens": nil, "darf": nil, "dürfen": nil, "sollte": nil, "sollst": nil,
	"bitte": {"kein", "nicht", "nie", "immer", "nur"}, "auf": {"keinen fall", "jeden fall"}, "achte": {"darauf"},
	// French
	"jamais": nil, "toujours": nil, "doit": nil, "dois": nil, "devez": nil, "doivent": nil, "seulement": nil, "uniquement": nil,
	"évite": nil, "évitez": nil, "éviter": nil, "interdit": nil, "obligatoire": nil, "surtout": nil, "ne": nil, "il": {"faut"}, "au": {"moins", "plus"},
	// Spanish
	"nunca": nil, "siempre": nil, "debe": nil, "debes": nil, "deben": nil, "solo": nil, "sólo": nil, "solamente": nil, "únicamente": nil,
	"evita": nil, "evitar": nil, "prohibido": nil, "obligatorio": nil, "asegúrate": nil, "hay": {"que "}, "al": {"menos", "máximo"},
}

// asianRules are the prefixes of rules in Chinese and Japanese.
var asianRules = []string{
	"不要", "不能", "不得", "不准", "不许", "不可", "必须", "必須", "务必", "總是", "总是", "永远", "绝不", "絕不", "禁止", "只能", "只用", "只要", "仅", "確保", "确保",
	"避免", "一定", "请勿", "請勿", "至少", "最多", "始终", "别", "应该", "應該", "需要",
	"必ず", "絶対", "ないで", "いけない", "いけません", "のみ", "だけ", "常に", "避け", "少なくとも", "以内", "べき", "なければ", "べからず", "ください",
}
