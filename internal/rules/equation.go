package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis/internal/lazyregexp"
)

// equation is a sentence that says of one thing what it is, with words or numbers of any kind: "the meeting room is
// Borealis", "we use port 8080 for the proxy".
type equation struct {
	text  string
	said  int
	of    string // what it says it of, folded, with a mark in the place of the value
	value string
	fresh bool   // it says that this is so now
	not   string // what it says is not so any more: "…, not Marta"
	deny  string // that with the word that denies it
	over  bool   // a later one has replaced it
}

// How many words the name of a thing has, and what it is said to be, and how many bytes that has.
const (
	mostEqual = 7
	mostValue = 100
)

// equate reads a sentence; nil when it says of nothing what it is.
func equate(s string, said int) *equation {
	if len(s) > mostStated || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || isReported(s) {
		return nil
	}
	e := &equation{text: s, said: said}
	body := strings.TrimRight(s, ".!。！ ")
	if loc := labelOf.FindStringIndex(body); loc != nil {
		body = body[loc[1]:]
	}
	if m := contrary.FindStringSubmatch(body); m != nil && !supposing.MatchString(body) {
		e.not, e.deny, body = m[1]+m[2], strings.Trim(m[0], ",，、 "), strings.TrimSuffix(body, m[0])
	}
	bare := sinceNow.ReplaceAllString(body, " ")
	e.fresh = bare != body
	bare = strings.Join(strings.Fields(bare), " ")
	least := 3 // words by which it is known again, the mark among them
	if m := equal.FindStringSubmatch(bare); m != nil {
		e.of, e.value = m[1]+" \x00", m[2]
	} else if m = equalAsian.FindStringSubmatch(bare); m != nil {
		e.of, e.value, least = m[1]+" \x00", m[2], 2
		e.fresh = e.fresh || changedTo.MatchString(bare)
	} else if at := habitual.FindStringIndex(bare); at != nil {
		if set := setTo.FindStringIndex(bare[at[1]:]); set != nil {
			from, to := at[1]+set[0], at[1]+set[1]
			e.of, e.value = bare[:from]+"\x00"+bare[to:], strings.TrimSpace(bare[from:to])
		}
	}
	if n := len(strings.Fields(e.of)); n < least || n > 2*mostEqual || len(strings.Fields(e.value)) > mostEqual || len(e.value) > mostValue {
		return e.orNot()
	}
	if e.of = strings.ToLower(e.of); strings.ToLower(e.value) == e.value && !strings.ContainsAny(e.value, "0123456789") && isLatin(e.value) && !settings.MatchString(e.of) {
		e.fresh = e.fresh && forGood.MatchString(body) // "the page is blank now": it may be slow all the same
	}
	e.fresh = e.fresh && !supposing.MatchString(body)
	return e
}

// isLatin reports whether a text begins with a letter of a script that has capitals.
func isLatin(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// orNot returns a sentence that says no more than what is not so any more.
func (e *equation) orNot() *equation {
	e.of, e.value = "", ""
	if e.not == "" {
		return nil
	}
	return e
}

// equations keeps what was said of things, and finds what a later sentence replaces.
type equations struct {
	of  map[string]*equation
	all []*equation // those that another may take back by "not …", the newest last
}

// add returns what a sentence replaces; ok is false when it replaces nothing.
func (q *equations) add(s string, said int) (c Change, ok bool) {
	e := equate(s, said)
	if e == nil {
		e = &equation{text: s, said: said}
	}
	if old := q.of[e.of]; e.of != "" && old != nil && (e.fresh || strings.EqualFold(e.not, old.value)) && !old.over && old.said != said && !strings.EqualFold(old.value, e.value) {
		old.over, c, ok = true, Change{Text: old.text, Said: old.said, By: s, At: said, Was: []string{old.value}}, true
	} else if old := q.taken(e); old != nil {
		old.over, c, ok = true, Change{Text: old.text, Said: old.said, By: s, At: said, Was: []string{e.not}}, true
	}
	if e.of != "" {
		if q.of == nil {
			q.of = map[string]*equation{}
		}
		q.of[e.of] = e
	}
	if len(s) <= mostStated {
		q.all = append(q.all, e)
	}
	return c, ok
}

// taken returns the newest sentence with what another says is not so any more, and with half of its other words.
func (q *equations) taken(e *equation) *equation {
	if e.not == "" {
		return nil
	}
	words := stems(strings.Replace(e.text, e.not, "", 1))
	for _, old := range slices.Backward(q.all[max(len(q.all)-mostRestated, 0):]) {
		i := strings.Index(old.text, e.not)
		if i < 0 || old.over || old.said == e.said || strings.Contains(old.text, e.deny) || old.rule() || strings.HasSuffix(old.text, "?") ||
			!boundary(old.text, i) || wordAt(old.text, i+len(e.not)) {
			continue
		}
		rest := stems(strings.Replace(old.text, e.not, "", 1))
		shared := 0
		for _, w := range rest {
			if slices.Contains(words, w) {
				shared++
			}
		}
		if shared > 0 && shared*2 >= len(rest) {
			return old
		}
	}
	return nil
}

// rule reports whether a sentence sets a rule, which other words end, see [Fold].
func (e *equation) rule() bool {
	return slices.ContainsFunc(Find(e.text), func(s Sentence) bool { return s.Kind == Rule })
}

// wordAt reports whether a word goes on at a byte.
func wordAt(s string, at int) bool {
	r, _ := utf8.DecodeRuneInString(s[at:])
	return at < len(s) && wordRune(r)
}

// stems returns the beginnings of the words that say what a sentence is about.
func stems(s string) (out []string) {
	for _, t := range valued(s) {
		if w := stemOf(t.text); w != "" {
			out = append(out, w)
		}
	}
	return out
}

var (
	// settings are things that are one of several at a time.
	settings = lazyregexp.New(`\b(?:default|theme|mode|format|style|language|colou?r|priority|level|unit|order|strategy|policy|plan|target|goal|limit|budget|deadline|date|day|time|room|place|owner|name|title|branch|host|port|region|version|currency|license|contact|reviewer|approver|thema|modus|sprache|farbe|name|langue|thème|couleur|nom|idioma|tema|color|nombre|lingua|colore)\b`)
	// forGood says that something holds from now on, and not only that it is so at the moment.
	forGood = lazyregexp.New(`(?i)\b(?:instead|from now on|from here on|going forward|from today|ab jetzt|ab sofort|künftig|stattdessen|désormais|dorénavant|a partir de ahora|en su lugar|d'ora in poi|invece|a partir de agora|отныне)\b`)
	// supposing begins what is not said to be so.
	supposing = lazyregexp.New(`(?i)\b(?:if|whether|unless|when|once|would|could|might|wenn|falls|ob|si|quand|cuando|se|quando|если|когда)\b|如果|假如|もし|なら|たら|만약|으면`)
	// sinceNow are the words that say that something is so from now on.
	sinceNow = lazyregexp.New(`(?i)(?:^|[\s,]+)(?:now|instead|currently|from now on|from here on|from today(?: on)?|as of (?:today|now)|going forward|these days|jetzt|ab jetzt|ab sofort|ab heute|künftig|stattdessen|désormais|maintenant|dorénavant|ahora|a partir de ahora|en su lugar|adesso|d'ora in poi|invece|agora|a partir de agora|теперь|отныне)(?:[\s,:]+|$)|现在|今后|從現在起|从现在起|今後は?、?|これからは?、?|이제(?:부터)?`)
	// equal recognizes "the meeting room is Borealis": what it is said of, and the value.
	equal = lazyregexp.New(`(?i)^((?:the|our|my|your|der|die|das|unser\w*|mein\w*|le|la|les|l'|notre|mon|ma|el|los|las|nuestr\w+|mi|il|lo|nostr\w+|o|a|nosso|nossa|наш\w*)\s*[\p{L}\p{N}][\p{L}\p{N}'’_/ -]{1,60}?) (?:is|are|is called|is named|is set to|stays|remains|ist|sind|heißt|lautet|est|sont|s'appelle|es|son|está|se llama|è|sono|é|são|это) (?:the |at |on |in |called |der |die |das |le |la |el |il )?([\p{L}\p{N}$€£#"` + "`" + `][^,;]*)$`)
	// equalAsian recognizes the same in Chinese, Japanese and Korean.
	equalAsian = lazyregexp.New(`^([\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{L}\p{N} ]{2,20}?)(?:已?改为|已?改成|设为|换成|是|为|は、?|은 |는 )([^，。、,]{1,30}?)(?:です|でお願いします|に変更(?:します|です|しました)?|になりました|にします|とします|입니다|로 바꿉니다|로 변경합니다)?$`)
	changedTo  = lazyregexp.New(`改为|改成|换成|に変更|になりました|로 바꿉니다|로 변경`)
	// habitual recognizes what says how things are done, before what they are done with.
	habitual = lazyregexp.New(`(?i)\b(?:use[sd]?|runs? (?:on|at|in)|listens? (?:on|at|to)|go(?:es)? (?:to|through|over)|deploys? to|points? (?:to|at)|lives? (?:in|on|at|under)|sits? (?:on|in|at)|starts? (?:at|on|in)|ends? (?:at|on)|happens? (?:at|on)|costs?|belongs? to|connects? to|talks? to|sends? to|writes? to|reads? from|nutz\w+|verwend\w+|läuft (?:auf|in)|liegt (?:auf|in|unter)|beginnt (?:um|am)|utilis\w+|tourne sur|se trouve (?:dans|sur)|commence à|us(?:a|amos|an)|corre en|está en|empieza a)\b`)
	// setTo recognizes the first thing behind that: a name, a number, a path.
	setTo = lazyregexp.New(`(?:^|\s)(?:[\p{L}]*[\p{N}][\p{L}\p{N}._:/-]*|\p{Lu}[\p{L}\p{N}._-]*|[\p{L}\p{N}]+(?:[-_./:][\p{L}\p{N}]+)+)`)
)
