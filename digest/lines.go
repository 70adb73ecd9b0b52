package digest

import (
	"index/suffixarray"
	"slices"
	"strings"
	"unicode"

	"precis/internal/harness"
	"precis/internal/toolcall"
	"precis/retain"
)

// layout states how the room of an index is divided.
type layout struct {
	short int  // bytes up to which a line is joined with the next
	long  int  // bytes of the longest line
	bare  int  // percent of the room for names without their lines
	said  int  // percent of the digest for where the work stands, in the agent's own words
	again int  // percent of what a line is worth for being repeated word for word
	calls bool // calls on one line are lines, too
	work  int  // percent of the room that what the newest edits wrote may take before any other line
	read  int  // percent of the room for lines and names that files may take as they were read last, see readLast
}

// layoutFor returns the layout for an index of the given number of tokens, beside later messages that stay or alone: with more
// room, longer passages are worth more than more of them. What was measured stands in
// docs/decisions/022-a-digest-is-a-hand-over.md.
func layoutFor(tokens int, beside bool) layout {
	switch {
	case tokens < 5000 && beside:
		return layout{short: 60, long: 150, bare: 25, said: 8, again: 100}
	case tokens < 5000:
		return layout{short: 60, long: 150, said: 40, again: 20}
	}
	return layout{short: 120, long: 300, bare: 20, work: 20, read: 15, said: 20, again: 100, calls: true}
}

// pieces splits the covered texts into lines.
func (in *input) pieces() []retain.Piece {
	var out []retain.Piece
	at := layoutFor(in.tokens, in.stands())
	said := map[string]bool{} // by persons, later than the text
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		if !in.tellsLines(i, at) {
			continue
		}
		if t.Source == retain.User {
			key := strings.ToLower(retain.Folded(t.Body))
			if said[key] {
				continue
			}
			said[key] = true
		}
		seen := map[string]bool{} // lines of the text
		for _, p := range slices.Backward(in.linesOf(i, at)) {
			if !at.calls {
				if p.Start, p.End = inner(t.Body, p.Start, p.End, seen); p.Start == p.End {
					continue
				}
			}
			line := t.Body[p.Start:p.End]
			if allFrame(line) || in.quotes(line) || in.reports(t, line) {
				continue
			}
			p.Cost = float64(len(strings.TrimSpace(line)))/4 + 1.5
			p.Bonus *= in.copies.Fresh(line) * float64(at.again) / 100
			out = append(out, p)
		}
		in.copies.Add(t.Body)
	}
	slices.Reverse(out)
	return out
}

// tellsLines reports whether lines of a text may be told.
func (in *input) tellsLines(text int, at layout) bool {
	t := &in.x.Texts[text]
	switch {
	case !in.covered(t.Handle.From) || t.Source == retain.Harness || in.isOlder(text) || in.tellsRefusal(t):
		return false
	case t.Source == retain.Called && (isChoice(t.Body) || in.listed(t)):
		return false
	case !t.IsCall() || strings.Contains(t.Body, "\n"):
		return true
	case in.onlyNew:
		return !in.onlyReads(t)
	}
	return at.calls
}

// allFrame reports whether all lines of a text are without words, are put there by an agent's program, or stand around a patch.
func allFrame(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.ContainsFunc(line, unicode.IsLetter) && !harness.IsRemark(line) && !toolcall.IsPatchFrame(line) {
			return false
		}
	}
	return true
}

// inner returns a part of a text without the lines at its ends that hold no word, such as brackets, and those that stand further
// down in the text, too: seen holds these, and then those of the part.
func inner(body string, start, end int, seen map[string]bool) (int, int) {
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

// linesOf returns the lines of a text that may be told, with the worth of each for being repeated word for word.
func (in *input) linesOf(text int, at layout) []retain.Piece {
	if in.lines != nil && !in.onlyNew {
		if known, ok := in.lines(text, at); ok {
			return known
		}
	}
	t := &in.x.Texts[text]
	var out []retain.Piece
	for start, to := 0, tellable(t); start < to; {
		end := min(at.pieceEnd(t, start), to)
		if in.worthALine(text, start, end) || !in.onlyNew && in.reuse.Work(text) {
			out = append(out, retain.Piece{Text: text, Start: start, End: end, Bonus: in.reuse.Worth(text, start, end)})
		}
		start = end
	}
	return out
}

// tellable returns the end of what can be told of a text: reminders that a program added behind
// a result are of their moment, or are told as what stays in force.
func tellable(t *retain.Text) int {
	if t.Source < retain.ReadFile || t.Call < 0 {
		return len(t.Body)
	}
	_, end := harness.Appended(t.Body)
	return end
}

// passage is a text that is searched for many others. The zero value is the empty text.
type passage struct{ index *suffixarray.Index }

func passageOf(text string) passage { return passage{suffixarray.New([]byte(text))} }

// has reports whether the passage contains s.
func (p passage) has(s string) bool {
	return s == "" || p.index != nil && len(p.index.Lookup([]byte(s), 1)) > 0
}

// quotes reports whether the digest has told a part of a text already.
func (in *input) quotes(part string) bool {
	for line := range strings.Lines(part) {
		if line = strings.TrimSpace(line); !in.written.has(line) {
			return false
		}
	}
	return true
}

// reports recognizes a line in the result of a write that says that it was done.
func (in *input) reports(t *retain.Text, line string) bool {
	if t.Call < 0 || t.Source < retain.ReadFile || in.x.Calls[t.Call].Kind != toolcall.Write || in.work().ends[t.Call].End == toolcall.Failed {
		return false
	}
	return retain.NumberColumn(strings.TrimRight(line, "\n")) == 0
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
		return in.written.has("`" + commandLine(c.Line) + "`")
	case c.Kind == toolcall.Read && c.Path != "" && rest <= len(c.Path):
		return in.written.has(relative(c.Path, in.base))
	}
	return false
}

// onlyReads reports whether the call of a text reads files and does nothing else: the files are named.
func (in *input) onlyReads(t *retain.Text) bool {
	c := &in.x.Calls[t.Call]
	return (c.Kind == toolcall.Read || len(c.Reads) > 0) && len(c.Effects) == 0
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
