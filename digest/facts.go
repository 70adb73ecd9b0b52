package digest

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"precis"
	"precis/internal/harness"
	"precis/internal/toolcall"
	"precis/retain"
)

// layout states how the room of an index is divided.
type layout struct {
	short int // bytes up to which a line is joined with the next
	long  int // bytes of the longest line
	bare  int // percent of the room for names without their lines
	work  int // percent of the room that what the newest edits wrote may take before any other line
}

// layoutFor returns the layout for an index of the given number of tokens: with more room,
// longer passages are worth more than more of them. Measured with views of half
// the window: lines of 60 to 150 bytes keep 0.976 of the facts needed, 0.818 of
// the older ones with their context and 0.786 word for word; 120 to 300: 0.978,
// 0.832, 0.800; 200 to 400: 0.977, 0.816, 0.809. In digests of 3500 tokens, names
// that take 20, 35, 50 percent: 0.879, 0.896, 0.889 of the facts. With what the
// newest edits wrote taking up to 0, 10, 20, 30 percent first, views of half the
// window keep 0.926, 0.950, 0.961, 0.961 of it, 0.824, 0.829, 0.834, 0.834 word
// for word, and 0.977, 0.977, 0.976, 0.976 of the older facts; a digest of 3500
// tokens has no room for it.
func layoutFor(tokens int) layout {
	if tokens < 5000 {
		return layout{short: 60, long: 150, bare: 35}
	}
	return layout{short: 120, long: 300, bare: 20, work: 20}
}

// facts writes the index into the remaining room: lines in their order, then
// names. It returns the number of facts it wrote.
func (in *input) facts(d *draft) int {
	const title = "\n## Lines most likely to be needed again, of the agent and its tools\n"
	bare := d.left * in.bare / 100
	cover, from, before := in.cover.Clone(), d.Len(), in.seen()
	in.written = d.String()
	lines := in.choose(float64(d.left - bare - d.count(title)))
	whole := len(lines) == 0 || d.add(title)
	if !whole {
		lines = nil
	}
	for _, l := range lines {
		short := firstOf(l, d.left-1, d.count)
		whole = d.add(short+"\n") && len(short) == len(l) && whole
	}
	if !whole { // some lines cost more than estimated
		in.cover = cover
		in.cover.String(d.String()[from:])
	}
	return in.seen() - before + in.names(d)
}

// seen counts the facts that are covered.
func (in *input) seen() int {
	n := 0
	for f := range in.worth {
		if in.cover.Seen(f) {
			n++
		}
	}
	return n
}

// firstOf returns as many of the parts of a line as fit in the given number of tokens, and at
// least one.
func firstOf(line string, tokens int, count func(string) int) string {
	for count(line) > tokens {
		i := strings.LastIndex(line, between)
		if i < 0 {
			break
		}
		line = line[:i]
	}
	return line
}

// choose returns the chosen lines, grouped by message.
func (in *input) choose(budget float64) []string {
	pieces := in.pieces()
	keep := in.chosen(pieces, budget)
	var out []string
	at, mark := -1, ""
	var line strings.Builder
	flush := func() {
		if line.Len() > 0 {
			out = append(out, line.String())
			line.Reset()
		}
	}
	last := retain.Piece{Text: -1}
	for i, k := range keep {
		if !k {
			continue
		}
		p := pieces[i]
		t := &in.x.Texts[p.Text]
		text := folded(harness.Plain(unescaped(t, t.Body[p.Start:p.End])), last.Text == p.Text && last.End == p.Start)
		switch is := in.speaker(t); {
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

// chosen reports for each piece whether the digest tells it: what the newest edits wrote first, then those with
// the most worth for their size.
func (in *input) chosen(pieces []retain.Piece, budget float64) []bool {
	keep := make([]bool, len(pieces))
	budget -= in.newestWork(pieces, keep, budget*float64(layoutFor(in.tokens).work)/100)
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

// newestWork keeps what the newest edits wrote as far as it costs no more than room, each edit whole or not at
// all, the newest first. It returns what it costs.
func (in *input) newestWork(pieces []retain.Piece, keep []bool, room float64) (cost float64) {
	if in.onlyNew { // the gate adds what a summary lacks, and that is told in other words
		return 0
	}
	for end := len(pieces); end > 0; {
		from, sum := end-1, pieces[end-1].Cost
		for from > 0 && pieces[from-1].Text == pieces[end-1].Text {
			from--
			sum += pieces[from].Cost
		}
		if in.reuse.Work(pieces[from].Text) && cost+sum <= room {
			cost += sum
			for i := from; i < end; i++ {
				keep[i] = true
				in.cover.Piece(pieces[i].Text, pieces[i].Start, pieces[i].End)
			}
		}
		end = from
	}
	return cost
}

// between stands between parts of a message that do not follow each other.
const between = "\n · "

// speaker returns the mark for the user's text, which distinguishes it from text of the agent and its
// tools, and for what a call would have done that was refused, or failed to write.
func (in *input) speaker(t *retain.Text) string {
	if t.Source == retain.User {
		return " (user)"
	}
	if t.Call < 0 || t.Source != retain.Written && t.Source != retain.Called {
		return ""
	}
	switch w := in.work(); {
	case w.ends[t.Call].End == toolcall.Rejected:
		return " (refused by the user, not done)"
	case w.ends[t.Call].End == toolcall.Failed && w.calls[t.Call].Kind == toolcall.Write:
		return " (failed, not written)"
	case t.Source == retain.Written && w.isGone(int(t.Call)):
		return " (the file is gone since)"
	}
	return ""
}

// tellsRefusal reports whether a text is the result of a call that the user refused: the digest names it.
func (in *input) tellsRefusal(t *retain.Text) bool {
	return t.Call >= 0 && t.Source != retain.User && t.Source != retain.Written && t.Source != retain.Called && in.work().ends[t.Call].End == toolcall.Rejected
}

// unescaped returns a part of a result that is a JSON object as the text that its
// strings hold; any other text as it is.
func unescaped(t *retain.Text, part string) string {
	if t.Source < retain.ReadFile || t.Source == retain.Harness || !strings.HasPrefix(t.Body, `{"`) || !strings.Contains(part, `\`) {
		return part
	}
	if i := strings.LastIndex(part, `","metadata":{`); i >= 0 {
		part = part[:i]
	}
	return escapes.Replace(strings.TrimPrefix(part, `{"output":"`))
}

var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`, `\\`, `\`)

// folded returns lines without the indentation that they share, empty ones left out,
// with the number of the first if they are numbered.
func folded(text string, goesOn bool) string {
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
		if line != "" {
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
		rest = strings.Join(strings.Fields(rest), " ")
		if strings.HasPrefix(rest, "## ") || strings.HasPrefix(rest, "- m") {
			rest = `\` + rest // only the digest itself begins lines so
		}
		out[i] = indent[:min(len(indent), 4)] + rest
	}
	return number + strings.Join(out, "\n ")
}

// pieces splits the covered texts into lines.
func (in *input) pieces() []retain.Piece {
	var out []retain.Piece
	at := layoutFor(in.tokens)
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if !in.covered(t.Handle.From) || t.Source == retain.Harness || in.tellsRefusal(t) || t.Source == retain.Called && (isChoice(t.Body) || in.listed(t)) {
			continue
		}
		for _, p := range slices.Backward(in.linesOf(i, at)) {
			if in.quotes(t, p.Start, p.End) {
				continue
			}
			line := t.Body[p.Start:p.End]
			p.Cost = float64(len(strings.TrimSpace(line)))/4 + 1.5
			p.Bonus *= in.copies.Fresh(line)
			out = append(out, p)
		}
		in.copies.Add(t.Body)
	}
	slices.Reverse(out)
	return out
}

// linesOf returns the lines of a text that may be told, with the worth of each for being repeated word for word.
func (in *input) linesOf(text int, at layout) []retain.Piece {
	if in.lines != nil && !in.onlyNew {
		if known, ok := in.lines(text, at); ok {
			return known
		}
	}
	t := &in.x.Texts[text]
	var out []retain.Piece
	for start := 0; start < len(t.Body); {
		end := at.pieceEnd(t, start)
		if in.worthALine(text, start, end) || !in.onlyNew && in.reuse.Work(text) {
			out = append(out, retain.Piece{Text: text, Start: start, End: end, Bonus: in.reuse.Worth(text, start, end)})
		}
		start = end
	}
	return out
}

// quotes reports whether the digest has quoted a part of the user's text already.
func (in *input) quotes(t *retain.Text, start, end int) bool {
	if t.Source != retain.User {
		return false
	}
	for line := range strings.Lines(t.Body[start:end]) {
		if !strings.Contains(in.written, strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

// listed reports whether a call says no more than a command or a path that the digest
// has named already.
func (in *input) listed(t *retain.Text) bool {
	if t.Call < 0 || strings.Contains(t.Body, "\n") {
		return false
	}
	c := &in.x.Calls[t.Call]
	switch rest := len(t.Body) - len(c.Name) - 1; {
	case c.Kind == toolcall.Command && rest <= len(c.Line):
		return strings.Contains(in.written, "`"+commandLine(c.Line)+"`")
	case c.Kind == toolcall.Read && c.Path != "" && rest <= len(c.Path):
		return strings.Contains(in.written, relative(c.Path, in.base))
	}
	return false
}

// worthALine reports whether a part of a text mentions a fact; with onlyNew
// set, a fact not shown yet.
func (in *input) worthALine(text, start, end int) bool {
	if in.onlyNew {
		return in.cover.New(text, start, end)
	}
	return in.x.Mentions(text, start, end)
}

// pieceEnd returns where the part of a text that begins at start ends: a call on one line is not parted, since the
// rest of it says nothing alone.
func (l layout) pieceEnd(t *retain.Text, start int) int {
	if t.IsCall() {
		return len(t.Body)
	}
	return l.lineEnd(t.Body, start)
}

// lineEnd returns where the line at start ends, or where a long one is cut.
// Short lines are joined with those that follow, for their context.
func (l layout) lineEnd(s string, start int) int {
	end := l.oneLineEnd(s, start)
	for end < len(s) && end-start < l.short {
		next := l.oneLineEnd(s, end)
		if next-start > l.long {
			break
		}
		end = next
	}
	return end
}

func (l layout) oneLineEnd(s string, start int) int {
	limit := min(start+l.long, len(s))
	if i := strings.IndexByte(s[start:limit], '\n'); i >= 0 {
		return start + i + 1
	}
	if limit == len(s) {
		return limit
	}
	if i := strings.LastIndexAny(s[start:limit], " ,;)"); i > l.long/2 {
		return start + i + 1
	}
	for limit > start+1 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return limit
}

// isChoice recognizes arguments that select an option of a tool.
func isChoice(s string) bool {
	return len(s) < 24 && !strings.ContainsAny(s, " /.:")
}

// names lists the facts that are still missing: those of the most worth until
// the room is used, in the order in which they were mentioned. It returns how
// many it listed.
func (in *input) names(d *draft) int {
	order := make([]int, 0, len(in.worth))
	density := make([]float64, len(in.worth))
	for f, w := range in.worth {
		if w > 0 && !in.cover.Seen(f) {
			order = append(order, f)
			density[f] = w / float64(len(in.name(f))+2)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(density[b], density[a]) })
	title := "\n## Also mentioned\n"
	if in.base != "" {
		title = "\n## Also mentioned (paths are under " + native(in.base) + ")\n"
	}
	left := d.left - d.count(title) - 2
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

// name returns the name of a fact; of a path without the root.
func (in *input) name(f int) string {
	fact := &in.x.Facts[f]
	if fact.Kind != retain.Path {
		return harness.Plain(fact.Name)
	}
	short := relative(fact.Name, in.base)
	if k, ok := in.x.Find(short, retain.Path); !ok || k != f {
		return fact.Name // the shortened path would not be recognized as the same fact
	}
	return short
}

// namesInOrder lists facts in the order in which they were mentioned, so that
// names mentioned together stand together.
func (in *input) namesInOrder(facts []int) string {
	place := in.x.Places(facts)
	sort.SliceStable(facts, func(a, b int) bool { return place[facts[a]] < place[facts[b]] })
	names := make([]string, len(facts))
	for i, f := range facts {
		names[i] = in.name(f)
	}
	return strings.Join(names, ", ")
}

// toolInput returns the arguments of the tool use at h.
func toolInput(msgs []precis.Message, h precis.Handle) []byte {
	if u, ok := msgs[h.From].Content[h.Block].(precis.ToolUse); ok {
		return u.Input
	}
	return nil
}
