package digest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// leastNames is the least tokens for names without their lines, up to a quarter of the index.
const leastNames = 120

// briefLines is the most tokens for lines in a text beside a summary by a model. Each line names an
// error: a reader found 7 % of other lines useful there, and two thirds of the rest of the text.
const briefLines = 100

// facts writes the index into the remaining room: lines in their order, then
// names. It returns the number of facts it wrote.
func (in *input) facts(d *draft) int {
	const title = "\n## Lines most likely to be needed again, of the agent and its tools\n"
	before := in.countCovered()
	in.readLast(d, min(d.tokensLeft*layoutFor(in.tokens, in.hasLaterMessages()).read/100, mostOfFiles))
	bare := 0
	if in.bare > 0 {
		bare = max(d.tokensLeft*in.bare/100, min(d.tokensLeft/4, leastNames))
	}
	cover, from := in.cover.Clone(), d.Len()
	in.written = passageOf(d.String())
	room := d.tokensLeft - bare - d.count(title)
	if in.brief {
		room = min(room, briefLines)
	}
	lines := in.chosenLines(float64(room))
	fit := len(lines) == 0 || d.add(title)
	for _, l := range lines {
		fit = fit && d.add(l+"\n")
	}
	if !fit { // some lines cost more than estimated
		in.cover = cover
		in.cover.AddText(d.String()[from:])
	}
	told := in.countCovered() - before
	if in.bare > 0 {
		told += in.names(d)
	}
	return told
}

// countCovered counts the facts that are covered.
func (in *input) countCovered() int {
	n := 0
	for f := range in.worth {
		if in.cover.Seen(f) {
			n++
		}
	}
	return n
}

// chosenLines returns the lines of the digest, chosen within a budget and joined by message.
func (in *input) chosenLines(budget float64) (out []string) {
	pieces := in.pieces()
	keep := in.choosePieces(pieces, budget)
	at, mark := -1, ""
	var line strings.Builder
	flush := func() {
		if line.Len() > 0 {
			out = append(out, line.String())
			line.Reset()
		}
	}
	last := retain.Piece{Text: -1}
	strike := removedLineFinder{in: in}
	for i, k := range keep {
		if !k {
			continue
		}
		p := pieces[i]
		t := &in.x.Texts[p.Text]
		text := folded(plain.Text(unescaped(t, t.Body[p.Start:p.End])),
			last.Text == p.Text && last.End == p.Start, strike.removedIn(p.Text))
		if strings.Trim(text, "0123456789: ") == "" { // only a frame, or removed since
			continue
		}
		switch is := in.speakerMark(t); {
		case t.Handle.From != at || is != mark:
			flush()
			at, mark = t.Handle.From, is
			fmt.Fprintf(&line, "- %s%s: %s", in.handle(at), mark, text)
		case last.Text == p.Text && last.End == p.Start:
			line.WriteString("\n " + text)
		default:
			line.WriteString(between + text)
		}
		last = p
	}
	flush()
	return out
}

// choosePieces reports for each piece whether the digest includes it: first the text of the newest edits,
// then the pieces with the most worth for their size.
func (in *input) choosePieces(pieces []retain.Piece, budget float64) []bool {
	keep := make([]bool, len(pieces))
	budget -= in.newestWork(pieces, keep,
		budget*float64(layoutFor(in.tokens, in.hasLaterMessages()).work)/100)
	rest, at := make([]retain.Piece, 0, len(pieces)), make([]int, 0, len(pieces))
	for i, k := range keep {
		if !k {
			rest, at = append(rest, pieces[i]), append(at, i)
		}
	}
	for i, k := range in.x.Choose(rest, in.worth, in.cover, budget) {
		keep[at[i]] = k
	}
	return keep
}

// newestWork marks the text of the newest edits in keep, newest first, each edit whole or not at
// all, within room tokens. It returns the cost.
func (in *input) newestWork(pieces []retain.Piece, keep []bool, room float64) (cost float64) {
	if in.onlyNew { // the gate adds facts that a summary lacks; the summary words the edits its own way
		return 0
	}
	for end := len(pieces); end > 0; {
		from, sum := end-1, pieces[end-1].Cost
		for from > 0 && pieces[from-1].Text == pieces[end-1].Text {
			from--
			sum += pieces[from].Cost
		}
		if in.reuse.IsRecentEdit(pieces[from].Text) && !in.isUndone(pieces[from].Text) && cost+sum <= room {
			cost += sum
			for i := from; i < end; i++ {
				keep[i] = true
				in.cover.AddPiece(pieces[i].Text, pieces[i].Start, pieces[i].End)
			}
		}
		end = from
	}
	return cost
}

// isUndone reports whether git undid the effect of a text's call.
func (in *input) isUndone(text int) bool {
	t := &in.x.Texts[text]
	return t.Call >= 0 && in.work().UndoneBy(int(t.Call)) != ""
}

// between separates parts of a message that do not follow each other.
const between = "\n · "

// speakerMark returns a mark in front of a text: the user's text, as opposed to text of the agent and
// its tools; the text of a call that was refused; or of a write that failed.
func (in *input) speakerMark(t *retain.Text) string {
	if t.Source == retain.SourceUser {
		return " (user)"
	}
	if t.Call >= 0 && t.Source != retain.SourceWritten {
		if by := in.work().CommitUndoneBy(int(t.Call)); by != "" {
			return " (undone since, " + by + ")"
		}
	}
	if t.Call < 0 || t.Source != retain.SourceWritten && t.Source != retain.SourceArguments {
		return ""
	}
	switch w := in.work(); {
	case w.IsAllowed(int(t.Call)):
		return " (refused by the user, then allowed)"
	case w.Ends[t.Call].Claimed:
		return " (refused, as its result says)"
	case w.Ends[t.Call].End == toolcall.Rejected:
		return " (refused by the user, not done)"
	case w.Ends[t.Call].End == toolcall.Failed && w.Calls[t.Call].Kind == toolcall.Write:
		return " (failed, not written)"
	case t.Source == retain.SourceWritten && w.UndoneBy(int(t.Call)) != "":
		return " (reverted since, " + w.UndoneBy(int(t.Call)) + ")"
	case t.Source == retain.SourceWritten && w.IsGone(int(t.Call)):
		return " (the file is gone since)"
	}
	return ""
}

// isRefusalResult reports whether a text is the result of a refused call, which another section lists.
func (in *input) isRefusalResult(t *retain.Text) bool {
	return t.Call >= 0 && t.Source != retain.SourceUser && t.Source != retain.SourceWritten &&
		t.Source != retain.SourceArguments && in.work().Ends[t.Call].End == toolcall.Rejected
}

// unescaped returns the strings in a part of a result that is a JSON object, as text; any other
// text unchanged.
func unescaped(t *retain.Text, part string) string {
	if t.Source < retain.SourceFile || t.Source == retain.SourceHarness || !strings.HasPrefix(t.Body, `{"`) {
		return part
	}
	return escapes.Replace(part)
}

var escapes = strings.NewReplacer(`\u001b`, "\x1b", `\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`)

// folded returns lines without common indentation, empty lines, lines of the agent's program and
// lines that are gone, see [removedLineFinder]. If the lines are numbered, the number of the first precedes
// them.
func folded(text string, goesOn bool, gone func(line string) bool) string {
	var out []string
	number := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if n := retain.NumberColumn(line); n > 0 {
			if len(out) == 0 && !goesOn {
				number = strings.Trim(line[:n], " \t→|:") + ": "
			}
			line = line[n:]
		}
		if bare := strings.TrimSpace(line); bare != "" && !harness.IsRemark(bare) &&
			(gone == nil || !gone(bare)) {
			out = append(out, line)
		}
	}
	shared := len(text)
	for _, line := range out {
		shared = min(shared, len(line)-len(strings.TrimLeft(line, " \t")))
	}
	for i, line := range out {
		line = line[shared:]
		rest := strings.TrimLeft(line, " \t")
		indent := strings.ReplaceAll(line[:len(line)-len(rest)], "\t", " ")
		rest = retain.Folded(rest)
		if strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "- m") {
			rest = `\` + rest // only the digest itself begins lines like this
		}
		out[i] = indent[:min(len(indent), 4)] + rest
	}
	return number + strings.Join(out, "\n ")
}

// alsoMentioned is the title of the names that appear in no other section.
const alsoMentioned = "## Also mentioned"

// names lists missing facts in the order of their mention. The facts with the most worth are chosen
// until the room is used. It returns the number of facts listed.
func (in *input) names(d *draft) int {
	digits := in.onlyNew || layoutFor(in.tokens, in.hasLaterMessages()).calls
	order := make([]int, 0, len(in.worth))
	density := make([]float64, len(in.worth))
	for f, w := range in.worth {
		if w > 0 && !in.cover.Seen(f) && (digits || !in.isBareNumber(f)) &&
			in.x.Facts[f].Name != toolcall.PatchProgram {
			order = append(order, f)
			density[f] = w / float64(len(in.name(f))+2)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(density[b], density[a]) })
	title := "\n" + alsoMentioned + "\n"
	if in.base != "" {
		title = "\n" + alsoMentioned + " (paths are under " + native(in.base) + ")\n"
	}
	left := d.tokensLeft - d.count(title) - 2
	var chosen []int
	for _, f := range order {
		c := d.count(in.name(f) + ", ")
		if c > left {
			break
		}
		left -= c
		chosen = append(chosen, f)
	}
	if len(chosen) == 0 || !d.add(title+in.namesInOrder(chosen)) {
		return 0
	}
	return len(chosen)
}

// name returns the name of a fact, of a path without the root.
func (in *input) name(f int) string {
	fact := &in.x.Facts[f]
	if fact.Kind == retain.KindQuote {
		return `"` + plain.Text(fact.Name) + `"` // recognized as the same fact
	} else if fact.Kind != retain.KindPath {
		return plain.Text(fact.Name)
	}
	short := relative(fact.Name, in.base)
	if k, ok := in.x.Find(short, retain.KindPath); !ok || k != f {
		return fact.Name // the shortened path would not be recognized as the same fact
	}
	return short
}

// isBareNumber reports whether a fact is digits alone, which mean little to a reader without their
// line. A large digest before the newest messages lists them still: .002 of the needed facts are
// bare numbers, and they cost few tokens; the gate adds all facts that a summary lacks.
func (in *input) isBareNumber(fact int) bool {
	f := &in.x.Facts[fact]
	return f.Kind == retain.KindNumber && strings.Trim(f.Name, "0123456789.,") == ""
}

// namesInOrder lists facts in the order of their mention, so that related names stay together.
func (in *input) namesInOrder(facts []int) string {
	place := in.x.LastMentions(facts)
	sort.SliceStable(facts, func(a, b int) bool { return place[facts[a]] < place[facts[b]] })
	names := make([]string, len(facts))
	for i, f := range facts {
		names[i] = in.name(f)
	}
	return strings.Join(names, ", ")
}
