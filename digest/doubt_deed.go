package digest

import (
	"slices"
	"strconv"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
	"precis/standing"
)

// feat is what an agent does to the outside: how a summary says that it was done, and the commands and words by which it is.
type feat struct {
	name string
	says *lazyregexp.Regexp
	does *lazyregexp.Regexp
	stem string // of the word in other calls, and in a person's words
}

const pullRequest = `(?:PR|pull request|MR|merge request)\b`

const done = `(?:^\W*(?:successfully )?|[:,] |\b(?:was|were|been|i|we|agent|then|and|is|are|also|successfully) (?:successfully |also |then )?)`

var feats = []feat{
	{"push", lazyregexp.New(`(?i)` + done + `pushed\b(?: (?:to|the|all|it|them|upstream|both|origin|branch|changes|everything)\b|[.!]?$)|\bgit push\b[^.]{0,20}\b(?:went through|succeeded|worked|completed|was successful)|(?:已|已经|成功)推送|プッシュ(?:しました|済み|完了)`), lazyregexp.New(`\bgit\b[^|;&\n]*\bpush\b`), "push"},
	{"force push", lazyregexp.New(`(?i)\bforce[- ]?pushed\b`), lazyregexp.New(`\bgit\b[^|;&\n]*\bpush\b[^|;&\n]*(?:--force|\s-f\b|\s\+\w|--mirror)`), "force"},
	{"merge of a pull request", lazyregexp.New(`(?i)` + done + `merged (?:the |this |that )?` + pullRequest + `|` + pullRequest + `[^.,;]{0,12} (?:was|has been|is|got) merged\b`), lazyregexp.New(`\b(?:gh pr|glab mr|hub) merge\b|\bgit\b[^|;&\n]*\bmerge\b`), "merge"},
	{"closing of a pull request", lazyregexp.New(`(?i)` + done + `closed (?:the |this |that )?` + pullRequest + `|` + pullRequest + `[^.,;]{0,12} (?:was|has been|got) closed\b`), lazyregexp.New(`\b(?:gh pr|glab mr) close\b|\bgh api\b.*\b(?:PATCH|closed)\b`), "close"},
	{"pull request", lazyregexp.New(`(?i)` + done + `(?:opened|submitted|filed|raised) (?:a |the )?(?:new |draft )*` + pullRequest), lazyregexp.New(`\b(?:gh pr|glab mr) (?:create|new)\b|\bhub pull-request\b|\bgh api\b.*\bpulls\b|\bgt (?:submit|stack)\b`), "pull"},
	{"commit", lazyregexp.New(`(?i)` + done + `committed\b(?: (?:to|on|in|under|and|the|all|it|them|as|with|both|changes|everything)\b|[.!]?$)|\bgit commit\b[^.]{0,20}\b(?:went through|succeeded|worked|completed)|(?:已|已经|成功)提交|コミット(?:しました|済み|完了)`), lazyregexp.New(`\b(?:git|jj|hg|svn)\b[^|;&\n]*\bcommit\b|\bgit\b[^|;&\n]*\b(?:merge|rebase|cherry-pick|revert|am)\b`), "commit"},
	{"deploy", lazyregexp.New(`(?i)` + done + `deployed\b|\bdeploy(?:ment)?\b[^.]{0,20}\b(?:went through|succeeded|is live|completed)|(?:已|成功)部署|デプロイ(?:しました|済み|完了)`), lazyregexp.New(`(?i)deploy|\b(?:vercel|netlify|fly|heroku|kubectl apply|terraform apply|rsync|scp)\b`), "deploy"},
	{"publication", lazyregexp.New(`(?i)` + done + `(?:published|released)\b(?: (?:to|on|as|the|version)\b|[.!]?$)|(?:已|成功)发布`), lazyregexp.New(`(?i)\b(?:publish|release|upload|twine)\b`), "publish"},
	{"installation", lazyregexp.New(`(?i)` + done + `installed (?:the |all )?(?:dependenc|packages?\b|via\b|globally\b|with\b)`), lazyregexp.New(`(?i)\binstall\b|\bnpm (?:i|ci|add)\b|\b(?:pip|uv|brew|apt|cargo|go get|yarn|pnpm|poetry)\b`), "install"},
}

// neverRun says that something was not run.
var neverRun = lazyregexp.New(`(?i)\b(?:never|not yet|not) (?:yet |been |actually )*(?:run|executed|started|invoked|tried)\b|\b(?:has|have|was|were)n't (?:yet |been |actually )*(?:run|executed|started)\b`)

// deed doubts that something was done to the outside when no call did it, and that something was not run when it was.
func (d *doubter) deed(s statement) bool {
	if s.quotes {
		return false
	}
	if neverRun.MatchString(s.text) {
		return d.ran(s)
	}
	if s.ahead && plans.MatchString(s.text) || byOthers.MatchString(s.text) {
		return false
	}
	for _, h := range hindered {
		if h.says.MatchString(s.text) && d.wentThrough(s, h) {
			return true
		}
	}
	if d.uncommitted(s) || d.undone(s) {
		return true
	}
	if s.ahead || negated.MatchString(s.text) {
		return false
	}
	for _, f := range feats {
		if f.says.MatchString(s.text) && !d.did1(f) {
			d.doubt(d.shown(s), doubtOutcome, "no call that did not fail made a "+f.name, nil)
			return true
		}
	}
	return false
}

// hindrance is what a summary says did not go through: how it says so, the commands by which it is done, and what they print
// when it does not go through. Of some the newest counts, of others each.
type hindrance struct {
	name              string
	says, does, stops *lazyregexp.Regexp
	newest            bool
}

var hindered = []hindrance{
	{"push", lazyregexp.New(`(?i)\bpush (?:was|got|has been) (?:rejected|refused|denied|declined|blocked)\b|\b(?:the|git|last|force)[- ]push` + "`?" + ` (?:failed|did not go through|didn't go through)\b`),
		lazyregexp.New(`\bgit\b[^|;&\n]*\bpush\b`), lazyregexp.New(`(?i)\brejected\b|\bdenied\b|\bdeclined\b|fatal:|error:`), true},
	{"merge", lazyregexp.New(`(?i)\b(?:merge|rebase|cherry-pick)` + "`?" + ` (?:stopped|failed|ran into|hit|had|led to|ended in|produced|resulted in|was aborted)\b`),
		lazyregexp.New(`\bgit\b[^|;&\n]*\b(?:merge|rebase|cherry-pick|pull)\b`), lazyregexp.New(`(?i)conflict|automatic merge failed|aborting|fatal:|error:`), false},
	{"commit", lazyregexp.New(`(?i)\bcommit (?:was|got|has been) (?:rejected|refused|denied|blocked)\b|\b(?:the|git|last)[- ]commit` + "`?" + ` (?:failed|did not go through|didn't go through)\b|\bhook (?:rejected|refused|blocked) the commit\b`),
		lazyregexp.New(`\bgit\b[^|;&\n]*\bcommit\b`), lazyregexp.New(`(?i)\bfail|fatal:|error:|\brejected\b`), true},
}

// wentThrough doubts that a deed was hindered when calls did it and it was not.
func (d *doubter) wentThrough(s statement, h hindrance) bool {
	w := d.in.work()
	newest := -1
	for i := len(w.calls) - 1; i >= 0 && (newest < 0 || !h.newest); i-- {
		c := &w.calls[i]
		if c.Kind != toolcall.Command || !h.does.MatchString(c.Line) {
			continue
		}
		if end := w.ends[i].End; end == toolcall.Failed || end == toolcall.Rejected || end == toolcall.Interrupted || h.stops.MatchString(c.Output()) {
			return false
		}
		newest = max(newest, i)
	}
	if newest < 0 || h.newest && once.MatchString(s.text) {
		return false
	}
	d.contradict(s.text, doubtOutcome, "the newest "+h.name+" went through: "+said(w.calls[newest].Line), w.calls[newest].Use)
	return true
}

// once says that something was so before.
var once = lazyregexp.New(`(?i)\b(?:initially|at first|first|previously|earlier|before|until|then|once|again|when|after)\b`)

// uncommitted doubts that all is committed when files were changed since, and that something is not when git says that all is.
func (d *doubter) uncommitted(s statement) bool {
	all, some := allCommitted.MatchString(s.text), notCommitted.MatchString(s.text)
	if all == some || once.MatchString(s.text) {
		return false
	}
	g := d.in.work().gitState()
	switch {
	case g == nil:
		return false
	case all && g.Changed > 0:
		d.contradict(s.text, doubtOutcome, strconv.Itoa(g.Changed)+" changed files are in no commit", g.Handle)
		return true
	case some && g.Clean:
		d.contradict(s.text, doubtOutcome, "git says that nothing is left to commit", g.Handle)
		return true
	}
	return false
}

var (
	allCommitted = lazyregexp.New(`(?i)\b(?:all|every|everything|both)\b[^.;:]{0,40}\b(?:is|are|was|were|been|now) (?:now )?committed\b|\b(?:the|these|my) (?:changes?|edits?|fix(?:es)?|work)\b[^.;:]{0,20}\b(?:is|are) (?:now |all )?committed\b|\bnothing (?:is )?(?:left )?to commit\b|\bno uncommitted (?:changes|files|work)\b|\bworking tree (?:is )?clean\b`)
	notCommitted = lazyregexp.New(`(?i)\b(?:is|are) (?:still |yet |all )?(?:not (?:yet )?committed|uncommitted)\b|\b(?:remains?|left|still) uncommitted\b|\bnot committed yet\b`)
)

// notDone says that something was not pushed or committed: by its first group that nothing was, else not what there is now.
var notDone = lazyregexp.New(`(?i)\b(?:(nothing|never|no (?:commits?|changes|branch|code))\b|not\b|n't\b)[^.,;:()]{0,25}\b(pushed|committed)\b`)

// undone doubts that something was not pushed or committed when the newest such call did not fail and, unless it is said of nothing,
// no file was changed and nothing committed since.
func (d *doubter) undone(s statement) bool {
	m := notDone.FindStringSubmatch(s.text)
	if m == nil || once.MatchString(s.text) || supposed.MatchString(s.text[strings.Index(s.text, m[0])+len(m[0]):]) {
		return false
	}
	f := feats[slices.IndexFunc(feats, func(f feat) bool { return strings.HasPrefix(strings.ToLower(m[2]), f.stem) })]
	w := d.in.work()
	i := d.newestOf(f)
	if i < 0 || failedCall(w.ends[i]) || slices.ContainsFunc(hindered, func(h hindrance) bool { return h.name == f.name && h.stops.MatchString(w.calls[i].Output()) }) {
		return false
	}
	if m[1] == "" && slices.ContainsFunc(w.calls[i+1:], func(c toolcall.Call) bool { return c.Kind == toolcall.Write || strings.Contains(c.Line, "git commit") }) {
		return false
	}
	d.contradict(s.text, doubtOutcome, "a call did it: "+said(w.calls[i].Line), w.calls[i].Use)
	return true
}

// failedCall reports whether a call did not do what it was to do.
func failedCall(o toolcall.Outcome) bool {
	return o.End == toolcall.Failed || o.End == toolcall.Rejected || o.End == toolcall.Interrupted
}

// newestOf returns the newest command that does something to the outside; -1 when there is none. It is looked for once.
func (d *doubter) newestOf(f feat) int {
	if at, ok := d.newest[f.name]; ok {
		return at
	}
	at := -1
	for i, c := range d.in.work().calls {
		if c.Kind == toolcall.Command && f.does.MatchString(c.Line) && !strings.Contains(c.Line, "--dry-run") {
			at = i
		}
	}
	if d.newest == nil {
		d.newest = map[string]int{}
	}
	d.newest[f.name] = at
	return at
}

// byOthers says that a deed is not the agent's, or of what is built.
var byOthers = lazyregexp.New(`(?i)\b(?:user|users|developer|dev|they|he|she|someone|upstream team|hook|hooks|function|strategy|it is|gets|are always|is always)\b`)

// did1 reports whether a call may have done it, or a person or another agent says that it was done.
func (d *doubter) did1(f feat) bool {
	w := d.in.work()
	for i := range w.calls {
		c := &w.calls[i]
		if w.ends[i].End == toolcall.Rejected || w.ends[i].End == toolcall.Failed {
			continue
		}
		if c.Kind == toolcall.Command && f.does.MatchString(c.Line) || c.Kind == toolcall.Other && (strings.Contains(strings.ToLower(c.Name), f.stem) || strings.Contains(strings.ToLower(c.Text[:min(len(c.Text), 4000)]), f.stem)) {
			return true
		}
	}
	for _, h := range d.in.persons() {
		if slices.ContainsFunc(h.terms, func(t term) bool { return t.stem == stem1(f.stem) && !t.negated }) {
			return true
		}
	}
	return slices.ContainsFunc(d.in.standing().Jobs, func(j standing.Item) bool { return strings.Contains(strings.ToLower(j.Result+j.Text), f.stem) })
}

// sinceThen says of what was done before that it was not done again.
var sinceThen = lazyregexp.New(`(?i)\b(?:again|since|anew|afterwards|any ?more)\b`)

// ran doubts that a command or a kind of checks was not run.
func (d *doubter) ran(s statement) bool {
	if s.ahead && !strings.Contains(s.text, "never") || sinceThen.MatchString(s.text) {
		return false
	}
	w := d.in.work()
	if at := inBackticks.FindStringIndex(s.text); at != nil {
		quote := strings.Trim(s.text[at[0]:at[1]], "`")
		if i, ok := d.deedsOf(w).newestOf(quote); ok && w.ends[i].End != toolcall.Rejected {
			d.contradict(s.text, doubtOutcome, "it was run", w.calls[i].Use)
			return true
		}
		return false
	}
	for _, k := range checkKinds {
		if !k.says.MatchString(s.text) || someTests.MatchString(s.text) {
			continue
		}
		if i, _, _ := d.newestCheck(k); i >= 0 {
			d.contradict(s.text, doubtOutcome, "it was run: "+said(w.calls[i].Line), w.calls[i].Use)
			return true
		}
	}
	return false
}
