package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/prose"
)

var numeral = lazyregexp.New(`\d[\d,]*(?:\.\d+)*`)

// counted doubts a number that stands nowhere in the conversation beside what it counts or names.
func (d *doubter) counted(s Statement) bool {
	const most = 20 // of a statement
	all := numeral.FindAllStringIndex(s.Text, most)
	for i, at := range all {
		number := strings.Trim(s.Text[at[0]:at[1]], ",.")
		end := at[0] + len(number)
		if !isMeasure(s.Text, at[0], end) || strings.HasPrefix(s.Text[end:], "%") || isComputed(s.Text, all, i) {
			continue
		}
		if why := d.otherwise(s.Text, at[0], end); why != "" {
			d.doubt(shown(s), ofNumber, why, nil)
			return true
		}
	}
	return false
}

// otherwise says why the number at some bytes of a text is doubted; "" when it is not: it stands nowhere near a
// word that is around it here, or the same words are around other numbers in the conversation and never around
// this one.
func (d *doubter) otherwise(text string, from, to int) string {
	const (
		reach  = 60 // bytes of the text
		near   = 80 // bytes of the conversation in which a number belongs to a word
		beside = 24 // the same, where other numbers belong to it
	)
	number := text[from:to]
	head, tail, _ := strings.Cut(clauseAround(text[:from]+"\x00"+text[to:], from), "\x00")
	before, after := strings.Fields(string(prose.AppendPlain(nil, head))), strings.Fields(string(prose.AppendPlain(nil, tail)))
	if !slices.ContainsFunc(before, carriesSense) && !slices.ContainsFunc(after, carriesSense) {
		return "" // an element of a list
	}
	around := string(prose.AppendPlain(nil, text[max(0, from-reach):from]+" "+text[to:min(len(text), to+reach)]))
	words := slices.DeleteFunc(strings.Fields(around), func(w string) bool { return !carriesSense(w) })
	if len(number) > 1 && len(words) > 0 && !d.standsBeside(number, near, words...) {
		return number + " stands nowhere in the conversation beside any of these words"
	}
	var frames [][3]string // the words before and after the number, and the one that it belongs to
	if n := len(before); n > 0 && len(after) > 0 {
		if carriesSense(after[0]) {
			frames = append(frames, [3]string{before[n-1], after[0], after[0]})
		}
		if n > 1 && carriesSense(before[n-1]) {
			frames = append(frames, [3]string{before[n-2] + " " + before[n-1], after[0], before[n-1]})
		}
	}
	if len(after) > 1 && carriesSense(after[0]) {
		frames = append(frames, [3]string{"", after[0] + " " + after[1], after[0]})
	}
	for _, f := range frames {
		if other := d.between(f[0], f[1]); other != "" && !d.standsBeside(number, beside, f[2]) {
			return "the conversation has \"" + strings.TrimSpace(f[0]+" "+other+" "+f[1]) + "\", and never " + number
		}
	}
	return ""
}

// between returns a number that stands between words in the conversation, the first; "" for none.
func (d *doubter) between(before, after string) string {
	if d.left -= len(d.words); d.left < 0 {
		return ""
	}
	for at := 0; ; {
		i := strings.Index(d.words[at:], " "+after)
		if i < 0 {
			return ""
		}
		i += at
		at = i + 1
		end := i + 1 + len(after)
		number := d.words[strings.LastIndexByte(d.words[:i], ' ')+1 : i]
		rest := strings.TrimSuffix(d.words[:i-len(number)], " ")
		ends := end == len(d.words) || d.words[end] == ' '
		if ends && isNumber(number) && (before == "" || rest == before || strings.HasSuffix(rest, " "+before)) {
			return number
		}
	}
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isMeasure reports whether a number says how much, and exactly: it is no part of a name, a date, a range or a
// change.
func isMeasure(text string, from, to int) bool {
	before, after := text[:from], text[to:]
	last, _ := utf8.DecodeLastRuneInString(before)
	if strings.Count(before, "`")%2 == 1 || to-from > 9 || unicode.IsLetter(last) || unicode.IsDigit(last) {
		return false
	}
	if strings.ContainsRune("#@:/_-.~<>–≈", last) {
		return false
	}
	if strings.HasPrefix(after, "–") || strings.HasPrefix(after, "+") || strings.HasPrefix(after, leftOutMark) {
		return false
	}
	if len(after) > 1 && strings.IndexByte(":/_-.", after[0]) >= 0 && after[1] != ' ' && !says("joined unit", after) {
		return false
	}
	if strings.HasPrefix(strings.TrimSpace(after), "→") || strings.HasSuffix(strings.TrimSpace(before), "→") {
		return false
	}
	const nearby = 40
	tail := strings.TrimRight(before[max(0, len(before)-nearby):], " (*`")
	return !says("rough", tail) && !says("numbers it", tail) && !says("no measure", after)
}

// leftOutMark follows the number of characters that a digest leaves out of a text.
const leftOutMark = " characters left out"

// isComputed reports whether a number is what two others of its sentence make: "16,684 before, 392 now, 97.6
// less". Small whole numbers are made of others too often.
func isComputed(text string, all [][]int, i int) bool {
	const least, tolerance = 10, 0.02
	value := func(at []int) float64 {
		x, _ := strconv.ParseFloat(strings.Trim(strings.ReplaceAll(text[at[0]:at[1]], ",", ""), "."), 64)
		return x
	}
	v := value(all[i])
	if v < least && v == math.Trunc(v) {
		return false
	}
	same := func(x float64) bool { return math.Abs(x-v) <= tolerance*v }
	for a := range all {
		for b := range all {
			x, y := value(all[a]), value(all[b])
			if a != b && a != i && b != i && x > 0 && y > 0 && (same(x/y) || same(x+y) || same(x-y) || same(x*y)) {
				return true
			}
		}
	}
	return false
}

// carriesSense reports whether a word beside a number may count or name something.
func carriesSense(w string) bool { return len(w) > 2 && !says("no unit", w) }

// sameUnit reports whether two words in small letters are the same but for an ending: "file" and "files".
func sameUnit(a, b string) bool {
	const least = 3
	a, b = strings.TrimSuffix(strings.TrimSuffix(a, "s"), "e"), strings.TrimSuffix(strings.TrimSuffix(b, "s"), "e")
	return a == b || len(a) >= least && strings.HasPrefix(b, a) || len(b) >= least && strings.HasPrefix(a, b)
}

// standsBeside reports whether a number stands somewhere within a few words of a unit or a name.
func (p *Past) standsBeside(number string, near int, names ...string) bool {
	const most = 400 // places: more often is taken for everywhere
	plain := string(prose.AppendPlain(nil, number))
	first, _, _ := strings.Cut(plain, " ")
	words, places := p.allWords(), p.places(first)
	if len(places) > most {
		return true
	}
	for _, at := range places {
		rest := words[at:]
		if !strings.HasPrefix(rest, plain) || len(rest) > len(plain) && prose.IsDigit(rest[len(plain)]) {
			continue
		}
		end := int(at) + len(plain)
		around := words[max(0, int(at)-near):at] + " " + words[end:min(len(words), end+near)]
		for w := range strings.FieldsSeq(around) {
			if slices.ContainsFunc(names, func(n string) bool { return sameUnit(w, n) }) {
				return true
			}
		}
	}
	return false
}

// places returns where words begin with a run of digits.
func (p *Past) places(digits string) []int32 {
	if p.numerals == nil {
		p.numerals = map[string][]int32{}
		words := p.allWords()
		for at := 0; at < len(words); {
			end := at
			for end < len(words) && prose.IsDigit(words[end]) {
				end++
			}
			if end > at {
				p.numerals[words[at:end]] = append(p.numerals[words[at:end]], int32(at))
			}
			next := strings.IndexByte(words[end:], ' ')
			if next < 0 {
				break
			}
			at = end + next + 1
		}
	}
	return p.numerals[digits]
}

// assignment gives a name in code a value.
var assignment = lazyregexp.New("\\b([A-Za-z_]\\w{3,})(?:\\(\\))?`? ?(?:=|:=|:|==|=>|returns|is) ?`?" +
	"(true|false|\\d[\\d_,]*(?:\\.\\d+)?)(?:$|[^\\w:.-]|[.:](?:\\s|$))")

// assigned doubts the value of a name when the conversation gives the name others, and never that one.
func (d *doubter) assigned(s Statement) bool {
	const most = 4 // of a statement
	for _, m := range assignment.FindAllStringSubmatchIndex(s.Text, most) {
		name, value := s.Text[m[2]:m[3]], strings.ReplaceAll(s.Text[m[4]:m[5]], "_", "")
		if other := d.otherValue(name, value); other != "" {
			d.doubt(shown(s), ofNumber, name+" is "+other+" in the conversation, and never "+value, nil)
			return true
		}
	}
	return false
}

// otherValue returns a value that follows a name in the sources; "" when none or also the given one does.
func (d *doubter) otherValue(name, value string) (other string) {
	const most = 400 // places
	name, value = string(prose.AppendPlain(nil, name))+" ", string(prose.AppendPlain(nil, value))
	isBool := value == "true" || value == "false"
	if d.left -= len(d.words); d.left < 0 || !isBool && d.standsBeside(value, 80, strings.Fields(name)...) {
		return ""
	}
	rest := d.words
	for range most {
		i := strings.Index(rest, name)
		if i < 0 {
			return other
		}
		starts := i == 0 || rest[i-1] == ' '
		rest = rest[i+len(name):]
		next, after, _ := strings.Cut(rest[:min(len(rest), 20)], " ")
		if next == "returns" || next == "is" {
			next, _, _ = strings.Cut(after, " ")
		}
		switch {
		case !starts:
		case next == value:
			return ""
		case isBool && (next == "true" || next == "false"), !isBool && isNumber(next):
			other = next
		}
	}
	return ""
}

// listLength says how many steps a list has that the agent wrote.
var listLength = lazyregexp.New(`(?i)\b(?:task|todo|to-do)s?(?: list| tracking| tracker| items)?\b[^.;,]{0,20}` +
	` with (\d{1,3}) (?:items?|tasks?|steps?|todos?|entries)\b|` +
	`\b(?:created|wrote|set up|made|added) (\d{1,3}) (?:tasks|todos|to-dos|todo items|task items)\b`)

// steps doubts how many steps a list of tasks has, when no list of the agent had as many.
func (d *doubter) steps(s Statement) bool {
	m := listLength.FindStringSubmatch(s.Text)
	known := d.Holds.Lengths
	if m == nil || len(known) == 0 {
		return false
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || slices.Contains(known, n) {
		return false
	}
	var at *precis.Handle
	if all := d.Holds.Steps; len(all) > 0 {
		h := all[0].Since
		h.From, h.To = h.From+d.Offset, h.To+d.Offset
		at = &h
	}
	why := fmt.Sprintf("no list of the agent had %d steps, but %d", n, known[len(known)-1])
	d.doubt(shown(s), ofNumber, why, at)
	return true
}
