package verify

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/workstate"
)

const nowhere = "it stands nowhere in the conversation"

// names checks the names in a line. A planned name may be new; a quotation is of the past.
func (d *claimChecker) names(l line) {
	line, planned := l.text, isAhead(l.text, l.title)
	retain.Scan(line, func(a retain.Anchor) {
		name := line[a.Start:a.End]
		if isAbbreviated(line, a) || d.isFact(name, a.Kind) {
			return
		}
		if a.Kind == retain.KindQuote {
			d.quote(line, a)
			return
		}
		if planned || d.seen[name] {
			return
		}
		d.seen[name] = true
		if why, h := d.missing(line, a); why != "" {
			d.doubt(name, a.Kind.String(), why, h)
		}
	})
}

// isFact reports whether the index of the conversation has a name. It is false if facts may come
// from doubted statements of an earlier summary, and for paths, which are compared by elements.
func (d *claimChecker) isFact(name string, kind retain.Kind) bool {
	if kind == retain.KindPath || d.marked {
		return false
	}
	f, ok := d.Index.Find(name, kind)
	return ok && d.Index.Facts[f].Kind == kind
}

// isAbbreviated reports whether an anchor is shortened or a pattern, apart from emphasis marks.
func isAbbreviated(line string, a retain.Anchor) bool {
	near := line[max(0, a.Start-1):min(len(line), a.End+3)]
	before, after := line[:a.Start], line[a.End:]
	for _, mark := range []string{"`", "**"} {
		if strings.HasSuffix(before, mark) && strings.HasPrefix(after, mark) {
			near = line[a.Start:a.End]
		}
	}
	return strings.ContainsAny(near, "*{}<>…$[]|") || strings.Contains(near, "...") ||
		strings.HasPrefix(after, "..")
}

// missing returns why a name is doubted; "" when it is not.
func (d *claimChecker) missing(line string, a retain.Anchor) (why string, h *precis.Handle) {
	name := line[a.Start:a.End]
	switch a.Kind {
	case retain.KindPath:
		return d.missingPath(name)
	case retain.KindIdentifier:
		if !isCode(name) {
			return "", nil
		}
		last := name[strings.LastIndexAny(name, ".:")+1:]
		if d.has(name) || len(last) >= 4 && d.has(last) || d.has(humps.ReplaceAllString(name, "$1 $2")) {
			return "", nil
		}
	case retain.KindNumber:
		if !plainNumber.MatchString(name) || !isMeasure(line[:a.Start], line[a.End:]) || d.hasWords(name) {
			return "", nil
		}
	case retain.KindHash, retain.KindURL, retain.KindTicket, retain.KindFlag:
		if d.has(strings.TrimRight(name, "/")) {
			return "", nil
		}
	default:
		return "", nil
	}
	return nowhere, nil
}

var (
	humps       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	plainNumber = lazyregexp.New(`^(?:\d{1,3}(?:,\d{3})+|\d{4,}|\d+\.\d+\.\d+)$`)
)

// isCode reports whether a name occurs only in code: with a capital after a small letter, or an
// underscore between small ones.
func isCode(name string) bool {
	isSnake := strings.Contains(name, "_") && strings.ToUpper(name) != name
	return len(name) >= 6 && !strings.Contains(name, "-") && (isSnake || humps.MatchString(name))
}

var fileEnding = lazyregexp.New(`^.+\.[A-Za-z0-9]{1,8}$`)

// missingPath returns why the path of a file is doubted: no file of its name is mentioned anywhere,
// or only in other directories.
func (d *claimChecker) missingPath(name string) (why string, h *precis.Handle) {
	p := strings.ReplaceAll(name, `\`, "/")
	base := path.Base(p)
	isSkill := func(k workstate.Item) bool { return k.Where == name }
	if !fileEnding.MatchString(base) || d.File(p) != nil || slices.ContainsFunc(d.Holds.Skills, isSkill) {
		return "", nil
	}
	if !d.has(base) {
		return nowhere, nil
	}
	dir := path.Base(path.Dir(p))
	if dir == "." || dir == "/" || d.has(dir+"/"+base) {
		return "", nil
	}
	other := d.pathEnding(base)
	if other == nil {
		return "", nil
	}
	at := precis.MessageHandle(int(other.Last) + d.Offset)
	return "it stands in the conversation as " + other.Name, &at
}

// pathEnding returns the newest path that ends with an element; nil if it also occurs alone.
func (d *claimChecker) pathEnding(element string) (newest *retain.Fact) {
	for i := range d.Index.Facts {
		f := &d.Index.Facts[i]
		if f.Kind != retain.KindPath || path.Base(strings.ReplaceAll(f.Name, `\`, "/")) != element {
			continue
		}
		if !strings.ContainsAny(f.Name, `/\`) {
			return nil
		}
		newest = f
	}
	return newest
}

// leastQuote is the least number of words of a quotation that is looked up.
const leastQuote = 4

// quote doubts a quotation if the conversation has fewer than half of its sequences of three words,
// although it has at least half of its words: a translation cannot be looked up.
func (d *claimChecker) quote(line string, a retain.Anchor) {
	name := line[a.Start:a.End]
	if a.Start == 0 || line[a.Start-1] != '"' { // code: its names are checked
		return
	}
	for _, part := range leftOut.Split(name, -1) {
		words := strings.Fields(string(prose.AppendPlain(nil, part)))
		if len(words) < leastQuote || d.has(part) {
			continue
		}
		held, known := 0, 0
		for i, w := range words {
			if len(w) < 4 || d.has(w) {
				known++
			}
			if i+3 <= len(words) && d.has(strings.Join(words[i:i+3], " ")) {
				held++
			}
		}
		if rows := len(words) - 2; 2*held < rows && 2*known >= len(words) && !d.isForeign(name) {
			d.doubt(name, a.Kind.String(), "nothing like it was said or shown word for word", nil)
			return
		}
	}
}

// leftOut separates the parts of a shortened quotation.
var leftOut = regexp.MustCompile(`\.\.\.|…|\[[^\]]*\]|\n`)

// isForeign reports whether the user typed in another script than a text's, so that it may be a
// translation. Scripts beyond Latin take two bytes and more for a letter.
func (p *History) isForeign(text string) bool {
	isWide := func(text string) bool { return 2*len(text) > 3*utf8.RuneCountInString(text) }
	return slices.ContainsFunc(p.UserTexts, func(s UserText) bool { return isWide(s.Text) != isWide(text) })
}

// errorCodes are the codes and names of errors.
var errorCodes = lazyregexp.New(`\b(?:[A-Z]{1,4}\d{3,5}|ERR_[A-Z_]{3,}|E[A-Z]{5,}|[A-Z][A-Za-z]+(?:Error|Exception))\b`)

// errorCode doubts a statement with an error code that is nowhere in the conversation.
func (d *claimChecker) errorCode(s Statement) bool {
	for _, at := range errorCodes.FindAllStringIndex(s.Text, mostNames) {
		code, before, after := s.Text[at[0]:at[1]], s.Text[:at[0]], s.Text[at[1]:]
		isEnd := before != "" && strings.LastIndexAny(before, "-_./") == len(before)-1 // of a longer name
		isPart := isEnd || strings.IndexAny(after, "-_/(") == 0
		if !isPart && !d.hasWords(code) && !d.has(humps.ReplaceAllString(code, "$1 $2")) {
			d.doubt(shown(s), DoubtError, code+" stands nowhere in the conversation", nil)
			return true
		}
	}
	return false
}

// mostNames is how many names of one kind in a statement are looked up. Each costs a search.
const mostNames = 8
