package digest

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/preview"
	"precis/retain"
	"precis/standing"
)

// Doubt is a statement of a summary that the conversation does not bear out.
type Doubt struct {
	Text   string         `json:"text"`             // as it stands in the summary
	Kind   string         `json:"kind"`             // "outcome", "file", or the kind of a fact: "path", "identifier", "quote", "number" …
	Why    string         `json:"why"`              // one sentence
	Handle *precis.Handle `json:"handle,omitempty"` // what shows it; nil: that nothing does
}

// Kinds of doubts that are no kinds of facts.
const (
	doubtOutcome     = "outcome"
	doubtFile        = "file"
	doubtNumber      = "number"
	doubtInstruction = "instruction"
	doubtError       = "error"
)

// mostDoubts is the most statements that are doubted: a text of which more is wrong is
// in other words, or another language, than the conversation.
const mostDoubts = 12

// Limits of what is looked up, so that a hostile text costs no more than a long one: bytes of the text, and
// bytes of sources that are searched for its names.
const (
	mostChecked  = 128 << 10
	mostSearched = 1 << 30
)

// doubts checks what a text says against the conversation, in the order of weight: what
// became of the work, then what stands nowhere. A text that is longer than the conversation was made of more than is
// left of it: nothing in it is doubted. Only what can be looked up is
// checked: outcomes of commands, the fate of files, and names, numbers, addresses and quotations. What is
// planned, roughly counted, abbreviated or in other words is not.
func (in *input) doubts(text string) []Doubt { return in.doubtsOf(text, false) }

// doubtsOf returns doubts of a text; with fates only those of outcomes and of the fate of files.
func (in *input) doubtsOf(text string, fates bool) []Doubt {
	d := doubter{in: in, fates: fates, seen: map[string]bool{}, left: mostSearched}
	d.marked = slices.ContainsFunc(in.messages, func(m precis.Message) bool { return strings.Contains(m.PlainText(), doubtsTitle) })
	_, marked, _ := strings.Cut(text, doubtsTitle)
	text, _, _ = strings.Cut(text, addedTitle) // what follows is the gate's
	before, _, rest := cutDoubts(text)         // a list that a model has copied from an earlier summary
	text = before + rest
	text = text[:min(len(text), mostChecked)]
	d.text = text
	if in.spoken == "" {
		in.spoken = in.sourceWords()
	}
	d.words = in.spoken
	if len(d.words) < len(text) {
		return nil
	}
	title, fenced := "", false
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced && headings.MatchString(line) {
			title = line
		}
		if fenced && !d.fates {
			d.output(line)
		}
		if fenced || handedOn.MatchString(line) {
			continue
		}
		if d.outcomes(line); d.fates {
			continue
		}
		d.names(line, plans.MatchString(line) || examples.MatchString(line) || ahead.MatchString(title))
	}
	d.all = statementsOf(text)
	for _, s := range d.all {
		d.statement(s)
	}
	d.found = slices.DeleteFunc(d.found, func(x Doubt) bool { return strings.Contains(marked, doubtName(x)) })
	slices.SortStableFunc(d.found, func(a, b Doubt) int { return weight(a) - weight(b) })
	return d.found[:min(len(d.found), max(in.most, mostDoubts))]
}

// weight orders doubts: what an agent would act on comes first.
func weight(d Doubt) int {
	switch d.Kind {
	case doubtOutcome, doubtFile:
		return 0
	case retain.Path.String(), retain.Quote.String():
		return 1
	}
	return 2
}

var (
	headings = lazyregexp.New(`^\s*(?:#{1,6}\s|\d+\.\s+[^.]{1,60}:?\s*$|\*\*[^*]{1,60}\*\*:?\s*$|[A-Z][A-Z_ ]{3,40}:)`)
	// ahead are titles of what is still to be done, and plans sentences that tell it or give examples: they
	// name what does not exist yet.
	ahead = lazyregexp.New(`(?i)\b(?:next|pending|to ?do|remaining|plan|future|open|proposed|recommend|suggest|optional)`)
	plans = lazyregexp.New(`(?i)\b(?:will|would|should|could|shall|may|might|next|todo|to do|plan|plans|planned|propos\w+|suggest\w*|recommend\w*|consider|needs? to|want\w*|for example|such as|like|similar to|instead of|option\w*|rather than)\b`)
	// examples name what may not exist.
	examples = lazyregexp.New(`(?i)\be\.g\.`)
	// handedOn are what programs write around a summary, and marks in it for what is left out or hidden.
	handedOn = lazyregexp.New(`(?i)read the full transcript at|continue the conversation from|please continue|session is being continued|^\s*\[(?:… |m\d+[.:b-])[^\]]*\]\s*$`)
)

// doubter checks one text.
type doubter struct {
	in    *input
	text  string // that is checked
	found []Doubt
	seen  map[string]bool
	words string // of all sources, see plainWords
	left  int    // bytes that may be searched
	fates bool   // outcomes and the fate of files alone are doubted

	ended map[string]testState    // see testStates
	given map[string]*givenValues // by name, see valuesOf

	did    *deedTable              // what commands did, see deedsOf
	newest map[string]int          // calls by what they do to the outside, see newestOf
	base   map[string]*retain.Fact // the newest path with a directory by its last element; nil: it is also named without one

	all    []statement // of it
	marked bool        // one of the messages is a summary in which something was doubted
}

func (d *doubter) doubt(text, kind, why string, h *precis.Handle) {
	if key := kind + text; !d.seen[key] {
		d.seen[key] = true
		d.found = append(d.found, Doubt{Text: text, Kind: kind, Why: why, Handle: h})
	}
}

// statement asks each room about a statement, until one doubts it.
func (d *doubter) statement(s statement) {
	if slices.ContainsFunc(d.found, func(x Doubt) bool { return strings.Contains(s.text, x.Text) }) {
		return // a name in it is doubted already
	}
	if d.checks(s) || d.namedTests(s) || d.deed(s) || d.fate(s) || d.fates {
		return
	}
	if !d.errorText(s) && !d.quotation(s) {
		d.numbers(s)
	}
}

// shown returns a statement as a doubt names it.
func (d *doubter) shown(s statement) string { return preview.Line(s.text, mostShown) }

// mostShown is how many bytes of a statement a doubt names.
const mostShown = 160

// has reports whether a source holds the words, whatever stands between them.
func (d *doubter) has(s string) bool {
	if d.left -= len(d.words); d.left < 0 {
		return true // not known
	}
	return strings.Contains(d.words, string(plainWords(nil, s)))
}

// hasWords reports whether a source holds the words, and they are no parts of longer ones.
func (d *doubter) hasWords(s string) bool {
	want := string(plainWords(nil, s))
	for rest := d.words; ; {
		if d.left -= len(rest); d.left < 0 {
			return true // not known
		}
		i := strings.Index(rest, want)
		if i < 0 {
			return false
		}
		end := i + len(want)
		if (i == 0 || !isAlnum(rest[i-1])) && (end == len(rest) || !isAlnum(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
}

// names checks what a line names. What is planned may be new; a quotation is of the past.
func (d *doubter) names(line string, planned bool) {
	retain.Scan(line, func(a retain.Anchor) {
		name := line[a.Start:a.End]
		if abbreviated(line, a) || d.known(name, a.Kind) {
			return
		}
		if a.Kind == retain.Quote {
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

// known reports whether a fact of the conversation has the name; false where facts may be doubted ones
// of an earlier summary, and for paths, which are looked at element by element.
func (d *doubter) known(name string, kind retain.Kind) bool {
	if kind == retain.Path || d.marked {
		return false
	}
	f, ok := d.in.x.Find(name, kind)
	return ok && d.in.x.Facts[f].Kind == kind
}

// abbreviated reports whether something was left out of an anchor, or it is a pattern. Marks of emphasis around it say neither.
func abbreviated(line string, a retain.Anchor) bool {
	near := line[max(0, a.Start-1):min(len(line), a.End+3)]
	if before, after := line[:a.Start], line[a.End:]; strings.HasSuffix(before, "`") && strings.HasPrefix(after, "`") {
		near = line[a.Start:a.End]
	} else if strings.HasSuffix(before, "**") && strings.HasPrefix(after, "**") {
		near = line[a.Start:a.End]
	}
	return strings.ContainsAny(near, "*{}<>…$[]|") || strings.Contains(near, "...") || strings.HasPrefix(line[a.End:], "..")
}

// nearby is how many bytes before a number may say that it is rough.
const nearby = 40

const nowhere = "it stands nowhere in the conversation"

// missing says why a name is doubted; "" when it is not.
func (d *doubter) missing(line string, a retain.Anchor) (why string, h *precis.Handle) {
	name := line[a.Start:a.End]
	switch a.Kind {
	case retain.Path:
		if why, h = d.missingPath(name); why == "" && isBranch(line, a) && !d.has(name) {
			why = nowhere
		}
		return why, h
	case retain.Identifier:
		if !isCode(name) {
			return "", nil
		}
		last := name[strings.LastIndexAny(name, ".:")+1:]
		if d.has(name) || len(last) >= 4 && d.has(last) || d.has(humps.ReplaceAllString(name, "$1 $2")) {
			return "", nil
		}
	case retain.Number:
		before := strings.TrimRight(line[max(0, a.Start-nearby):a.Start], " (*`")
		if !plainNumber.MatchString(name) || roughly.MatchString(before) || strings.HasPrefix(line[a.End:], "%") || strings.HasPrefix(line[a.End:], leftOutMark) || d.hasWords(name) {
			return "", nil
		}
	case retain.Hash, retain.URL, retain.Ticket, retain.Flag:
		if d.has(strings.TrimRight(name, "/")) {
			return "", nil
		}
	default:
		return "", nil // the words of an error are quoted, or told
	}
	return nowhere, nil
}

var (
	humps       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	plainNumber = lazyregexp.New(`^(?:\d{1,3}(?:,\d{3})+|\d{4,}|\d+\.\d+\.\d+)$`)
	roughly     = lazyregexp.New(`(?i)(?:[~≈<>+–-]|\b(?:about|approximately|around|over|roughly|nearly|almost|total(?: of)?|lines?))$`)
)

// isCode reports whether a name is one that only code has: with a capital after a small
// letter, or an underscore between small ones.
func isCode(name string) bool {
	return len(name) >= 6 && !strings.Contains(name, "-") && (humps.MatchString(name) || strings.Contains(name, "_") && strings.ToUpper(name) != name)
}

// missingPath says why the path of a file is doubted: no file of its name is named
// anywhere, or each stands in other directories.
func (d *doubter) missingPath(name string) (why string, h *precis.Handle) {
	p := strings.ReplaceAll(name, `\`, "/")
	base := path.Base(p)
	if ext := path.Ext(base); len(ext) < 2 || len(ext) > 9 || len(base) == len(ext) || strings.Trim(ext[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return "", nil
	}
	if d.in.work().files.named(p) != nil || slices.ContainsFunc(d.in.standing().Skills, func(k standing.Item) bool { return k.Where == name }) {
		return "", nil
	}
	if !d.has(base) {
		return nowhere, nil
	}
	dir := path.Base(path.Dir(p))
	if dir == "." || dir == "/" || d.has(dir+"/"+base) {
		return "", nil
	}
	other := d.named(base)
	if other == nil {
		return "", nil
	}
	at := d.at(int(other.Last))
	return "it stands in the conversation as " + other.Name, &at
}

// isBranch reports whether a line says of a name with a slash that it is a branch.
func isBranch(line string, a retain.Anchor) bool {
	return strings.Contains(line[a.Start:a.End], "/") && (branchBefore.MatchString(line[:a.Start]) || branchBehind.MatchString(line[a.End:]))
}

var (
	branchBefore = lazyregexp.New("(?i)\\bbranch(?:es)?(?: (?:is|was|named|called|to))?:?\\*{0,2} ?[`*\"(]{0,3}$")
	branchBehind = lazyregexp.New("(?i)^[`*\")]{0,3} branch\\b")
)

// named returns the newest path that ends with an element; nil when it is named without a directory, too.
func (d *doubter) named(element string) *retain.Fact {
	if d.base == nil {
		d.base = map[string]*retain.Fact{}
		for i := range d.in.x.Facts {
			f := &d.in.x.Facts[i]
			if f.Kind != retain.Path {
				continue
			}
			base := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
			if before, ok := d.base[base]; ok && before == nil {
				continue
			}
			d.base[base] = f
			if !strings.ContainsAny(f.Name, `/\`) {
				d.base[base] = nil
			}
		}
	}
	return d.base[element]
}

func (d *doubter) at(message int) precis.Handle { return precis.MessageHandle(message + d.in.offset) }

// A quotation is doubted when it has leastQuote words or more, and less than half of
// its rows of three words stand in the conversation.
const leastQuote = 4

func (d *doubter) quote(line string, a retain.Anchor) {
	name := line[a.Start:a.End]
	if a.Start == 0 || line[a.Start-1] != '"' { // code is told by the names in it
		return
	}
	for _, part := range leftOut.Split(name, -1) {
		words := strings.Fields(string(plainWords(nil, part)))
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
		if rows := len(words) - 2; 2*held < rows && 2*known >= len(words) && d.sameScript(name) {
			d.doubt(name, a.Kind.String(), "nothing like it was said or shown word for word", nil)
			return
		}
	}
}

// leftOut parts a quotation where something was left out of it.
var leftOut = regexp.MustCompile(`\.\.\.|…|\[[^\]]*\]|\n`)

// sameScript reports whether a quotation may be in the language of the conversation: a
// translation cannot be looked up.
func (d *doubter) sameScript(quote string) bool {
	return isLatin(quote) == isLatin(d.in.userWords())
}

// isLatin reports whether most letters of a text are Latin.
func isLatin(text string) bool {
	ascii, others := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i] | 0x20; {
		case c >= 'a' && c <= 'z':
			ascii++
		case text[i] >= 0xce:
			others++ // the first byte of a letter from Greek on; those before are accented ones
		}
	}
	return ascii >= others
}

// userWords returns some of what the user said.
func (in *input) userWords() string {
	const most = 4000
	var out strings.Builder
	for i := range in.x.Texts {
		if t := &in.x.Texts[i]; t.Source == retain.User && out.Len() < most {
			words := t.Words()
			out.WriteString(words[:min(len(words), most)])
		}
	}
	return out.String()
}

// sourceWords returns all words of the conversation, and of what stands beside it.
func (in *input) sourceWords() string {
	out := plainWords(nil, in.sources)
	for i := range in.x.Calls {
		out = plainWords(append(out, ' '), in.x.Calls[i].Name)
	}
	for _, m := range in.messages {
		for _, b := range m.Content {
			out = blockWords(append(out, ' '), b)
		}
	}
	return string(out)
}

func blockWords(out []byte, b precis.Block) []byte {
	switch b := b.(type) {
	case precis.Text:
		return plainWords(out, unmarked(b.Text))
	case precis.Thinking:
		return plainWords(out, b.Text)
	case precis.ToolUse:
		return plainWords(out, unescape.Replace(string(b.Input)))
	case precis.ToolResult:
		for _, c := range b.Content {
			out = blockWords(append(out, ' '), c)
		}
	}
	return out
}

// unescape undoes the escapes of JSON that part words.
var unescape = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, " ", `\\`, " ")

// plainWords appends the words of a text to out, in small letters, with one space
// between them: what is no letter and no digit parts words, and is not compared. The
// commas in numbers are left out.
func plainWords(out []byte, text string) []byte {
	space := len(out) == 0 || out[len(out)-1] == ' '
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z':
			out, space = append(out, c|0x20), false
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 0x80 && c != 0xe2: // 0xe2: quotation marks and dashes
			out, space = append(out, c), false
		case c == 0xe2 && i+2 < len(text):
			i += 2
			if !space {
				out, space = append(out, ' '), true
			}
		case c == ',' && i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1]):
		case !space:
			out, space = append(out, ' '), true
		}
	}
	return out
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// doubtsTitle is the heading under which the gate lists doubts.
const doubtsTitle = "## Not borne out by the conversation"

// unmarked removes from a summary the list of what the gate doubted, and what it names: neither is a
// source.
func unmarked(text string) string {
	before, list, rest := cutDoubts(text)
	n := 0
	for line := range strings.Lines(list) {
		if n++; n > 2*mostDoubts {
			break // not the gate's
		}
		if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(line, "- ")); err == nil {
			if name, err := strconv.Unquote(quoted); err == nil && name != "" {
				before = strings.ReplaceAll(before, name, " ")
			}
		}
	}
	return before + rest
}

// cutDoubts cuts a text around its first list of doubts.
func cutDoubts(text string) (before, list, rest string) {
	before, list, _ = strings.Cut(text, doubtsTitle)
	if i := strings.Index(list, "\n## "); i >= 0 {
		list, rest = list[:i], list[i:]
	}
	return before, list, rest
}

// doubtLines writes doubts for a model.
func (in *input) doubtLines(all []Doubt) []string {
	var out []string
	for _, d := range all {
		line := doubtName(d) + ": " + quoted(d.Why, 240)
		if d.Handle != nil {
			line += " (" + in.handle(d.Handle.From-in.offset) + ")"
		}
		out = append(out, line)
	}
	return out
}

func doubtName(d Doubt) string { return "- " + quoted(strconv.Quote(d.Text), 160) }
