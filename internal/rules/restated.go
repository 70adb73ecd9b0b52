package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/internal/lazyregexp"
)

// Change is a statement of a person that a later one puts another value in the place of: "the
// deadline is 2027-03-01", then "the deadline is 2027-04-15".
type Change struct {
	Text string   // the older sentence
	Said int      // index of its text
	By   string   // the sentence that says what holds now
	At   int      // index of its text
	Was  []string // the values of the older sentence that do not hold any more: "2027-03-01"; never empty
}

// Bounds of what is compared.
const (
	mostStated   = 300      // bytes of a statement
	mostRestated = 100      // statements that a new one is compared with, the newest with a value of its kind
	mostHeard    = 32 << 10 // bytes of one text: nobody states more at once
	mostPlain    = 4 << 10  // bytes of one text in which things are said to be something in plain words
)

// Restated returns which statements of values in texts, said by one person in that order, a later
// one replaces. One does when it says the same in the same words with other values behind them; when it says that a thing
// is something else now, or is not what was said of it; or
// when it says that something changed ("now", "moved to", "the new code"), has a value of the same
// kind (an amount of money, a date, a time zone, a person, a branch, a code), and no other statement
// shares as much of its words, a word that few statements have counting for more; a statement with a
// value of another kind beside it is left to hold, since that may. Questions, and orders to be done once, state nothing. It takes time in
// proportion to the texts.
func Restated(texts []string) []Change {
	var out []Change
	var all [address + 1][]*statement // by the kinds of their values
	in := map[string]int{}            // how many statements a word stands in
	var known equations
	same := map[string]*statement{}
	for i, text := range texts {
		if len(text) > mostHeard {
			text = strings.ToValidUTF8(text[:mostHeard], "")
		}
		for _, typed := range ownWords(text) {
			for s := range sentences(typed) {
				s = strings.TrimSpace(unlisted(s))
				var again Change
				ok := false
				if len(text) <= mostPlain {
					again, ok = known.add(s, i)
				}
				st := stated(s, i)
				if st == nil {
					if ok {
						out = append(out, again)
					}
					continue
				}
				var old *statement
				var was []string
				if st.skeleton != "" {
					old, same[st.skeleton] = same[st.skeleton], st
				}
				if old != nil && !old.over {
					was = old.lacks(st, func(value) bool { return true })
				} else if old = st.changes(all[:], in); old != nil {
					was = old.lacks(st, func(v value) bool { return v.kind != anyValue })
				}
				if len(was) > 0 && old.said != i {
					out = append(out, Change{Text: old.text, Said: old.said, By: st.text, At: i, Was: was})
					old.over = true
				} else if ok {
					out = append(out, again)
				}
				for k := range all {
					if k > int(anyValue) && st.has(valueKind(k)) {
						all[k] = append(all[k], st)
					}
				}
				for k, w := range st.words {
					if !slices.Contains(st.words[:k], w) {
						in[w]++
					}
				}
			}
		}
	}
	return out
}

// States reports whether a short text of a person says what holds: it sets a rule, gives something a
// value, or has a label before it that says that it is a fact, a decision, a preference.
func States(text string) bool {
	if len(text) > mostStated {
		return false
	}
	if len(Find(text)) > 0 {
		return true
	}
	for _, typed := range ownWords(text) {
		for s := range sentences(typed) {
			if s = strings.TrimSpace(unlisted(s)); labelOf.MatchString(s) || stated(s, 0) != nil {
				return true
			}
		}
	}
	return false
}

// Aims reports whether a short text of a person says what the work is for, what the person likes, or what holds where
// the work is done: more than small talk does.
func Aims(text string) bool {
	return len(text) <= mostStated && (aiming.MatchString(text) || naming.MatchString(text))
}

// Changes reports whether a short text says that something is not as it was: "Jonas signs off now, not Marta."
func Changes(text string) bool {
	return len(text) <= mostStated && (freshly.MatchString(text) || contrary.MatchString(text))
}

// Labelled reports whether a text begins with what a person puts before a statement to say of which kind it is: "CONSTRAINT:",
// "Note:". What follows belongs together.
func Labelled(text string) bool { return labelOf.MatchString(strings.TrimSpace(text)) }

// statement is a sentence that says which value something has.
type statement struct {
	text     string
	said     int
	skeleton string // its words, with a mark in the place of each value that it states
	values   []value
	words    []string // beginnings of the words that say of what
	fresh    bool     // it says that something changed
	over     bool     // a later one has replaced it
}

type value struct {
	text string
	kind valueKind
}

// valueKind is what a value is one of.
type valueKind uint8

const (
	anyValue valueKind = iota // a number, a version, a file: nothing that a thing has one of
	money
	date
	zone
	person
	branch
	code
	address
)

// lacks returns the values of a statement, of those that count, that a later one does not have.
func (s *statement) lacks(now *statement, counts func(value) bool) (out []string) {
	for _, v := range s.values {
		if counts(v) && !slices.ContainsFunc(now.values, func(o value) bool { return strings.EqualFold(o.text, v.text) }) {
			out = append(out, v.text)
		}
	}
	return out
}

// stated reads a sentence; nil when it states no value.
func stated(s string, said int) *statement {
	if len(s) < leastRule || len(s) > mostStated || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || !mayState(s) || isCodeBut(s) || isReported(s) {
		return nil
	}
	label := 0
	if loc := labelOf.FindStringIndex(s); loc != nil {
		label = loc[1]
	}
	body := s[label:]
	at, end := says(body)
	st := &statement{text: s, said: said, fresh: freshly.MatchString(s)}
	mayBe, tokens := languageOf(body)
	from := max(end, 0) // of what is stated
	if label == 0 && (at < 0 && (!st.fresh || orders(body, mayBe[0], tokens)) || at >= 0 && !st.fresh && !definite.MatchString(body[:at])) {
		if kind := read(body).kind; kind != Rule && kind != Value {
			return nil
		}
	}
	var frame strings.Builder
	gives := st.fresh || label > 0 // whether a value stands where the sentence gives one
	named := at >= 0 && theOne.MatchString(body[at:])
	forbids := aboutOf(body, mayBe[0]).forbids // two things may be forbidden
	for _, t := range valued(body) {
		if t.kind != noValue {
			st.values = append(st.values, value{t.text, t.kind})
			gives = gives || t.at >= from || named
			one := t.kind == money || t.kind == date || t.kind == zone
			if t.at >= from && !forbids && (at >= 0 || one) || named && t.kind != anyValue {
				frame.WriteString("\x00 ")
				continue
			}
		}
		frame.WriteString(strings.ToLower(t.text) + " ")
		for part := range strings.SplitSeq(t.text, "-") {
			if w := stemOf(part); w != "" {
				st.words = append(st.words, w)
			}
		}
	}
	const least = 3 // words by which a statement is known again
	if len(st.values) == 0 || !gives {
		return nil
	}
	if st.skeleton = frame.String(); strings.Count(st.skeleton, " ")-strings.Count(st.skeleton, "\x00") < least || !strings.Contains(st.skeleton, "\x00") {
		st.skeleton = ""
	}
	return st
}

// changes returns the one of older statements, by the kinds of their values, that a statement in other words replaces; nil
// for none. in says in how many statements a word stands.
func (s *statement) changes(older [][]*statement, in map[string]int) *statement {
	if !s.fresh {
		return nil
	}
	var found *statement
	best := 0.0
	for k, list := range older {
		if !s.has(valueKind(k)) {
			continue
		}
		for _, old := range list[max(len(list)-mostRestated, 0):] {
			if old.over || old == found || !s.covers(old) {
				continue
			}
			shared := 0.0
			for i, w := range s.words {
				if slices.Contains(old.words, w) && !slices.Contains(s.words[:i], w) {
					shared += 1 / float64(in[w])
				}
			}
			switch {
			case shared > best:
				best, found = shared, old
			case shared == best:
				found = nil // it may be either
			}
		}
	}
	return found
}

// covers reports whether a statement has a value of each kind that an older one has one of.
func (s *statement) covers(old *statement) bool {
	return !slices.ContainsFunc(old.values, func(v value) bool { return v.kind != anyValue && !s.has(v.kind) })
}

// orders reports whether a sentence tells somebody to do something: "now ask …", "please deploy to …".
func orders(s string, x *lexicon, tokens []token) bool {
	for _, c := range clauses(x.words(s, tokens)) {
		if c = c.bare(); len(c) > 0 {
			if c[0].class&(task|habit|bare|order) != 0 {
				return true
			}
			break
		}
	}
	lead := leading.FindStringIndex(s)
	if lead == nil {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[lead[1]:])
	return !unicode.IsUpper(r) && !subject.MatchString(s[lead[1]:])
}

// has reports whether a statement has a value of a kind that a thing has one of.
func (s *statement) has(k valueKind) bool {
	return slices.ContainsFunc(s.values, func(v value) bool { return v.kind == k && k != anyValue })
}

// mayState reports whether a sentence may have a value. It is far cheaper than the patterns.
func mayState(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '`', i > 0 && c >= 'A' && c <= 'Z', c >= 0xc3 && i > 0 && s[i-1] == ' ':
			return true
		}
	}
	return numberWord.MatchString(s)
}

// noValue is the kind of a word that is no value.
const noValue = valueKind(255)

type valuedWord struct {
	text string
	kind valueKind
	at   int
}

// valued returns the words of a sentence, and of some together those that are one value: "Priya
// Natarajan", "August 21", "five hundred dollars".
func valued(s string) (out []valuedWord) {
	for at := 0; at < len(s); {
		if loc := valuesWords.FindStringIndex(s[at:]); loc != nil && loc[0] == 0 && boundary(s, at) {
			text := strings.TrimRight(s[at:at+loc[1]], ".,;:!")
			if k := kindOf(text, s); k != noValue {
				out = append(out, valuedWord{text, k, at})
				at += loc[1]
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[at:])
		if !wordRune(r) {
			at += n
			continue
		}
		end := at
		for end < len(s) {
			r, n := utf8.DecodeRuneInString(s[end:])
			if !wordRune(r) && !strings.ContainsRune("-./", r) {
				break
			}
			end += n
		}
		out = append(out, valuedWord{strings.TrimRight(s[at:end], ".-/"), noValue, at})
		at = end
	}
	return out
}

// boundary reports whether no word runs on into the byte at.
func boundary(s string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return at == 0 || !wordRune(r) && r != '-' && r != '/' && r != '.'
}

// kindOf returns what a word or some of a sentence may be a value of.
func kindOf(text, s string) valueKind {
	switch {
	case moneyValue.MatchString(text):
		return money
	case dateValue.MatchString(text):
		return date
	case zoneValue.MatchString(text):
		return zone
	case strings.Contains(text, "://") || hostValue.MatchString(text):
		return address
	case branchValue.MatchString(text) && branchWord.MatchString(s):
		return branch
	case codeValue.MatchString(text):
		return code
	case personValue.MatchString(text):
		if first, _, _ := strings.Cut(text, " "); opening[strings.ToLower(first)] {
			return noValue
		}
		return person
	case strings.ContainsAny(text, "0123456789"):
		return anyValue
	}
	return noValue
}

// stemOf returns the beginning of a word that says what a statement is about; "" for the words that
// stand in any.
func stemOf(word string) string {
	word = folded(word)
	r, _ := utf8.DecodeRuneInString(word)
	if !unicode.IsLetter(r) || r < 0x1100 && utf8.RuneCountInString(word) < 4 || hollow[word] {
		return ""
	}
	const letters, signs, least = 5, 4, 3
	if runes := []rune(word); r >= 0x1100 { // a script without spaces
		return string(runes[:min(len(runes), signs)])
	}
	for _, end := range []string{"ing", "ers", "ed", "er", "es", "s"} {
		if rest := strings.TrimSuffix(word, end); rest != word && utf8.RuneCountInString(rest) >= least {
			word = rest
			break
		}
	}
	if runes := []rune(word); len(runes) > letters {
		return string(runes[:letters])
	}
	return word
}

// hollow are the words that say nothing of what a statement is about.
var hollow = set("this|that|from|with|under|below|above|into|onto|over|must|should|never|always|keep|report|show|the|have|been|will|than|then|they|them|there|here|what|which|when|week|today|update|quick|moved|changed|total|current|currently|please|next|step|user|want|users|using|used|running|also|only|all|any|each|every|until|before|after|time")

// opening are words that begin a sentence and no name.
var opening = set("the|our|my|your|this|that|these|those|a|an|in|on|at|for|to|and|but|if|when|please|also|now|use|der|die|das|ein|eine|unser|unsere|mein|meine|le|la|les|un|une|notre|mon|ma|el|los|las|una|nuestro|nuestra|mi|il|lo|gli|i|o|os|as|nosso|nossa|update|new|production|staging|project|release|launch|build|test|field")

var (
	// labelOf recognizes what a person puts before a statement to say of which kind it is.
	labelOf = lazyregexp.New(`^(?:[A-Z][A-Z _-]{2,28}|(?i:fact|note|constraint|rule|decision|preference|reminder|update|correction|info|fyi|wichtig|hinweis|regel|nota|règle|décision|regla|decisión|regola|注意|事实|规则|重要|メモ|ルール))\s*[:：]\s*`)
	// aiming recognizes what says a goal, a wish, what is liked, or what has to be.
	aiming = lazyregexp.New(`(?i)\b(?:goal|aim|point|purpose|objective|target)s?\b[^.!?\n]{0,60}?\b(?:is|are|was)\b|\b(?:we|i)(?:'re| are|'m| am|'d| would)? (?:want|need|plan|hope|aim|trying|rather|intend|like|love|prefer|hate|dislike|support|expect)\b|\b(?:should|must|has to|have to|needs? to)\b|^\s*(?:please|only|always|never)\b` +
		`|\b(?:Ziel|Zweck|Sinn)\b[^.!?\n]{0,60}?\b(?:ist|sind|war)\b|\b(?:wir|ich) (?:wollen|will|möchten?|brauchen?|mag|mögen|bevorzugen?|hoffen?)\b|\b(?:soll(?:te|en|ten)?|muss|müssen)\b|^\s*bitte\b` +
		`|\b(?:but|objectif)\b[^.!?\n]{0,60}?\best\b|\b(?:nous|on|je) (?:voul|veu|préfèr|souhait)\w*|\b(?:j'aime|doi(?:t|vent)|devrai(?:t|ent)|il faut)\b|\bobjetivo\b|\b(?:queremos|quiero|prefiero|preferimos|me gusta\w*|necesitamos|debe\w*|tiene que|tienen que)\b|\b(?:obiettivo|vogliamo|voglio|preferisco|dev(?:e|ono))\b|\b(?:queremos|quero|prefiro|gosto|precisamos)\b` +
		`|цель|хотим|хочу|предпочита|нужно|должн|目标|目的是|我们想|我想|希望|需要|必须|喜欢|偏好|最好|应该|目標|目的は|したい|ほしい|欲しい|好み|べき|必要|方がいい|목표|원해|싶|좋겠|해야`)
	// contrary recognizes what takes back a name: "Jonas signs off, not Marta."
	contrary = lazyregexp.New(`(?i)(?:, (?:and |und |et |e |y |а )?| (?:and|und|et|y|e|а) )(?:not|nicht|pas|non|no|não|не) ([\p{L}\p{N}][\p{L}\p{N}._-]*(?: [\p{Lu}\p{N}][\p{L}\p{N}._-]*){0,3})[.!]?$|[，、]而?不是([\p{L}\p{N}._-]{1,20})[。！]?$`)
	// naming recognizes what somebody gave a name: db-stg-4, CN-2291-B, acme-invoices-eu, 3.9, 04:30.
	naming = lazyregexp.New(`\b[\p{L}\p{N}]+(?:[-_:./][\p{L}\p{N}]+)*[-_:./]?\p{N}[\p{L}\p{N}]*|\b\p{Ll}+(?:[-_/]\p{Ll}+){2,}|\b\w+\.\w{2,5}\b`)
	// copula recognizes the words between a thing and its value.
	copula = lazyregexp.New(`(?i)(?:^|[\s,])(?:is(?: now| currently| at| set to)?|are(?: now)?|will be|stays at|lies at|stands at|lands on|runs on|equals|has become|becomes|must (?:stay|be)(?: at)?(?: or below)?|ist(?: jetzt)?|sind|lautet|beträgt|est(?: désormais| maintenant)?|sont|es(?: ahora)?|son|está|è(?: ora| adesso)?|sono|é(?: agora)?|são|это|теперь)(?:[\s:]|$)|=|是|为|は|는 |은 `)
	// definite begins the name of a thing that there is one of.
	definite = lazyregexp.New(`(?i)(?:^|[\s,])(?:the|our|my|your|this|der|die|das|unser\w*|mein\w*|le|la|les|l'|notre|mon|ma|el|los|las|nuestr\w+|mi|il|lo|i|gli|nostr\w+|o|a|os|as|nosso|nossa)(?:[\s]|$)|[\x{3040}-\x{9fff}\x{ac00}-\x{d7a3}\x{400}-\x{4ff}]`)
	// numberWord recognizes an amount in words.
	numberWord = lazyregexp.New(`(?i)\b(?:hundred|thousand|million|dollars|euros|pounds|time)\b`)
	// theOne begins what says of one thing what it is: "… is the release approver".
	theOne = lazyregexp.New(`(?i)^[\s,]*(?:is|are|ist|est|es|è|é)(?: now)? (?:the|our|der|die|das|unser\w*|le|la|el|il|lo|o|a)\b`)
	// leading are the words before an order.
	leading = lazyregexp.New(`(?i)^(?:(?:ok(?:ay)?|so|and|please|now|next|then|bitte|jetzt|maintenant|ahora|adesso|agora|теперь)[\s,]+)+`)
	// subject begins a sentence that says who or what.
	subject = lazyregexp.New(`(?i)^(?:the|our|my|your|this|that|we|i|it|they|there|der|die|das|wir|ich|es|le|la|les|nous|on|je|el|los|las|il|noi|o|a|nós|мы|я)\b`)
	// freshly says that something changed.
	freshly = lazyregexp.New(`(?i)(?:^|[^\p{L}])(?:now|from now on|update|updated|moved to|changed?|has changed|new|switched|rebased|rotated|rotation|renamed|replaced|instead|no longer|retired|has become|as of (?:today|now)|going forward|correction|jetzt|ab jetzt|ab sofort|künftig|neu(?:e[nrsm]?)?|geändert|umbenannt|verschoben|maintenant|désormais|nouveau|nouvelle|changé|déplacée?|ahora|a partir de ahora|nuev[oa]|cambiad[oa]|cambió|adesso|d'ora in poi|nuov[oa]|cambiat[oa]|spostat[oa]|agora|a partir de agora|nov[oa]|mudou|alterad[oa]|теперь|отныне|нов(?:ый|ая|ое)|изменил\w*|перенес\w*)(?:[^\p{L}]|$)|现在|改为|改成|更新|今後|変更|新しい|이제|변경`)

	// valuesWords finds one word that may be a value, or some that are one together.
	valuesWords = lazyregexp.New(`^(?:[$€£¥]\s?\d[\d.,]*(?:\s?[kKmM])?\b|\d[\d.,]*\s?(?i:dollars?|euros?|usd|eur|pounds?|€|\$|£)|(?i:(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:hundred|thousand|million))?(?:[ -](?:dollars?|euros?|pounds?)))|\d{4}-\d{2}-\d{2}|(?:(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?)|\d{1,2}\.?\s+(?:January|February|March|April|May|June|July|August|September|October|November|December|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)(?:\s+\d{4})?|(?i:(?:pacific|eastern|central|mountain)(?: standard| daylight)? time)|[a-z][a-z0-9+.-]*://[^\s"'<>]+|\p{Lu}[\p{Ll}'’-]+(?:\s+\p{Lu}[\p{Ll}'’-]+)+|` + "`[^`]+`" + `|[\p{L}\p{N}_$][\p{L}\p{N}_%$€./@:+-]*)`)

	moneyValue  = lazyregexp.New(`(?i)^(?:[$€£¥]\s?\d|.*\b(?:dollars?|euros?|usd|eur|pounds?)$|\d[\d.,]*\s?[€$£]$)`)
	dateValue   = lazyregexp.New(`(?i)^(?:\d{4}-\d{2}-\d{2}$|(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d|\d{1,2}\.?\s+\p{L})`)
	zoneValue   = lazyregexp.New(`^(?:UTC|GMT|CET|CEST|PST|PDT|EST|EDT|MST|JST|IST|BST)(?:[+-]\d+)?$|^(?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Pacific|Etc|Zone)/[A-Z]\w+|(?i)^(?:pacific|eastern|central|mountain)(?: standard| daylight)? time$`)
	hostValue   = lazyregexp.New(`^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|internal|local|cloud|app|ai|cn|jp|de|fr)(?:[:/]\S*)?$`)
	branchValue = lazyregexp.New("^`?[a-z][\\w.-]*(?:/[\\w.-]+)+`?$")
	branchWord  = lazyregexp.New(`(?i)\b(?:branch|rebased?|checked out|checkout|zweig|branche|rama|ramo)\b|ветк|分支|ブランチ|브랜치`)
	codeValue   = lazyregexp.New("^`?(?:[A-Z][A-Z0-9]+(?:[-_][A-Z0-9]+)*-?\\d+|[A-Z]{3,}(?:[-_][A-Z0-9]+)+|[a-z]{3,}-\\d{2,}|[0-9a-f]*\\d[0-9a-f]*[a-f][0-9a-f]{3,})`?$")
	personValue = lazyregexp.New(`^\p{Lu}[\p{Ll}'’-]+(?:\s+\p{Lu}[\p{Ll}'’-]+)+$`)
)

// says returns where the first word stands that gives a thing its value, and its end; -1 for none.
func says(s string) (from, to int) {
	loc := copula.FindStringIndex(s)
	if loc == nil {
		return -1, -1
	}
	return loc[0], loc[1]
}

// isCodeBut reports whether a sentence is code, signs of money aside.
func isCodeBut(s string) bool { return isCode(strings.NewReplacer("$", "", "=", "").Replace(s)) }
