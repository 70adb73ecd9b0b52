package digest

import (
	"strings"
	"unicode/utf8"
)

// term is a word of a sentence as it is compared: in small letters and without its ending.
type term struct {
	stem     string
	from, to int  // bytes of the sentence
	clause   int  // of the sentence, counted from 0
	negated  bool // the sentence denies it
	number   bool
	empty    bool // it says nothing by itself: "the", "was"
}

// emptyWords say nothing by themselves, or say who, when and how: other rooms look at these.
var emptyWords = wordSet(`a an the of to in on at by for from with into onto about as is are was were be been being am it its this that these those there here and or but so then than
 if when while which who whom whose what where why how do does did done doing have has had having will would can could should shall may might must i me my we us our you your he him his she her they
 them their one ones also just only very more most some any each every all both such same other another own too now still yet already again up out off over under not no never nor none user users agent
 assistant i'm i've it's that's because since before after until first later via per etc e g i.e per within without through during between using use used so that let get got
 le la les un une des du de et ou est sont à au aux en dans pour par sur avec ce cette ces qui que il elle ils
 der die das ein eine einen dem den des und oder ist sind war waren mit von zu im in auf für als es er sie
 el los las una unos y o es son con por para del al se lo su`)

// stems returns the stems of words.
func stems(words string) map[string]bool {
	out := map[string]bool{}
	for w := range wordSet(words) {
		out[stem1(w)] = true
	}
	return out
}

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// deniers negate the words behind them up to the end of the clause, as far as scope reaches.
var deniers = wordSet(`not no never none cannot without nothing neither nor nobody hardly lacks lack unable incapable instead dont doesnt didnt isnt wasnt cant wont nicht kein keine keinen keiner nie niemals ohne pas jamais sans aucun aucune nunca sin ningún ninguna jamás`)

// scope is how many words a denier reaches.
const scope = 7

// hanDeniers negate the clause they stand in.
var hanDeniers = []string{"不", "没", "未", "无", "無", "別", "别", "ない", "ません", "なかった", "ず、"}

// termsOf returns the words of a sentence in order.
func termsOf(s string) []term {
	out := make([]term, 0, len(s)/5+2)
	clause, reach := 0, 0
	han := -1 // where a run of characters without spaces began
	closes := func(i int) {
		if han >= 0 {
			out = hanTerms(out, s, han, i, clause)
			han = -1
		}
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case isHan(r):
			if han < 0 {
				han = i
			}
			i += n
		case isWordRune(r):
			closes(i)
			from := i
			for i < len(s) {
				r, n = utf8.DecodeRuneInString(s[i:])
				if !isWordRune(r) || isHan(r) {
					next := byte(0)
					if i+n < len(s) {
						next = s[i+n]
					}
					if (r == '\'' || r == '’') && isAlnum(next) || (r == '.' || r == ',') && isDigit(s[i-1]) && isDigit(next) {
						i += n
						continue
					}
					break
				}
				i += n
			}
			word := s[from:i]
			if n := digitsOf(word); n > 0 && n < len(word) && len(word)-n <= longestUnit && isLetters(word[n:]) {
				out = append(out, term{stem: numeral(word[:n]), from: from, to: from + n, clause: clause, number: true, negated: reach > 0})
				out = append(out, term{stem: unitOf(strings.ToLower(word[n:])), from: from + n, to: i, clause: clause, negated: reach > 0})
				continue
			}
			t := term{from: from, to: i, clause: clause}
			denies := false
			t.stem, denies = stemOf(word)
			if t.number = digitsOf(word) == len(word); t.number {
				t.stem = numeral(word)
			} else if n := len(out); n > 0 && out[n-1].number && from-out[n-1].to == 1 {
				t.stem = unitOf(t.stem)
			}
			t.empty = emptyWords[t.stem] || emptyWords[strings.ToLower(word)]
			switch word := strings.ToLower(word); {
			case denies || deniers[word]:
				reach, t.empty = scope, true
			case breaksScope[word]:
				clause++
				reach = 0
			case reach > 0:
				reach--
				t.negated = true
			}
			out = append(out, t)
			if t.number && i < len(s) && s[i] == '%' {
				out = append(out, term{stem: "%", from: i, to: i + 1, clause: clause})
			} else if t.number && from > 0 && s[from-1] == '$' && len(word) > 1 { // "$1" is the argument of a script
				out = append(out, term{stem: "dollar", from: i, to: i, clause: clause})
			}
		default:
			closes(i)
			if strings.ContainsRune(",;:()—–…。，；：（）、→", r) || r == '.' && (i+1 == len(s) || s[i+1] == ' ') || r == '-' && i > 0 && s[i-1] == ' ' {
				clause++
				reach = 0
			}
			i += n
		}
	}
	closes(len(s))
	return out
}

// unitNames are the short names of units by the stem of their long one.
var unitNames = map[string]string{
	"s": "second", "sec": "second", "ms": "millisecond", "msec": "millisecond", "min": "minut", "h": "hour", "hr": "hour", "kb": "kilobyt", "mb": "megabyt", "gb": "gigabyt", "percent": "%", "usd": "dollar", "st": "th", "nd": "th", "rd": "th",
}

// unitOf returns the stem of what is counted, where it is a unit with a short name that of its long one: "30 s" are seconds.
func unitOf(stem string) string {
	if long, ok := unitNames[stem]; ok {
		return long
	}
	return stem
}

// longestUnit is how many letters a unit has that stands behind a number without a space: "30ms".
const longestUnit = 3

// digitsOf returns how many bytes of a number a word begins with.
func digitsOf(word string) int {
	n := 0
	for n < len(word) && (isDigit(word[n]) || n > 0 && (word[n] == '.' || word[n] == ',') && n+1 < len(word) && isDigit(word[n+1])) {
		n++
	}
	return n
}

func isLetters(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// numeral returns a number as it is compared: without commas and without zeros behind the point.
func numeral(s string) string {
	s = strings.ReplaceAll(s, ",", "")
	if strings.Count(s, ".") == 1 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// breaksScope begin a clause of its own.
var breaksScope = wordSet(`but because while so which although though whereas when if unless since until before after aber weil mais car pero porque`)

// hanTerms appends the pairs of characters of a text without spaces.
func hanTerms(out []term, s string, from, to, clause int) []term {
	text := s[from:to]
	denied := false
	for _, d := range hanDeniers {
		denied = denied || strings.Contains(text, d)
	}
	last := -1
	for i, r := range text {
		if last >= 0 {
			out = append(out, term{stem: text[last : i+utf8.RuneLen(r)], from: from + last, to: from + i + utf8.RuneLen(r), clause: clause, negated: denied})
		}
		last = i
	}
	return out
}

func isHan(r rune) bool {
	return r >= 0x3040 && r <= 0x30ff || r >= 0x3400 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xaa && r < 0x2000 && r != 0xab && r != 0xbb && r != 0xd7 && r != 0xb7
}

func isAlnum(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }

// stemOf returns a word in small letters without its ending, and whether it is one that denies: "doesn't".
func stemOf(word string) (stem string, denies bool) {
	w := strings.ToLower(word)
	if i := strings.IndexAny(w, "'’"); i > 0 {
		if strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t") {
			return w[:i], true
		}
		w = w[:i]
	}
	return stem1(w), false
}

// irregular are forms of verbs by what [stem1] makes of their first one.
var irregular = formsOf(`write wrote written, rewrite rewrote rewritten, overwrite overwrote overwritten, find found, run ran, break broke broken, build built, rebuild rebuilt, take took taken, give gave given, go went gone, see saw seen,
 make made, leave left, keep kept, send sent, tell told, think thought, begin began begun, choose chose chosen, hold held, know knew known, lead led, lose lost, mean meant, meet met, show shown, understand understood,
 hide hid hidden, throw threw thrown, catch caught, bring brought, fall fell fallen, grow grew grown, pay paid, seek sought, stick stuck, get got gotten, say said, speak spoke spoken, win won, feel felt, buy bought, try tries tried`)

func formsOf(list string) map[string]string {
	out := map[string]string{}
	for verb := range strings.SplitSeq(list, ",") {
		forms := strings.Fields(verb)
		for _, form := range forms[1:] {
			out[form] = ending(forms[0])
		}
	}
	return out
}

// stem1 removes the endings of English from a word in small letters; a word with other letters stays.
func stem1(w string) string {
	if stem, ok := irregular[w]; ok {
		return stem
	}
	return ending(w)
}

func ending(w string) string {
	if len(w) < 4 || isDigit(w[0]) {
		return w
	}
	if strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") {
		w = w[:len(w)-1]
	}
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		w = w[:len(w)-3]
	case len(w) > 4 && strings.HasSuffix(w, "ed"):
		w = w[:len(w)-2]
	}
	if len(w) > 3 && w[len(w)-1] == 'e' {
		w = w[:len(w)-1]
	}
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdfglmnprst", w[n-1]) >= 0 {
		w = w[:n-1]
	}
	if n = len(w); n > 3 && w[n-1] == 'y' {
		w = w[:n-1] + "i"
	}
	return w
}

// senseIn counts the words of a sentence that say something.
func senseIn(terms []term) (n int) {
	for _, t := range terms {
		if !t.empty {
			n++
		}
	}
	return n
}

// countsIn returns the numbers of a sentence.
func countsIn(terms []term) (out []term) {
	for _, t := range terms {
		if t.number {
			out = append(out, t)
		}
	}
	return out
}
