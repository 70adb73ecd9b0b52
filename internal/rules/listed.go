package rules

import (
	"slices"
	"strings"

	"precis/internal/harness"
)

// A list stands under what says of what its entries are. Under a title of rules each order is one, though by itself it may be done
// once: "Principles:", "- Record your findings".

// titlesRules reports whether a line is a title under which rules stand. heading: it is one by its mark, and needs no colon.
func titlesRules(line string, heading bool) bool {
	const longest, most = 72, 6                                                                     // bytes, and words
	if len(line) > longest || !heading && !announces(line) || step(strings.TrimLeft(line, "*_ ")) { // "2.3 Constraints:"
		return false
	}
	may, tokens := languageOf(line)
	for _, x := range may {
		words, named := 0, false
		all := x.words(line, tokens)
		for i, w := range all {
			if w.class&(verb|when|ask)&^(x.asking()) != 0 || productTitles[w.text] {
				named = false
				break
			}
			if !w.mark {
				words++
			}
			if named && engines[w.text] || i > 0 && plurals[all[i-1].text] && !w.mark && w.use()&^common == 0 && !behindTitle[w.text] { // "rules engine"
				named = false
				break
			}
			named = named || ruling[w.text] || w.class&title != 0 && !strings.Contains(w.text, "requirement") && !strings.Contains(w.text, "requisit")
		}
		if x.chars {
			named = named || indexOfAny(line, rulingAsian) >= 0
			words = 0
		}
		if named && words <= most {
			return true
		}
	}
	return false
}

// asking returns the classes of words that a title may have in a script without spaces, where a part of a word may look like one.
func (x *lexicon) asking() class {
	if x.chars {
		return verb | when | ask
	}
	return 0
}

// readListed reads an entry of a list under a title of rules: an order is a rule, and so are a few words about the work.
func readListed(s string) reading {
	if isCode(s) || isReported(s) {
		return reading{}
	}
	may, tokens := languageOf(s)
	for _, x := range may {
		words := x.words(s, tokens)
		parts := clauses(words)
		if len(parts) == 0 || x.isAsked(s, words, parts) {
			continue
		}
		c := parts[0].bare()
		if len(c) == 0 {
			continue
		}
		about := clause(words).has(work | thing | touch)
		switch {
		case x.chars && about && !isPast(s), !x.chars && len(c) > 1 && c[0].class&(report|ask|when) == 0 && (c.orders() || c.follows() || c.addressesLater()),
			len(c) > 1 && len(words) < 5 && c.has(work) && !c.has(verb|report|ask|article):
			return reading{kind: x.kind(words, Rule), clause: words, language: x}
		}
	}
	return reading{}
}

// addressesLater reports whether an order begins with when it is to be done, "сначала прочитай код", or with a verb that has the form
// of an order in a language in which few other words have it.
func (c clause) addressesLater() bool {
	if len(c) > 2 && firstly[c[0].text] {
		c = c[1:]
	}
	if len(c) < 2 {
		return false
	}
	w := c[0].text
	russian := w[0] == 0xd0 || w[0] == 0xd1
	return c[0].class&(habit|task|bare|order) != 0 || russian && c[0].class == 0 && (strings.HasSuffix(w, "и") || strings.HasSuffix(w, "й") || strings.HasSuffix(w, "те"))
}

// saysOfEach reports whether a line says, before its colon, that what follows holds for each of the things that an agent makes:
// "For each response:".
func saysOfEach(line string) (reading, bool) {
	const most = 5 // words
	if !announces(line) {
		return reading{}, false
	}
	may, tokens := languageOf(line)
	for _, x := range may {
		words := x.words(line, tokens)
		parts := clauses(words)
		if len(parts) != 1 || len(parts[0]) > most && !x.chars {
			continue
		}
		c := parts[0]
		each := x.chars && strings.Contains(line, "每")
		for _, w := range c {
			first := firstOf(w.text)
			each = each || eaches[w.text] || eaches[first] || eaches[w.text[strings.LastIndexByte(w.text, ' ')+1:]] || strings.Contains(w.text, " each ") || strings.Contains(w.text, " every ")
		}
		if each && (slices.ContainsFunc(c, func(w word) bool { return w.class&work != 0 && !tested[w.text] }) || c.has(firm) || c.has(you)) && !c.has(verb|report) {
			return reading{kind: Rule, clause: c, language: x}, true
		}
	}
	return reading{}, false
}

// isPaired reports whether an entry of a list that begins at a byte of a text names, before its colon, what another one beside it
// forbids: "CHANGE: …", "DO NOT CHANGE: …".
func isPaired(text string, at int) bool {
	const beside = 2 // lines
	line, rest, _ := strings.Cut(text[at:], "\n")
	label := entryLabel(line)
	if label == "" {
		return false
	}
	for i := 0; i < beside && rest != ""; i++ {
		line, rest, _ = strings.Cut(rest, "\n")
		if forbidsLabel(entryLabel(line), label) {
			return true
		}
	}
	above := text[:at]
	for i := 0; i <= beside && above != ""; i++ {
		from := strings.LastIndexByte(above, '\n') + 1
		if forbidsLabel(entryLabel(above[from:]), label) {
			return true
		}
		above = above[:max(from-1, 0)]
	}
	return false
}

// entryLabel returns the few words of an entry before its colon, in lower case; "" where there are none.
func entryLabel(line string) string {
	const longest = 40 // bytes
	entry := entryOf(strings.TrimSpace(line))
	label, rest, ok := strings.Cut(entry[:min(len(entry), longest)], ":")
	if !ok || rest == "" && len(entry) <= longest {
		return ""
	}
	return strings.ToLower(strings.Trim(label, " *_"))
}

// forbidsLabel reports whether a label forbids what another one names.
func forbidsLabel(label, named string) bool {
	ban, ok := strings.CutSuffix(label, named)
	return ok && banning[strings.TrimSpace(ban)] || named == "do" && banning[label]
}

// tag returns how many bytes of a sentence are the tag that it stands in, at its beginning and its end: "<IMPORTANT>…</IMPORTANT>".
func tag(s string) (open, end int) {
	if !strings.HasPrefix(s, "<") {
		return 0, 0
	}
	name, _, ok := strings.Cut(s[1:], ">")
	if !ok || !tags[strings.ToLower(name)] {
		return 0, 0
	}
	open = len(name) + 2
	if i := strings.LastIndex(s, "</"); i > open && strings.HasSuffix(strings.TrimSpace(s), ">") && len(s)-i <= len(name)+4 {
		end = len(s) - i
	}
	return open, end
}

// listing is where a sentence stands in the lists of a text.
type listing struct {
	under bool // a title of rules stands over the list
	entry bool // it is in an entry of one
	first bool // it begins the entry
}

// next goes on with a sentence, of which marks stand before it; begins: at the beginning of a line.
func (l *listing) next(marks, s string, begins bool) {
	l.first = false
	if !begins || strings.TrimSpace(s) == "" {
		return
	}
	heading := strings.Contains(marks, "#")
	l.entry = !heading && strings.TrimSpace(marks) != ""
	l.first = l.entry
	if !l.entry {
		l.under = titlesRules(s, heading)
	}
}

// read reads a sentence that is no rule by itself by where it stands: from at to to of a text. lone says that it is one only with the
// list that it announces.
func (l *listing) read(text string, at, to int) (r reading, lone bool) {
	s := text[at:to]
	if l.first && l.under {
		if r = readListed(s); r.kind != 0 {
			return r, false
		}
	}
	if l.first && isPaired(text, at) {
		return readPaired(s), false
	}
	r, lone = saysOfEach(s)
	return r, lone
}

// readPaired reads an entry that names what another one forbids.
func readPaired(s string) reading {
	may, tokens := languageOf(harness.Unquoted(s))
	words := may[0].words(s, tokens)
	return reading{kind: Rule, clause: words, language: may[0]}
}

var (
	// ruling are the words for rules in a title, besides those of the class title.
	ruling = set("principles|principle|guardrails|guardrail|guard rails|rails|boundaries|dos|do's|don'ts|directives|conditions of work|prinzipien|prinzip|grundsätze|leitplanken|leitlinien|spielregeln|richtlinien|konventionen|principes|principe|garde-fous|directives|interdits|principios|pautas|directrices|convenciones|principi|linee|paletti|convenzioni|princípios|diretrizes|convenções|принципы|ограничения|соглашения")
	// rulingAsian are the same in scripts without spaces.
	rulingAsian = strings.Split("原则|规则|规范|约束|准则|注意事项|ルール|原則|制約|ガイドライン|규칙|원칙|제약|가이드라인|주의사항", "|")
	// productTitles are the words that make a title one of what is built.
	productTitles = set("validation|business|firewall|routing|css|lint|eslint|matching|scoring|pricing|game|discount|password|passwords|cache|caching|grammar|parsing|parser|design|tax|shipping|access|retention|rewrite|redirect|database|form|input|output|api|schema|validierung|geschäftsregeln|spiel|validation|métier|gestion|jeu|validación|negocio|juego|validazione|gioco|validação|negócio|jogo|валидации|игры|system|ui")
	// plurals are the titles in English, behind which no noun stands that is one of their own.
	plurals = set("rules|rule|principles|principle|guidelines|guideline|constraints|constraint")
	// behindTitle are the words behind them.
	behindTitle = set("of|for|when|while|about|in|on|at|to|before|during|and|here|apply")
	// engines are the words that make rules a part of a program.
	engines = set("engine|engines|parser|checker|table|tables|editor")
	// firstly are the words before an order for when it is to be done.
	firstly = set("first|zuerst|erst|d'abord|primero|prima|primeiro|сначала|сперва")
	// tested are the parts of the work that lists describe one by one.
	tested = set("test|tests|unit test|unit tests|import|imports|dependency|dependencies|pruebas|testes|тесты|dépendance|dependencia|dipendenza|dependência")
	// eaches are the words that make something hold for each of several.
	eaches = set("each|every|jede|jeder|jeden|jedes|jedem|chaque|cada|ogni|каждый|каждого|каждом|каждую|каждой")
	// banning are the words of a label that forbid.
	banning = set("do not|don't|dont|never|not|nicht|nie|ne pas|no|nunca|non|não|не|never ever")
	// tags are the names of tags in which people set what matters.
	tags = set("important|critical|note|rule|rules|warning|constraint|constraints|instruction|instructions|reminder|guidelines|must|very_important|extremely_important")
)
