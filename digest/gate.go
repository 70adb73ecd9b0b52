package digest

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/digest/requests"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
	"github.com/precis-dev/precis/verify"
	"github.com/precis-dev/precis/workstate"
)

// Gate checks summaries and markers: a text that hides messages must name the user's rules, the
// last request, the files that were written and the facts most likely to be needed again. Gate adds
// missing ones, within Share of the hidden tokens; those that do not fit are in the loss report,
// see [Gate.Audit]. The zero value is ready; it is safe for concurrent use.
type Gate struct {
	// Share limits the added tokens, as a share of the hidden tokens; 0 means 0.05. At least 60
	// tokens are allowed, at most half of the tokens saved.
	Share float64
}

// Admit adds missing facts to an edit that hides messages.
func (g Gate) Admit(_ context.Context, s *policy.Situation, e precis.Edit) (precis.Edit, error) {
	if e.Kind != precis.KindCondensation && e.Kind != precis.KindTruncation {
		return e, nil
	}
	if g.Share == 0 {
		g.Share = 0.05
	}
	at, spans, hidden, saved := hiddenSpans(s, e)
	if at < 0 || saved <= 0 {
		return e, nil
	}
	x, worth, reuse := retain.Of(s)
	in := input{
		x: x, worth: worth, reuse: reuse, copies: shownLines(s, spans), cover: coverageOutside(s, x, spans),
		messages: retain.WithoutRewound(s.Transcript, s.Edits),
		tokens:   min(max(int(g.Share*float64(hidden)), 60), saved/2),
		covered:  func(i int) bool { return within(spans, i) },
		count:    func(t string) int { return s.Meter.Block(precis.RoleUser, precis.Text{Text: t}) },
	}
	in.workReading, in.carried = func() *workstate.Reading { return workstate.In(s) }, s.Holds
	in.others = func() string { return retain.FoldedText(messagesOutside(s, spans)) }
	in.sources = s.Conversation.System.PlainText() + "\n" + s.Environment
	own := e.Replace[at].OwnIndex()
	first := e.Replace[at].With[own]
	main := slices.IndexFunc(first.Content, func(b precis.Block) bool { _, ok := b.(precis.Text); return ok })
	if main < 0 {
		return e, nil
	}
	text := first.Content[main].(precis.Text).Text
	digested := isDigest(e.Report.Rung)
	// Rules may need more than a share of the hidden text, which may be a digest already.
	if need := 2*in.ruleTokens(retain.Folded(text)+"\n"+in.others()) + ruleFrame; !digested &&
		need > in.tokens {
		in.tokens = min(need, max(in.tokens, s.Target/mostRules), saved/2)
	}
	e.Report.Likely, e.Report.Held = in.held(text)
	if r := in.repair(text, digested); r.Text != text {
		e.Report.Repaired, e.Report.Doubted = r.count, len(r.Doubts)
		e.Replace = append([]precis.Replacement(nil), e.Replace...)
		content := slices.Clone(first.Content)
		content[main] = precis.Text{Text: r.Text}
		e.Replace[at].With = slices.Clone(e.Replace[at].With)
		e.Replace[at].With[own] = precis.Message{Role: first.Role, Content: content}
		e.Report.Notes = append(e.Report.Notes, r.Added...)
	}
	return e, nil
}

// rulesTitle is the heading over sentences that a person typed and a summary lacks, see
// [retain.Constraints].
const rulesTitle = "## Typed by the user"

// The gate adds rules up to 1/mostRules of the target, however little was hidden; ruleFrame is the
// tokens around them.
const (
	ruleFrame = 100
	mostRules = 10
)

// held counts the facts that are likely to be needed again and that the view shows nowhere else,
// and how many of them a text contains.
func (in *input) held(text string) (likely, held int) {
	with := in.cover.Clone()
	with.AddText(text)
	for f, w := range in.worth {
		if w < retain.LikelyWorth || in.cover.Seen(f) {
			continue
		}
		if likely++; with.Seen(f) {
			held++
		}
	}
	return likely, held
}

// hiddenSpans returns, for an edit that hides messages, the index of the replacement with the summary
// (-1: none), the hidden spans, their tokens, and the tokens saved. Items in force are not hidden:
// the view shows them again.
func hiddenSpans(s *policy.Situation, e precis.Edit) (at int, spans [][2]int, tokens, saved int) {
	at = -1
	for i, p := range e.Replace {
		if p.Block != nil {
			continue
		}
		spans = append(spans, [2]int{p.From, p.To})
		if own := p.OwnIndex(); at < 0 && own >= 0 && len(p.With[own].Content) > 0 &&
			(precis.Replacement{With: p.With[own+1:]}).OwnIndex() < 0 {
			at = i // a single message replaces the span
		}
	}
	for _, u := range s.Units {
		if within(spans, u.From) {
			tokens += s.Meter.View(u.Messages)
		}
	}
	for _, span := range spans {
		tokens -= s.HeldTokens(span[0], span[1])
	}
	saved = tokens
	for _, p := range e.Replace {
		for k := p.OwnIndex(); p.Block == nil && k >= 0; k = p.OwnIndex() {
			saved -= s.Meter.View(p.With[k : k+1])
			p.With = p.With[k+1:]
		}
	}
	return at, spans, tokens, saved
}

// messagesOutside returns the messages that the view shows outside the spans.
func messagesOutside(s *policy.Situation, spans [][2]int) []precis.Message {
	var out []precis.Message
	for _, u := range unitsOutside(s, spans) {
		out = append(out, u.Messages...)
	}
	return out
}

func unitsOutside(s *policy.Situation, spans [][2]int) []precis.Unit {
	var out []precis.Unit
	for _, u := range s.Units {
		if !within(spans, u.From) {
			out = append(out, u)
		}
	}
	return out
}

// Audit reports what the view of a situation keeps.
func (g Gate) Audit(s *policy.Situation, made []precis.Edit) policy.Retention {
	return g.AuditAll(s).Capped()
}

// AuditAll reports what the view of a situation keeps, with all that is lost.
func (g Gate) AuditAll(s *policy.Situation) policy.Retention {
	x, worth, _ := retain.Of(s)
	return x.MeasureView(worth, s.Units)
}

// Loss reports the content that a run removed from the view entirely.
func (g Gate) Loss(s *policy.Situation, before []precis.Edit) policy.Loss {
	return retain.LossOf(s, before)
}

// Repaired is a summary after [Repair].
type Repaired struct {
	Text  string   `json:"summary"`
	Added []string `json:"added"` // the added facts, one line each
	// facts that are likely to be needed, missing, and did not fit
	Lost      []policy.LostAnchor `json:"lost,omitempty"`
	Rules     []policy.LostAnchor `json:"rules_lost,omitempty"`
	Retention policy.Retention    `json:"retention"`
	// Doubts are the statements of the summary that the conversation contradicts or does not
	// support, the most consequential ones first.
	Doubts []verify.Doubt `json:"doubts,omitempty"`

	count int // number of facts added
}

// RepairOptions controls a repair. The zero value suits a conversation that no other text
// accompanies.
type RepairOptions struct {
	Count func(string) int // size of a text in tokens; nil: a token is four characters
	// how texts name a message of the request; nil: m12 for the twelfth of the transcript
	Handle func(message int) string
	// Beside is text that the model sees together with the summary, such as a digest or later
	// messages. Facts in it are not missing; its statements are not checked.
	Beside string
	// Brief adds few single lines of results and no names, for readers who have few tokens to spare.
	Brief bool
}

// Repair checks a summary of the whole conversation, whoever wrote it, and adds missing content:
// rules, the last request, files, and the facts most likely to be needed again. r.Messages is the
// conversation, r.Previous the summary, r.MaxTokens the size of the result at most; 0 means 1500
// tokens more than the summary has.
func Repair(r policy.SummaryRequest, o RepairOptions) Repaired {
	in := inputOf(r, o.Count, o.Handle)
	in.shown, in.brief = o.Beside, o.Brief
	in.others = func() string { return retain.Folded(o.Beside) }
	if in.tokens = moreTokens; r.MaxTokens != 0 {
		in.tokens = r.MaxTokens - in.count(r.Previous)
	}
	in.cover.AddText(o.Beside)
	in.copies.Add(o.Beside)
	out := in.repair(r.Previous, false)
	view := []precis.Message{precis.NewText(precis.RoleUser, out.Text),
		precis.NewText(precis.RoleUser, o.Beside)}
	before := []precis.Message{precis.NewText(precis.RoleUser, r.Previous), view[1]}
	out.Retention = in.x.Measure(in.worth, view, before).Capped()
	for _, lost := range [][]policy.LostAnchor{out.Retention.Lost, out.Retention.RulesLost} {
		for i := range lost {
			lost[i].Handle.From += r.From
			lost[i].Handle.To += r.From
		}
	}
	out.Lost, out.Rules = out.Retention.Lost, out.Retention.RulesLost
	out.Retention.Lost, out.Retention.RulesLost = nil, nil
	return out
}

// repairBare is the percentage of names without their lines among the facts
// that are added.
const repairBare = 40

// moreTokens is the room for a repair when the request states none.
const moreTokens = 1500

// repair appends doubts and missing facts to a text that replaces the covered messages, within
// in.tokens. With own, the text is a digest: it was written from the conversation and chose its
// facts, so repair adds neither doubts nor facts.
func (in *input) repair(text string, own bool) Repaired {
	out := Repaired{Text: text}
	if in.onlyNew = !own; !own && in.tokens > 0 {
		out.Doubts = in.verifyPast().Doubts(text, 0, false)
	}
	in.cover.AddText(text)
	in.copies.Add(text)
	d := &draft{count: in.count, tokensLeft: in.tokens}
	if !d.add("\n\n" + verify.AdditionsTitle + "\n") {
		return out
	}
	empty := d.Len()
	have := retain.Folded(text) + "\n" + in.others()
	say := func(n int, one, more string) {
		if n == 1 {
			out.Added = append(out.Added, "1 "+one)
		} else if n > 1 {
			out.Added = append(out.Added, fmt.Sprintf("%d %s", n, more))
		}
	}
	note := func(n int, one, more string) {
		out.count += n
		say(n, one+" added", more+" added")
	}
	const unborne = " not borne out by the conversation"
	say(d.section(verify.DoubtsTitle, in.doubtLines(out.Doubts), d.tokensLeft/3), "statement is"+unborne,
		"statements are"+unborne)
	if !strings.Contains(text, "<command") {
		note(in.workflows(d), "workflow", "workflows")
	}
	request := &draft{count: d.count, tokensLeft: d.tokensLeft / 2}
	requests := in.lastRequest(request, have)
	if !own { // a digest has chosen its quotes
		rules := in.missingRules(have+"\n"+retain.Folded(request.String()),
			d.tokensLeft/2-d.count(rulesTitle)-1)
		note(d.section(rulesTitle, rules, d.tokensLeft/2), "rule", "rules")
	}
	d.add(request.String())
	note(requests, "last request", "last requests")
	note(in.addMissingFiles(d, have), "written file", "written files")
	if !own {
		note(in.missingRuns(d, text+"\n"+in.shown), "failure that still stands", "failures that still stand")
		note(in.missingJobs(d, have), "agent", "agents")
		note(in.missingPlan(d, have), "step of the plan", "steps of the plan")
		note(in.addMissingSkills(d, have), "skill", "skills")
		in.cover.AddText(d.String())
		if !in.brief {
			in.bare = repairBare
		}
		note(in.facts(d), "fact", "facts")
	}
	if d.Len() > empty {
		out.Text = text + strings.TrimRight(d.String(), "\n")
	}
	return out
}

// doubtLines writes doubts for a model.
func (in *input) doubtLines(all []verify.Doubt) []string {
	var out []string
	for _, d := range all {
		line := d.Line()
		if d.Handle != nil {
			line += " (" + in.handle(d.Handle.From-in.offset) + ")"
		}
		out = append(out, line)
	}
	return out
}

// newestRuns is the heading over failures that are unresolved and missing in a summary.
const newestRuns = "## Newest runs that failed"

// missingRuns adds the newest runs that failed and that a text does not mention.
func (in *input) missingRuns(d *draft, text string) int {
	const most = 6
	var runs []effects.Command
	untold := in.verifyPast().Unmentioned(text)
	for _, r := range in.work().NewestRuns(in.covered) {
		if len(runs) < most && slices.ContainsFunc(untold,
			func(f verify.Failure) bool { return f.Line == r.Given && f.Message == r.At }) {
			runs = append(runs, r)
		}
	}
	return d.section(newestRuns, in.commandLines(runs, nil, most), d.tokensLeft/4)
}

// missingJobs adds the newest jobs (other agents and background work) that a text does not name by
// ID. Without the ID an agent would never ask for the result again.
func (in *input) missingJobs(d *draft, have string) int {
	const most = 8
	var missing []workstate.Item
	for _, j := range in.workState().Jobs {
		if j.ID == "" || !strings.Contains(have, j.ID) {
			missing = append(missing, j)
		}
	}
	lines := in.jobs(missing)
	return d.section(jobsTitle, lines[:min(len(lines), most)], d.tokensLeft/5)
}

// missingPlan adds the steps of the plan that are still open and that a text does not name.
func (in *input) missingPlan(d *draft, have string) int {
	var lines []string
	for _, s := range in.coveredItems(in.workState().OpenSteps()) {
		if !strings.Contains(have, retain.Folded(strings.TrimSuffix(s.Text, "…"))) {
			lines = append(lines, s.Line(in.handleText))
		}
	}
	return d.section("## Plan, what is open", lines, d.tokensLeft/6)
}

// addMissingSkills adds loaded skills that a text does not name, and skills with missing rules.
func (in *input) addMissingSkills(d *draft, have string) int {
	var missing []workstate.Item
	for _, s := range in.skills() {
		s.Orders = slices.DeleteFunc(slices.Clone(s.Orders), func(o string) bool {
			return len(retain.Constraints(o)) == 0 || strings.Contains(have, retain.Folded(o))
		})
		if len(s.Orders) > 0 || !strings.Contains(have, s.Text) {
			missing = append(missing, s)
		}
	}
	lines := in.skillLines(missing, d.tokensLeft/6)
	return d.section(skillsTitle, lines, d.tokensLeft/5)
}

// ruleTokens counts the covered rules that a text is missing.
func (in *input) ruleTokens(have string) (tokens int) {
	for _, line := range in.missingRules(have, math.MaxInt) {
		tokens += in.count(line) + 1
	}
	return tokens
}

// missingRules returns the covered rules that a text is missing, in order, as
// many as fit in the given number of tokens.
func (in *input) missingRules(have string, most int) []string {
	var missing []retain.Rule
	for _, r := range in.x.Rules() {
		if in.covered(r.Handle.From) && !strings.Contains(have, retain.Folded(r.Text)) {
			missing = append(missing, r)
		}
	}
	line := func(r retain.Rule) string {
		return "- " + in.handle(r.Handle.From) + ": " + plain.Indent(r.Text)
	}
	kept := retain.Fair(missing, func(r retain.Rule) bool {
		c := in.count(line(r)) + 1
		if c > most {
			return false
		}
		most -= c
		return true
	})
	out := make([]string, len(kept))
	for i, r := range kept {
		out[i] = line(r)
	}
	return out
}

// lastRequest adds the user's last request when it is covered, and its beginning or end is missing.
func (in *input) lastRequest(d *draft, have string) int {
	all := in.record().said
	if len(all) == 0 {
		return 0
	}
	last, w := all[requests.NewestTurn(all)], in.requestWriter()
	const title, end = "## The user's last request", 60 // bytes at each end that identify it in another cut
	text := retain.Folded(last.Text)
	isShown := strings.Contains(have, text[:min(len(text), end)]) && strings.Contains(have,
		text[max(len(text)-end, 0):])
	words := retain.Fit(last.Text, d.tokensLeft-d.count(title)-d.count(w.Line(last, ""))-2, d.count)
	if words == "" || isShown || !in.covered(last.At) {
		return 0
	}
	return d.section(title, []string{w.Line(last, words)}, d.tokensLeft)
}

// addMissingFiles adds the files written that are not named yet.
func (in *input) addMissingFiles(d *draft, have string) int {
	files := in.work().FilesOf(in.covered)
	in.base = effects.RootOf(files)
	alike := map[int]int{} // written files with the same name
	for _, f := range files {
		if k, ok := in.x.Find(f.Path, retain.KindPath); ok && f.LastWrite >= 0 {
			alike[k]++
		}
	}
	var missing []effects.File
	for _, f := range files {
		if f.LastWrite < 0 {
			continue
		}
		k, ok := in.x.Find(f.Path, retain.KindPath)
		switch {
		case ok && alike[k] > 1:
			ok = strings.Contains(have, f.Path) || strings.Contains(have, native(f.Path))
		case ok:
			ok = in.cover.Seen(k)
		default:
			ok = holdsWord(have, path.Base(f.Path))
		}
		if !ok {
			missing = append(missing, f)
		}
	}
	return fileList{in, in.listedFiles(missing)}.writtenSection(d, d.tokensLeft/2)
}

// holdsWord reports whether a text contains a name that is not part of a longer one.
func holdsWord(text, name string) bool {
	isWord := func(r rune) bool { return r == '_' || r == '-' || prose.IsLetterOrDigit(r) }
	for {
		before, after, ok := strings.Cut(text, name)
		if !ok || name == "" {
			return false
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(after)
		if !isWord(last) && !isWord(next) {
			return true
		}
		text = after
	}
}
