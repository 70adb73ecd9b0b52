package digest

import (
	"slices"
	"strings"
	"sync"

	"precis/internal/lazyregexp"
	"precis/internal/preview"
)

// userSays begins what a summary says that the user said, wants or allows; the group is what.
var userSays = lazyregexp.New(`(?i)(?:^\W*|[,;(:] ?|[–—-] |\b(?:as|because|since|that|and|which|what|where|but|so) )(?:the )?user\s+(?:(?:has|had|have|also|then|explicitly|clearly|later|initially|specifically|strongly|always|repeatedly|now|just|already)\s+)*` +
	`((?:said|says|stated|wants?|wanted|prefers?|preferred|requires?|required|approved|approves|agreed|agrees|confirmed|allowed|allows|permitted|insisted|insists|requested|asked|asks|told|instructed|demanded|demands|decided|authorized|expects|expected|likes|dislikes|hates|forbade|forbids|chose|accepted|granted)\b|(?:does not|doesn't|did not|didn't|never) (?:want|wanted|like|allow|accept)\b)(.*)` +
	`|(?:der|die) (?:benutzer|nutzer|user|anwender)(?:in)? ((?:will|möchte|wünscht|verlangt|sagte|erlaubte|genehmigte|bevorzugt|besteht|hat)\b)(.*)` +
	`|l['’]utilisat(?:eur|rice) ((?:veut|souhaite|préfère|exige|demande|a (?:demandé|approuvé|dit|autorisé|accepté))\b)(.*)` +
	`|(?:el usuario|la usuaria) ((?:quiere|prefiere|exige|pidió|dijo|aprobó|autorizó|ha (?:pedido|aprobado|dicho))(?:\s|$))(.*)` +
	`|(?:用户|用戶|使用者)(?:已经|已經|明确|明確)?(想要|想|要求|要|希望|说|說|批准|同意|偏好|允许|允許)(.*)` +
	`|ユーザーは(.*?)(.*)(?:望んで|希望し|要求し|承認し|言いました|言った|許可し|好み)`)

// onRequest says that what stands beside it was done because the user said so.
var onRequest = lazyregexp.New(`(?i)\b(?:on|at|following|per|by|after) (?:the )?user['’]s (?:explicit )?(?:suggestion|request|wish|advice|insistence|instructions?|demand|approval),?|,? ?\b(?:as )?(?:suggested|requested|demanded|instructed) by the user\b|,? ?\bas (?:the )?user (?:had )?(?:told|asked|wanted|requested|instructed|wished|demanded)(?: (?:me|us|for|to))*\b,?`)

// Shares of the words of an instruction that persons must have said: one of them at once, and all together.
const (
	saidAtOnce   = 0.45
	saidUnheard  = 0.65 // at once, where neither a person nor the agent said one of the words
	saidTogether = 0.8
	saidOfFew    = 0.2 // at once, of one or two words that were said by somebody
)

// instruction doubts what the user is said to have said, wanted or allowed, when no person's words bear it out.
func (d *doubter) instruction(s statement) bool {
	verb, what := "", ""
	m := userSays.FindStringSubmatch(s.text)
	for i := 1; i+1 < len(m); i += 2 {
		if m[i]+m[i+1] != "" {
			verb, what = m[i], m[i+1]
		}
	}
	if at := onRequest.FindStringIndex(s.text); at != nil && (m == nil || senseIn(termsOf(what)) == 0) {
		if verb, what = "asked", s.text[at[1]:]; senseIn(termsOf(what)) < 2 {
			what = s.text[:at[0]]
		}
	} else if m == nil {
		return false
	}
	if d.notSaid(s, verb, what) {
		return true
	}
	if m := userAlso.FindStringSubmatch(what); m != nil {
		return d.notSaid(s, m[1], m[2])
	}
	return false
}

// userAlso is what a sentence says behind that of the user, too.
var userAlso = lazyregexp.New(`(?i),? (?:and|but) (?:(?:also|then|later|explicitly|they) )*(added|wants?|wanted|asked|told|said|insisted|insists|requires?|required|prefers?|preferred|stressed|demanded|requested)\b(.*)`)

// notSaid doubts that the user said something.
func (d *doubter) notSaid(s statement, verb, what string) bool {
	if isLatin(what) != isLatin(d.in.userWords()) {
		return false // a translation cannot be looked up
	}
	for _, end := range []string{" (", ", which ", ", and ", ", but ", ", so ", " - ", " — "} { // remarks of the writer
		if i := strings.Index(what, end); i > 0 {
			what = what[:i]
		}
	}
	if strings.HasSuffix(what, ":") {
		return false // what follows says it
	}
	words := termsOf(what)
	sense := 0
	for _, t := range words {
		if !t.empty {
			sense++
		}
	}
	if sense == 0 {
		return false
	}
	if m := choseNumber.FindStringSubmatch(what); m != nil && d.otherOption(s, m[1]) {
		return true
	}
	best, at, all := d.in.personsHold(words, false)
	unheard := slices.ContainsFunc(words, func(t term) bool { return !t.empty && !generalWords()[t.stem] && !d.in.witness().spoken(t.stem) })
	least := saidAtOnce
	if unheard {
		least = saidUnheard
	}
	if best < least && all < saidTogether && (sense > 2 || best < saidOfFew || unheard) {
		d.doubt(d.shown(s), doubtInstruction, "no words of the user say so", nil)
		return true
	}
	if d.otherNumber(s, func(r *remark) bool { return r.who == byPerson }) {
		return true
	}
	if at == nil || best < sameSense {
		return false
	}
	denies := strings.Contains(strings.ToLower(verb), "not ") || strings.Contains(verb, "n't ") || strings.HasPrefix(strings.ToLower(verb), "never")
	given := signedTerms(what)
	if denies {
		given = signedTerms("does not " + what)
	}
	for _, sentence := range sentencesIn(at.text) {
		if asks(sentence) && !asksNot.MatchString(sentence) {
			continue // "can we not …?" denies nothing
		}
		if same, other := d.in.witness().agree(given, signedTerms(sentence)); other && !same {
			h := d.at(at.at)
			d.doubt(d.shown(s), doubtInstruction, "the user said: "+preview.Line(sentence, 160), &h)
			return true
		}
	}
	return false
}

// asksNot is a prohibition in the form of a question to the agent: "could you please not commit yet?"
var asksNot = lazyregexp.New(`(?i)\b(?:can|could|would|will) you (?:please )?(?:just )?not\b|\b(?:do not|don'?t)\b`)

// generalWords are the stems of words in which any wish may be told, whoever said it in others.
var generalWords = sync.OnceValue(func() map[string]bool {
	return stems(`fix add create make change modify update edit write implement build improve clean refactor remove delete rename move replace rewrite extract introduce handle support ensure verify check review
 investigate analyze examine explore clarify explain understand know confirm continue proceed complete finish start begin work run test debug resolve solve address provide include keep issue problem bug error feature
 solution approach implementation functionality behavior code changes thing task request question way new existing current proper correct properly correctly instead simple simpler better`)
})

// asks reports whether a sentence is a question.
func asks(sentence string) bool {
	sentence = strings.TrimRight(sentence, " \t\r\n\"')*_")
	return strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？")
}

// choseNumber is a choice by its number.
var choseNumber = lazyregexp.New(`(?i)^\W*(?:for |to go with )?(?:option|choice|variant|approach|alternative)\s+#?(\d)\b`)

// otherOption doubts the number of what the user chose when the short replies of persons name other numbers, and none that one.
func (d *doubter) otherOption(s statement, number string) bool {
	var other *heard
	persons := d.in.persons()
	for i := range persons {
		h := &persons[i]
		if h.own > shortReply {
			continue
		}
		for _, t := range h.terms[:h.own] {
			if t.number && t.stem == number {
				return false
			}
			if t.number && len(t.stem) == 1 {
				other = h
			}
		}
	}
	if other == nil {
		return false
	}
	at := d.at(other.at)
	d.doubt(d.shown(s), doubtInstruction, "the user said: "+preview.Line(other.text, 160), &at)
	return true
}

// sentencesIn returns the sentences of a text.
func sentencesIn(text string) (out []string) {
	for line := range strings.Lines(text) {
		for _, cut := range sentencesOf(line) {
			out = append(out, line[cut[0]:cut[1]])
		}
	}
	return out
}
