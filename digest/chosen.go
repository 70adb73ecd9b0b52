package digest

import (
	"strings"

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

// named recognizes a reply that gives the number or the letter of an option, and nothing else.
var named = lazyregexp.New(`(?i)^\W*(?:(?:let'?s|please|i|we|ok|okay|yes|go|do|take|use|pick|choose|want|with|for|prefer|option|number|plan|variant[e]?|nr|no|the|ja|nimm|oui|選|选)\W*\s+|(?:选|選)?(?:方案|选项))*#?([1-9a-d])\W*(?:please|bitte)?\W*$`)

// optionHead begins the line of an option: a number or a letter with a mark behind it, an ordinal, or "Option 2", behind the
// signs of Markdown.
var optionHead = lazyregexp.New(`^[\s>#*_-]*(?i:(?:option|variant[e]?|alternative|approach|way|plan|choice|möglichkeit|opción|opção|вариант|方案|选项|案|選択肢)\s*)?(?:([1-9])(?:\.|\)|:|、|：|\*\*|️?⃣)|\(?([A-Da-d])(?:\.|\)|:|：|\*\*)|(?i:(first|second|third|fourth|erstens|zweitens|drittens|viertens)\b))`)

// optionNumbers are the numbers of options that have a word in their place.
var optionNumbers = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "erstens": 1, "zweitens": 2, "drittens": 3, "viertens": 4}

// chosen returns the option of what the assistant said last that a short reply picks by its number or its place; "" when it
// picks none, or more than one.
func chosen(reply, said string) string {
	const most, longest = 60, 8000 // bytes
	if len(reply) > most {
		return ""
	}
	number := 0
	for i, place := range picked {
		if !place.MatchString(reply) {
			continue
		}
		if number != 0 {
			return ""
		}
		number = i + 1
	}
	m := named.FindStringSubmatch(reply)
	if number == 0 && m == nil {
		return ""
	}
	options := optionsIn(said[max(0, len(said)-longest):])
	switch {
	case len(options) < 2:
		return ""
	case number == len(places):
		return options[len(options)-1].text
	case number == 0 && m[1] <= "9":
		number = int(m[1][0] - '0')
	case number == 0:
		number = int(strings.ToLower(m[1])[0]-'a') + 1
	}
	for _, o := range options {
		if o.number == number {
			return o.text
		}
	}
	return ""
}

// option is one of some that the assistant has offered.
type option struct {
	number int
	text   string
}

// optionsIn returns the last list of options in a text: those numbered from one on, each up to the next one, or to the end of
// its paragraph.
func optionsIn(text string) (out []option) {
	open := false
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if n := optionNumber(line); n > 0 {
			switch {
			case n == 1:
				out = nil
			case len(out) == 0 || out[len(out)-1].number != n-1:
				open = false
				continue
			}
			out, open = append(out, option{n, bare}), true
			continue
		}
		if open = open && bare != ""; open {
			out[len(out)-1].text += "\n" + bare
		}
	}
	return out
}

// optionNumber returns the number of the option whose line this is; 0 for another line.
func optionNumber(line string) int {
	m := optionHead.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	switch {
	case m[1] != "":
		return int(m[1][0] - '0')
	case m[2] != "":
		return int(strings.ToLower(m[2])[0]-'a') + 1
	}
	return optionNumbers[strings.ToLower(m[3])]
}
