package standing

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
)

// Steps that a person gives up by their place in the plan: "forget step 3", "drop 2 and 3", "skip the last step", in nine languages.
// The first group that matches is the places, or the word for one.
var dropsPlace = lazyregexp.All(
	`(?i)`+clauseStart+`(?:drop|scrap|forget(?: about)?|abandon|discard|ditch|cancel|skip|leave out|park|shelve|postpone|defer)\s+(?:the\s+)?(?:(?:steps?|items?|points?|tasks?|todos?|numbers?|nr\.?|no\.?)\s*)?((?:#?\d{1,2}(?:\s*(?:,|and|&|or)\s*)*)+)\s*(?:please|entirely|completely|altogether|for now|then|too|instead|as well)?\s*(?:$|[,;:—–-])`,
	`(?i)`+clauseStart+`(?:drop|scrap|forget(?: about)?|abandon|discard|ditch|cancel|skip|leave out|remove|park|shelve|postpone|defer)\s+(?:the\s+)?(first|second|third|fourth|fifth|last|final)\s+(?:step|item|point|task|todo|one)\b`,
	`(?i)\b(?:the\s+)?(?:step|item|point|task)s?\s+((?:#?\d{1,2}(?:\s*(?:,|and|&)\s*)*)+)\s*(?:is|are|isn'?t|aren'?t)\s+(?:not\s+needed|no longer needed|needed any ?more|obsolete|off|out|cancel+ed|dropped)\b`,
	`(?i)\bschritte?\s+((?:\d{1,2}(?:\s*(?:,|und)\s*)*)+)\s+(?:lassen wir|lass|streichen wir|streich\w*|überspringen wir|überspring\w*|brauchen wir nicht|fällt weg|fallen weg|entfällt|entfallen|ist nicht (?:nötig|mehr nötig))`,
	`(?i)(?:^|[\s,;])(?:vergiss|streich\w*|überspring\w*|lass\w*(?: wir)?|verwirf)\s+(?:den |die )?schritte?\s+((?:\d{1,2}(?:\s*(?:,|und)\s*)*)+)`,
	`(?i)(?:^|[\s,;])(?:oublie[zr]?|laisse[zr]? tomber|abandonne[zr]?|saute[zr]?|ignore[zr]?|passe[zr]?)\s+(?:l'|les |l’)?étapes?\s+((?:\d{1,2}(?:\s*(?:,|et)\s*)*)+)`,
	`(?i)(?:^|[\s,;])(?:olvida(?:te)?|olvídate|descarta|omite|salta(?:te)?|cancela|deja)\s+(?:el |los |del |de los |de )?pasos?\s+((?:\d{1,2}(?:\s*(?:,|y)\s*)*)+)`,
	`(?i)(?:^|[\s,;])(?:esque[çc]a|esquece|pule|descarte|lascia perdere|salta|dimentica|annulla)\s+(?:os? |il |i )?pass[oi]s?\s+((?:\d{1,2}(?:\s*(?:,|e)\s*)*)+)`,
	`(?i)(?:^|[^\p{L}])(?:пропусти\p{L}*|отмени\p{L}*|забудь\p{L}* (?:про|о)|убери\p{L}*)\s+шаги?\s+((?:\d{1,2}(?:\s*(?:,|и)\s*)*)+)`,
	`第?(\d{1,2}|[一二三四五六七八九])(?:步骤?|项|項)(?:就)?(?:不用|不做|不需要|不要|取消|去掉|跳过|算了|省略)`,
	`(?:跳过|取消|不要|去掉|放弃|忘掉|省略)第?(\d{1,2}|[一二三四五六七八九])(?:步|项|項)`,
	`(?:ステップ|手順|タスク)\s?(\d{1,2})(?:は|を)?(?:やめ|不要|要ら|いら|飛ばし|スキップ|なし|削除|省)`,
	`(\d{1,2})\s?(?:단계|번)(?:는|은|를|을)?\s*(?:건너뛰|취소|빼|필요 ?없|그만)`,
)

// placeWords are the words for places in a plan; -1: the last.
var placeWords = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1, "final": -1, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

// placesGivenUpIn returns the places of the steps that sentences give up, counted from one; -1 is the last.
func placesGivenUpIn(sentences []string) (out []int) {
	for _, s := range sentences {
		if !mayNamePlace(s) {
			continue
		}
		for _, re := range dropsPlace {
			for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
				if supposes.MatchString(s) {
					break
				}
				out = append(out, placesIn(s[at[2]:at[3]])...)
			}
		}
	}
	return out
}

// mayNamePlace reports whether a sentence has a number, or a word for a place. It is far cheaper than the patterns.
func mayNamePlace(s string) bool {
	if strings.ContainsAny(s, "0123456789") {
		return true
	}
	s = strings.ToLower(s)
	for w := range placeWords {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// placesIn returns the numbers in a list of them.
func placesIn(list string) (out []int) {
	if n := placeWords[strings.ToLower(list)]; n != 0 {
		return []int{n}
	}
	n := 0
	for _, c := range list + " " {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int(c-'0')
		case n > 0:
			out, n = append(out, n), 0
		}
	}
	return out
}

// dropPlaces drops the steps of the newest list at the given places.
func (p *plans) dropPlaces(at precis.Handle, places []int) {
	var newest *planned
	for _, l := range p.lists {
		if l.open() && (newest == nil || compare(l.at, newest.at) > 0) {
			newest = l
		}
	}
	if newest == nil || len(places) == 0 {
		return
	}
	for i := range newest.steps {
		last := i == len(newest.steps)-1
		if s := &newest.steps[i]; !s.state.Ended() && (slices.Contains(places, i+1) || last && slices.Contains(places, -1)) {
			s.state, s.at, newest.at = Dropped, at, at
		}
	}
}
