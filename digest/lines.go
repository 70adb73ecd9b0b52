package digest

import (
	"index/suffixarray"
	"slices"
	"strings"
	"unicode"

	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// layout states how the room of an index is divided.
type layout struct {
	short        int  // bytes up to which a line is joined with the next
	long         int  // bytes of the longest line
	bare         int  // percent of the room for names without their lines
	ownTextShare int  // percent of the digest for the agent's own account of the work
	repeatShare  int  // percent of a line's worth that counts its chance of being repeated word for word
	calls        bool // one-line calls count as lines, too
	work         int  // percent of the room that the text of the newest edits may take before other lines
	// percent of the room for lines and names that goes to files as they were read last, see readLast
	read int
}

// layoutFor returns the layout for an index of the given number of tokens; beside says that later
// messages follow the digest. With more room, longer passages are worth more than more passages.
// docs/decisions/022-a-digest-is-a-hand-over.md has the measurements.
func layoutFor(tokens int, beside bool) layout {
	switch {
	case tokens < 5000 && beside:
		return layout{short: 60, long: 150, bare: 25, ownTextShare: 8, repeatShare: 100}
	case tokens < 5000:
		return layout{short: 60, long: 150, ownTextShare: 40, repeatShare: 20}
	}
	return layout{short: 120, long: 300, bare: 20, work: 20, read: 15, ownTextShare: 20, repeatShare: 100,
		calls: true}
}

// pieces splits the covered texts into lines.
func (in *input) pieces() []retain.Piece {
	var out []retain.Piece
	at := layoutFor(in.tokens, in.hasLaterMessages())
	said := map[string]bool{} // by persons, after the text
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if !in.isQuotable(i, at) {
			continue
		}
		if t.Source == retain.SourceUser {
			key := strings.ToLower(retain.Folded(t.Body))
			if said[key] {
				continue
			}
			said[key] = true
		}
		seen := map[string]bool{} // lines of the text
		for _, p := range slices.Backward(in.linesOf(i, at)) {
			if !at.calls {
				if p.Start, p.End = trimEnds(t.Body, p.Start, p.End, seen); p.Start == p.End {
					continue
				}
			}
			line := t.Body[p.Start:p.End]
			if allFrame(line) || in.quotes(line) || in.reports(t, line) ||
				in.brief && !in.namesError(p) {
				continue
			}
			p.Cost = float64(len(strings.TrimSpace(line)))/4 + 1.5
			p.Bonus *= in.copies.NewShare(line) * float64(at.repeatShare) / 100
			out = append(out, p)
		}
		in.copies.Add(t.Body)
	}
	slices.Reverse(out)
	return out
}

// isQuotable reports whether the digest may quote lines of a text. The gate quotes no calls: their
// results say more.
func (in *input) isQuotable(text int, at layout) bool {
	t := &in.x.Texts[text]
	switch {
	case !in.covered(t.Handle.From) || t.Source == retain.SourceHarness || in.isPreviousSummary(text) ||
		in.isRefusalResult(t):
		return false
	case in.inWorkTree(text) || t.Source == retain.SourceArguments &&
		(in.onlyNew || isChoice(t.Body) || in.listed(t)):
		return false
	}
	return at.calls || !t.IsCall() || strings.Contains(t.Body, "\n")
}

// inWorkTree reports whether a text was written to or read from a file that the agent has written
// and that still exists: it can be read there. It is false for failed calls, and in a digest for the
// newest edits, which the agent builds on, and if later messages, which use such lines, follow.
func (in *input) inWorkTree(text int) bool {
	t, w := &in.x.Texts[text], in.work()
	isUsed := !in.onlyNew && (in.reuse.IsRecentEdit(text) || in.hasLaterMessages())
	if isUsed || t.Call < 0 || t.Source < retain.SourceWritten || t.Source == retain.SourceArguments {
		return false
	}
	c := &w.Calls[t.Call]
	paths := c.Reads
	if c.Path != "" {
		paths = []string{c.Path}
	}
	isMissing := func(p string) bool { f := w.FileNamed(p); return f == nil || !f.Exists() }
	hasOther := t.Source == retain.SourceCommand && len(c.Effects) > 0 ||
		w.Ends[t.Call].End == toolcall.Failed ||
		in.speakerMark(t) != ""
	return len(paths) > 0 && !hasOther && !slices.ContainsFunc(paths, isMissing)
}

// allFrame reports whether every line of a text is wordless, a program's, or the frame of a patch.
func allFrame(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.ContainsFunc(line, unicode.IsLetter) && !harness.IsRemark(line) &&
			!toolcall.IsPatchFrame(line) {
			return false
		}
	}
	return true
}

// trimEnds returns the bounds of a part of a text without the lines at its ends that are in seen or
// say nothing, such as brackets, see allFrame. It adds the other lines of the part to seen.
func trimEnds(body string, start, end int, seen map[string]bool) (int, int) {
	from, to := end, start
	for at := start; at < end; {
		next := end
		if i := strings.IndexByte(body[at:end], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimSpace(body[at:next])
		if !seen[line] && !allFrame(line) {
			from, to = min(from, at), next
			seen[line] = true
		}
		at = next
	}
	return min(from, to), to
}

// linesOf returns the quotable lines of a text, each with its worth for a verbatim repetition.
func (in *input) linesOf(text int, at layout) []retain.Piece {
	if in.lines != nil && !in.onlyNew {
		if known, ok := in.lines(text, at); ok {
			return known
		}
	}
	t := &in.x.Texts[text]
	var out []retain.Piece
	for start, to := 0, quotableEnd(t); start < to; {
		end := min(at.pieceEnd(t, start), to)
		if in.mentionsFact(text, start, end) || !in.onlyNew && in.reuse.IsRecentEdit(text) {
			out = append(out, retain.Piece{Text: text, Start: start, End: end,
				Bonus: in.reuse.Worth(text, start, end)})
		}
		start = end
	}
	return out
}

// quotableEnd returns the end of the quotable part of a text. It excludes reminders that a program
// appended to a result: they are temporary, or another section quotes them.
func quotableEnd(t *retain.Text) int {
	if t.Source < retain.SourceFile || t.Call < 0 {
		return len(t.Body)
	}
	_, end := harness.Appended(t.Body)
	return end
}

// passage is a text prepared for many substring searches. The zero value is the empty text.
type passage struct{ index *suffixarray.Index }

func passageOf(text string) passage { return passage{suffixarray.New([]byte(text))} }

// has reports whether the passage contains s.
func (p passage) has(s string) bool {
	return s == "" || p.index != nil && len(p.index.Lookup([]byte(s), 1)) > 0
}

// quotes reports whether the digest already contains every line of a part of a text.
func (in *input) quotes(part string) bool {
	for line := range strings.Lines(part) {
		if line = strings.TrimSpace(line); !in.written.has(line) {
			return false
		}
	}
	return true
}

// reports recognizes a line that confirms a write, in the result of that write.
func (in *input) reports(t *retain.Text, line string) bool {
	if t.Call < 0 || t.Source < retain.SourceFile || in.x.Calls[t.Call].Kind != toolcall.Write ||
		in.work().Ends[t.Call].End == toolcall.Failed {
		return false
	}
	return retain.NumberColumn(strings.TrimRight(line, "\n")) == 0
}

// listed reports whether a call consists of no more than a command or a path that the digest
// already lists.
func (in *input) listed(t *retain.Text) bool {
	if t.Call < 0 || strings.Contains(t.Body, "\n") {
		return false
	}
	c := &in.x.Calls[t.Call]
	switch rest := len(t.Body) - len(c.Name) - 1; {
	case c.Kind == toolcall.Command && rest <= len(c.Line):
		return in.written.has("`" + effects.CommandLine(c.Line) + "`")
	case c.Kind == toolcall.Read && c.Path != "" && rest <= len(c.Path):
		return in.written.has(relative(c.Path, in.base))
	}
	return false
}

// mentionsFact reports whether a part of a text mentions a fact; with onlyNew, a fact that is not
// shown yet.
func (in *input) mentionsFact(text, start, end int) bool {
	if in.onlyNew {
		return in.cover.HasUnseen(text, start, end)
	}
	return in.x.Mentions(text, start, end)
}

// namesError reports whether a line names an error that is not shown yet.
func (in *input) namesError(p retain.Piece) (is bool) {
	in.x.EachMention(p.Text, p.Start, p.End, func(fact int) {
		is = is || in.x.Facts[fact].Kind == retain.KindError && !in.cover.Seen(fact)
	})
	return is
}

// pieceEnd returns the end of the part of a text that begins at start. A one-line call is never
// split, since its second half alone means little.
func (l layout) pieceEnd(t *retain.Text, start int) int {
	if t.IsCall() {
		return len(t.Body)
	}
	return l.lineEnd(t.Body, start)
}

// lineEnd returns the end of the line at start, or the place where a long line is cut. Short lines
// are joined with the following ones for context.
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
