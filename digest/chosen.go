package digest

import (
	"slices"
	"strings"
	"unicode"

	"precis/internal/lazyregexp"
)

// A reply like "the second one" says which of some options was chosen and not what it is. These are the words for it: of
// each option's place, the last one's in the end.
var places = []string{
	`first|former|erste[nrs]?|premi[eè]re?|primer[oa]?|prim[oa]|primeir[oa]|первый|первую|первое|первая`,
	`second|zweite[nrs]?|deuxi[eè]me|seconde?|segund[oa]|second[oa]|второй|вторую|второе|вторая`,
	`third|dritte[nrs]?|troisi[eè]me|tercer[oa]?|terz[oa]|terceir[oa]|третий|третью|третье|третья`,
	`fourth|vierte[nrs]?|quatri[eè]me|cuart[oa]|quart[oa]|четв[её]рт(?:ый|ую|ое|ая)`,
	`last|latter|letzte[nrs]?|derni[eè]re?|[uú]ltim[oa]|последн(?:ий|юю|ее|яя)`,
}

// asianPlaces are the same in scripts without spaces.
var asianPlaces = []string{`第一|一つ目|1つ目|첫 ?번째`, `第二|二つ目|2つ目|두 ?번째`, `第三|三つ目|3つ目|세 ?번째`, `第四|四つ目|4つ目|네 ?번째`, `最后一?|最後|마지막`}

// picked recognizes each place in a reply, at its end or before a mark, behind an article or at the beginning: "commit
// first" and "wait a second" pick nothing.
var picked = func() (out []*lazyregexp.Regexp) {
	for i := range places {
		out = append(out, lazyregexp.New(`(?i)(?:^|[^\p{L}](?:the|option|die|der|das|den|la|le|l'|el|lo|il)\s+|^(?:the|die|der|das|den|la|le|l'|el|lo|il|o|давай|выбираю)\s*)(?:`+places[i]+
			`)(?:\s+(?:one|option|way|approach|alternative|variant[e]?|choice|plan|idea|möglichkeit|opción|opção|solution|solución|opzione|вариант))?(?:\s+(?:please|bitte|svp|s'il (?:te|vous) pla[iî]t|por favor|per favore|пожалуйста))?\s*(?:$|[,.!;])`+
			`|(?:`+asianPlaces[i]+`)(?:个|個|种|項|项|条|套|の?(?:方案|选项|案|やつ|方|もの|ほう))?(?:吧|でお願い|がいい|を|で|로|으로|$|[。！!,，])`))
	}
	return out
}()

// chosenLead are words before the numbers of options in a reply, and chosenTail those behind.
const (
	chosenLead = `(?:(?:let'?s|please|i|we|ok|okay|yes|go|do|take|use|pick|choose|want|with|for|prefer|options?|numbers?|approach|alternative|way|plan|variant[e]?|nr|no|the|ja|nimm|oui|opción|opção|opzione|選|选)\W*\s+|(?:选|選)?(?:方案|选项))*`
	chosenTail = `(?:\s*[,.!]?\s*(?:please|bitte|thanks|thank you|thx|danke|merci|gracias|svp|por favor|で|吧|番で|番)\W*)*`
	onePlace   = `#?(?:[1-9]️?⃣?|[a-d]|i{1,3}|iv)\b`
)

// named recognizes a reply that gives the numbers or the letters of options, and nothing else; dropped one that gives those that are
// not meant.
var (
	named   = lazyregexp.New(`(?i)^\W*` + chosenLead + `((?:[1-9]️?⃣?|[a-d]\b|i{1,3}\b|iv\b)(?:\s*(?:,|and|&|\+|und|et|y|e|и|和|と|,\s*and)\s*` + onePlace + `)*)` + chosenTail + `\W*$`)
	dropped = lazyregexp.New(`(?i)^\W*` + chosenLead + `(?:all|everything|all of them|alles|tout|todo)\s+(?:but|except|without|außer|sauf|menos)\s+(?:for\s+)?(?:options?\s+|number\s+|the\s+)*(` + onePlace + `(?:\s*(?:,|and|&|und|et|y)\s*` + onePlace + `)*)` + chosenTail + `\W*$`)
	// several are words for more than one option, or for that which the assistant would take.
	several     = lazyregexp.New(`(?i)^\W*(?:(?:let'?s|please|i|we|ok|okay|yes|go|do|take|use|pick|choose|want|with|for|prefer)\W*\s+)*(?:(the )?(?:first (two|three)|last (two))(?: ones?| options)?|(both|all)(?: of (?:them|these|those))?|beide|alle|les deux|toutes|ambas|ambos|todas)` + chosenTail + `\W*$`)
	middle      = lazyregexp.New(`(?i)^\W*(?:\w+ ){0,3}(?:the |die |der |das |la |el )?(?:middle|mittlere|celle du milieu|del medio)\b.{0,12}$`)
	recommended = lazyregexp.New(`(?i)^\W*(?:(?:let'?s|please|ok|okay|yes|go|do|take|use|pick|with|for)\W*\s+)*(?:(?:your|the) (?:recommendation|suggestion|recommended(?: one| option| way)?)|what(?:ever)? you (?:recommend|suggest|prefer)|deine[rn]? empfehlung|ta recommandation|tu recomendación)\W*$`)
	recommends  = lazyregexp.New(`(?i)\brecommend|\bempfohlen|\brecommandé|\brecomendad|推荐|おすすめ`)
)

// optionHead begins the line of an option: a number or a letter with a mark behind it, an ordinal, or "Option 2", behind the
// signs of Markdown; tableHead a row of a table that begins with one.
var (
	optionHead = lazyregexp.New(`^[\s>#*_-]*(?i:(?:option|variant[e]?|alternative|approach|way|plan|choice|möglichkeit|opción|opção|вариант|方案|选项|案|選択肢)\s*)?(?:([1-9])(?:\.|\)|:|、|：|\*\*|️?⃣)|\(?([A-Da-d])(?:\.|\)|:|：|\*\*)|(?i:(first|second|third|fourth|erstens|zweitens|drittens|viertens)\b)|\((i{1,3}|iv)\)|(?i:方案|选项|案)([一二三四]))`)
	tableHead  = lazyregexp.New(`^\s*\|[\s*]*(?i:(?:option|variant[e]?|approach|way|plan)\s*)?([1-9A-Da-d])[\s*:.)]*\|`)
)

// optionNumbers are the numbers of options that have a word in their place.
var optionNumbers = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "erstens": 1, "zweitens": 2, "drittens": 3, "viertens": 4, "i": 1, "ii": 2, "iii": 3, "iv": 4, "一": 1, "二": 2, "三": 3, "四": 4}

// chosen returns the options of what the assistant said last that a short reply picks by their numbers or their places, each on
// lines of its own; "" when it picks none.
func chosen(reply, said string) string {
	const most, longest = 60, 8000 // bytes
	if len(reply) > most {
		return ""
	}
	if !strings.Contains(said, "\n") || !mayPick(reply) { // options stand on lines of their own
		return ""
	}
	options := optionsIn(said[max(0, len(said)-longest):])
	if len(options) < 2 {
		return ""
	}
	if m := named.FindStringSubmatch(reply); m != nil && isLetter(m[1]) && !options[0].lettered {
		return "" // of an older list
	}
	var out []string
	numbers := numbersPicked(reply, options)
	for _, o := range options {
		if slices.Contains(numbers, o.number) {
			out = append(out, o.text)
		}
	}
	return strings.Join(out, "\n")
}

// mayPick reports whether a reply picks something of whatever is offered. It is far cheaper than reading what is.
func mayPick(reply string) bool {
	return slices.ContainsFunc([]*lazyregexp.Regexp{named, dropped, several, recommended, middle}, func(re *lazyregexp.Regexp) bool { return re.MatchString(reply) }) ||
		slices.ContainsFunc(picked, func(re *lazyregexp.Regexp) bool { return re.MatchString(reply) })
}

// numbersPicked returns the numbers of the options that a reply picks.
func numbersPicked(reply string, options []option) []int {
	last := options[len(options)-1].number
	if m := named.FindStringSubmatch(reply); m != nil {
		return placesOf(m[1])
	}
	if m := dropped.FindStringSubmatch(reply); m != nil {
		not := placesOf(m[1])
		return slices.DeleteFunc(upTo(last), func(n int) bool { return slices.Contains(not, n) })
	}
	if m := several.FindStringSubmatch(reply); m != nil {
		switch {
		case m[2] == "two":
			return []int{1, 2}
		case m[2] == "three":
			return []int{1, 2, 3}
		case m[3] != "":
			return []int{last - 1, last}
		}
		return upTo(last)
	}
	if recommended.MatchString(reply) {
		for _, o := range options {
			if recommends.MatchString(o.text) {
				return []int{o.number}
			}
		}
	}
	if last%2 == 1 && last > 1 && middle.MatchString(reply) {
		return []int{last/2 + 1}
	}
	number := 0
	for i, place := range picked {
		if !place.MatchString(reply) {
			continue
		}
		if number != 0 {
			return nil
		}
		number = i + 1
	}
	if number == len(places) {
		number = last
	}
	return []int{number}
}

// upTo returns the numbers from one on.
func upTo(n int) (out []int) {
	for i := 1; i <= n; i++ {
		out = append(out, i)
	}
	return out
}

// placesOf returns the numbers that the places in a list stand for.
func placesOf(list string) (out []int) {
	list = strings.NewReplacer("和", " ", "と", " ").Replace(strings.ToLower(list))
	for w := range strings.FieldsFuncSeq(list, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch n := optionNumbers[w]; {
		case n > 0:
			out = append(out, n)
		case len(w) == 1 && w[0] <= '9':
			out = append(out, int(w[0]-'0'))
		case len(w) == 1 && w[0] <= 'd':
			out = append(out, int(w[0]-'a')+1)
		}
	}
	return out
}

// option is one of some that the assistant has offered.
type option struct {
	number   int
	lettered bool // it has a letter in place of a number
	text     string
}

// optionsIn returns the last list of options in a text: those numbered from one on, each up to the next one, or to the end of
// its paragraph.
func optionsIn(text string) (out []option) {
	open := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if n, lettered := optionNumber(line); n > 0 {
			switch {
			case n == 1:
				out = nil
			case len(out) == 0 || out[len(out)-1].number != n-1 || out[0].lettered != lettered:
				open = false
				continue
			}
			out, open = append(out, option{n, lettered, bare}), true
			continue
		}
		if bare == "" && open && strings.HasPrefix(out[len(out)-1].text, "#") && !strings.Contains(out[len(out)-1].text, "\n") {
			continue // the paragraph below a heading
		}
		if open = open && bare != ""; open {
			out[len(out)-1].text += "\n" + bare
		}
	}
	return out
}

// optionNumber returns the number of the option whose line this is, and whether a letter stands for it; 0 for another line.
func optionNumber(line string) (n int, lettered bool) {
	m := optionHead.FindStringSubmatch(line)
	if m == nil {
		if m = tableHead.FindStringSubmatch(line); m == nil {
			return 0, false
		}
		return placesOf(m[1])[0], isLetter(m[1])
	}
	switch {
	case m[1] != "":
		return int(m[1][0] - '0'), false
	case m[2] != "":
		return int(strings.ToLower(m[2])[0]-'a') + 1, true
	}
	return optionNumbers[strings.ToLower(m[3]+m[4]+m[5])], false
}

// isLetter reports whether a place in a list is, or begins with, a letter alone.
func isLetter(place string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(place), " ")
	return len(first) == 1 && unicode.IsLetter(rune(first[0]))
}
