package digest

import (
	"slices"
	"strings"

	"precis"
	"precis/internal/lazyregexp"
	"precis/internal/preview"
	"precis/internal/toolcall"
	"precis/retain"
)

var (
	// userDid says that the user did some work.
	userDid = lazyregexp.New(`(?i)(?:^\W*|[,;(] ?|\b(?:and|but|then) )(?:the )?user\s+(?:(?:has|had|have|also|then|later|initially|already|just|manually|successfully|subsequently)\s+)*` +
		`(fixed|edited|created|added|changed|modified|wrote|implemented|updated|deleted|removed|refactored|renamed|moved|ran|checked|reviewed|installed|committed|pushed|built|configured|replaced|introduced|extracted|found|discovered|investigated|explained|proposed|suggested|came up with|put forward|listed|offered|presented|laid out|drew up|identified|verified|debugged|traced|analyzed|rewrote|generated|spotted|noticed|located|tracked down|went through|worked out|figured out)\b(.*)|` +
		`\b(?:fixed|edited|created|added|changed|modified|written|implemented|updated|deleted|removed|refactored|renamed|found) (by the user)\b(.*)`)
	// agentSaid says that the agent asked for, said or decided something that may be a person's.
	agentSaid = lazyregexp.New(`(?i)(?:(?:^\W*|[,;(:] ?)(?:the (?:agent|assistant|model)|i|claude)|(?-i:\bI))\s+(?:(?:has|had|also|then|later|explicitly|initially|correctly|already|myself|first)\s+)*` +
		`(asked|requested|wanted|insisted|demanded|reported|clarified|noted|noticed|revealed|questioned|corrected|pointed out|complained|preferred|decided|required|confirmed|said|suggested|tried|raised|brought up|pushed back|objected|proposed|` +
		`found|saw|spotted|observed|discovered|realized|learned|drew up|worked out|came up with|laid out|provided|wrote down)\b(.*)`)
	// otherSaid says so of another agent.
	otherSaid = lazyregexp.New(`(?i)\b(?:sub-?agents?|reviewer|(?:explore|plan|review|general-purpose|other|second|another) agent)\b[^.;:"]{0,40}?\s` +
		`(asked|requested|wanted|insisted|reported|clarified|noted|noticed|questioned|corrected|pointed out|complained|said|suggested|raised|brought up|pushed back|objected|proposed|found|saw|spotted|discovered|drew up|worked out|came up with|laid out|provided)\b(.*)`)
	// otherDid says that another agent did some work.
	otherDid = lazyregexp.New(`(?i)\b(?:the )?(?:sub-?agent|[\w-]+ (?:sub-?agent|reviewer))s?\s+(?:(?:has|had|also|then|already)\s+)*(fixed|edited|created|added|changed|modified|wrote|implemented|updated|deleted|removed|renamed|moved)\b(.*)`)
)

// Shares of the words of a deed: that its doer's calls or words hold, and that those of who is said to have done it do not.
const (
	ownDeed   = 0.35
	otherDeed = 0.4 // in one sentence
)

// attribution doubts that somebody did or said what the conversation shows of somebody else.
func (d *doubter) attribution(s statement) bool {
	if s.quotes {
		return false
	}
	m := userDid.FindStringSubmatch(s.text)
	if m != nil && d.optionsOfAgent(s, m[2]) {
		return true
	}
	if d.quotedOfOthers(s) {
		return true
	}
	if m != nil && s.ahead {
		return false
	}
	if m != nil {
		what, verb := s.text, ""
		if m[2] != "" {
			what, verb = m[1]+m[2], strings.ToLower(m[1])
		}
		return d.notByUser(s, firstClause(what), workVerbs[verb])
	}
	if m := otherDid.FindStringSubmatch(s.text); m != nil && !s.ahead {
		return d.notByOther(s, m[2])
	}
	if m := otherSaid.FindStringSubmatch(s.text); m != nil && d.saidByOther(s, firstClause(m[2])) {
		return true
	}
	if m := agentSaid.FindStringSubmatch(s.text); m != nil && !(m[1] == "tried" && strings.HasPrefix(m[2], " to ")) { // that says nothing
		least := personsWord
		if finds[strings.ToLower(m[1])] {
			least = personsFind
		}
		return d.notByAgent(s, firstClause(m[2]), least)
	}
	return false
}

// finds are the verbs of [agentSaid] for what an agent does all the time.
var finds = map[string]bool{"found": true, "saw": true, "spotted": true, "observed": true, "discovered": true, "realized": true, "learned": true, "drew up": true, "worked out": true, "came up with": true, "laid out": true, "provided": true, "wrote down": true, "proposed": true}

// optionsOfAgent doubts that the user offered options when the agent has listed some, and no person has.
func (d *doubter) optionsOfAgent(s statement, what string) bool {
	if !someOptions.MatchString(what) {
		return false
	}
	for _, h := range d.in.persons() {
		if len(optionsIn(h.text)) > 1 || someOptions.MatchString(h.text) && strings.ContainsAny(h.text, "123") {
			return false
		}
	}
	for i, m := range slices.Backward(d.in.messages) {
		if m.Role == precis.RoleAssistant && len(optionsIn(m.PlainText())) > 1 {
			h := d.at(i)
			d.doubt(d.shown(s), doubtAttribution, "the agent listed options, and no words of the user do", &h)
			return true
		}
	}
	return false
}

// someOptions are what one chooses from.
var someOptions = lazyregexp.New(`(?i)\b(?:options|approaches|alternatives|proposals|choices|variants)\b`)

// quotedOfOthers doubts that somebody else said what a sentence quotes and a person said word for word.
func (d *doubter) quotedOfOthers(s statement) bool {
	m := saidByAgent.FindStringSubmatch(s.text)
	if m == nil || ofUser.MatchString(s.text) || ofUser.MatchString(s.title) || len(strings.Fields(m[1])) < 3 || !d.saidByUser(m[1]) {
		return false
	}
	want := string(plainWords(nil, m[1]))
	for _, r := range d.in.witness().remarks {
		if r.who == byAgent && strings.Contains(string(plainWords(nil, r.text)), want) {
			return false
		}
	}
	d.doubt(d.shown(s), doubtAttribution, "the user said so, word for word", nil)
	return true
}

var (
	saidByAgent = lazyregexp.New(`(?:(?i:sub-?agent|agent|assistant|reviewer|model)|\bI|Claude)\b[^".]{0,60}\b(?:said|asked|pushed back|objected|replied|noted|wrote|pointed out|suggested|remarked|wondered|questioned)\b[^"]{0,20}"([^"]+)"`)
	ofUser      = lazyregexp.New(`(?i)\busers?\b`)
)

// saidByOther doubts that another agent said first what a person did.
func (d *doubter) saidByOther(s statement, what string) bool {
	terms := termsOf(what)
	best, at, _ := d.in.personsHold(terms, true)
	if at == nil || best < personsFind || senseIn(terms) < 3 {
		return false
	}
	for _, j := range d.in.standing().Jobs {
		if d.in.witness().share(terms, termsOf(j.Result+" "+j.Text)) > best/2 {
			return false
		}
	}
	h := d.at(at.at)
	d.doubt(d.shown(s), doubtAttribution, "the user said so: "+preview.Line(at.text, 140), &h)
	return true
}

// firstClause returns what stands before the remarks of a sentence.
func firstClause(text string) string {
	for _, end := range []string{" (", ", ", ": ", "; ", " - ", " — ", " because ", " since ", " so that "} {
		if i := strings.Index(text, end); i > 12 {
			text = text[:i]
		}
	}
	return text
}

// workVerbs are those of [userDid] that say that something was made or changed.
var workVerbs = wordSet(`fixed edited created added changed modified wrote implemented updated deleted removed refactored renamed moved rewrote generated introduced extracted replaced`)

// notByUser doubts a deed of the user that the agent's calls show, or its words alone tell; and work in which the agent wrote
// files and of which no person speaks.
func (d *doubter) notByUser(s statement, what string, work bool) bool {
	if f, c := d.writtenIn(what); f != nil && !d.userTouched(f, c) {
		at := d.useOf(c)
		d.doubt(d.shown(s), doubtAttribution, "the agent wrote "+f.path, &at)
		return true
	}
	terms := termsOf(what)
	if n := senseIn(terms); n < 4 && !work || n < 3 {
		return false
	}
	if d.personTells(terms) {
		return false
	}
	for _, e := range d.in.witness().find(terms, mostAlike, func(r *remark) bool { return r.who == byAgent || r.who == byCall }) {
		if e.share < ownDeed {
			break
		}
		if aboutUser.MatchString(e.text) {
			continue
		}
		at := d.at(e.at)
		d.doubt(d.shown(s), doubtAttribution, "it was the agent: "+preview.Line(e.text, 140), &at)
		return true
	}
	if work && slices.ContainsFunc(d.in.work().calls, func(c toolcall.Call) bool { return c.Kind == toolcall.Write }) {
		d.doubt(d.shown(s), doubtAttribution, "no words of the user say that they did", nil)
		return true
	}
	return false
}

// personTells reports whether a person says of themselves what some words say.
func (d *doubter) personTells(words []term) bool {
	said := d.in.witness().find(words, mostEchoes, func(r *remark) bool { return r.who == byPerson })
	return slices.ContainsFunc(said, func(e echo) bool { return e.share >= otherDeed && myself.MatchString(e.text) })
}

// senseIn counts the words of a sentence that say something.
func senseIn(terms []term) (n int) {
	for _, t := range terms {
		if !t.empty {
			n++
		}
	}
	return n
}

// myself is how a person says that they did something.
var myself = lazyregexp.New(`(?i)\b(?:i|i've|i'd|we|we've|my|ich|wir|je|nous|yo)\b|我|私`)

var aboutUser = lazyregexp.New(`(?i)\b(?:the user|you|your)\b`)

// notByOther doubts that another agent wrote a file that the agent wrote by a call of its own.
func (d *doubter) notByOther(s statement, what string) bool {
	f, c := d.writtenIn(what)
	if f == nil {
		return false
	}
	for _, j := range d.in.standing().Jobs {
		if strings.Contains(j.Result, baseOf(f.path)) || strings.Contains(j.Text, baseOf(f.path)) {
			return false
		}
	}
	at := d.useOf(c)
	d.doubt(d.shown(s), doubtAttribution, "the agent wrote "+f.path+" itself", &at)
	return true
}

// notByAgent doubts that the agent asked for or said first what a person did.
func (d *doubter) notByAgent(s statement, what string, least float64) bool {
	terms := termsOf(what)
	best, at, _ := d.in.personsHold(terms, true)
	if at == nil || best < least || len(terms) < 3 {
		return false
	}
	for _, e := range d.in.witness().find(terms, mostEchoes, func(r *remark) bool { return r.who == byAgent && r.at < at.at }) {
		if e.share > best-0.15 {
			return false // the agent said it before
		}
	}
	h := d.at(at.at)
	d.doubt(d.shown(s), doubtAttribution, "the user said so: "+preview.Line(at.text, 140), &h)
	return true
}

// Shares of the words of what the agent is said to have said, or found, that a person must have said first.
const (
	personsWord = 0.5
	personsFind = 0.65
)

// writtenIn returns the first file in a text that a call of the agent wrote, and the newest such call.
func (d *doubter) writtenIn(text string) (*file, int) {
	for _, name := range pathsIn(text) {
		if f := d.in.work().files.named(name); f != nil && len(f.edits) > 0 {
			return f, f.edits[len(f.edits)-1]
		}
	}
	return nil, -1
}

// userTouched reports whether a person, or the program, says that the user changed a file.
func (d *doubter) userTouched(f *file, call int) bool {
	base := strings.ToLower(baseOf(f.path))
	for _, h := range d.in.persons() {
		if strings.Contains(strings.ToLower(h.text), base) {
			return true
		}
	}
	w := d.in.witness()
	for _, e := range w.find(termsOf(f.path+" was modified by the user or by a linter"), mostEchoes, nil) {
		if strings.Contains(strings.ToLower(e.text), base) && userChanged.MatchString(e.text) {
			return true
		}
	}
	return false
}

var userChanged = lazyregexp.New(`(?i)\b(?:user|linter|you)\b[^.\n]{0,60}\b(?:modif|chang|edit|remov|add)|\b(?:modif|chang|edit)\w*[^.\n]{0,40}\b(?:user|linter|you)\b`)

func (d *doubter) useOf(call int) precis.Handle {
	at := d.in.work().calls[call].Use
	at.From += d.in.offset
	at.To += d.in.offset
	return at
}

func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// failedCall reports whether a call did not do what it was to do.
func failedCall(o toolcall.Outcome) bool {
	return o.End == toolcall.Failed || o.End == toolcall.Rejected || o.End == toolcall.Interrupted
}

// pathsIn returns the names of files in a text.
func pathsIn(text string) (out []string) {
	end := 0
	retain.Scan(text, func(a retain.Anchor) {
		if a.Kind != retain.Path || a.Start < end {
			return
		}
		end = a.End
		if name := strings.TrimRight(text[a.Start:a.End], ".,;:"); strings.ContainsAny(name, "./") {
			out = append(out, strings.ReplaceAll(name, `\`, "/"))
		}
	})
	return out
}
