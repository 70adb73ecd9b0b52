package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// readTitle is the heading over file contents; readStruck if lines are marked as removed.
const (
	readTitle  = "## Files as they were read last, newest first"
	readStruck = readTitle + " (behind \"- \": gone since)"
)

// Limits of the section on files as they were read last. One passage takes at most mostOfRead
// percent of the tokens. It is quoted if at least leastOfNew percent of its lines appear nowhere
// else and at most mostOfGone percent were removed since.
const (
	mostOfFiles  = 1000 // tokens of all of them
	leastRoom    = 50   // tokens
	leastOfRead  = 40   // bytes of one
	mostPerToken = 6    // bytes of a text
	mostOfRead   = 60
	leastOfNew   = 50
	mostOfGone   = 20
)

// readLast quotes the files that the agent read last, newest first, each passage whole or not at
// all, within tokens. Agents build on their last reads: of 32 calls repeated after recorded
// condensations, 23 read a file, most of them 200 to 800 tokens of it, and 14 of these were among
// the ten newest calls. Lines that were rewritten since, or that remaining messages show, are
// omitted.
func (in *input) readLast(d *draft, tokens int) {
	if in.onlyNew || tokens < leastRoom { // the gate adds facts that a summary lacks
		return
	}
	told := map[string]bool{} // lines
	most := tokens * mostOfRead / 100
	title, strike := readTitle, removedLineFinder{in: in}
	tokens -= d.count(readStruck) + 1
	entries := map[int]string{}
	for _, i := range in.lastReads(most, told) {
		t := &in.x.Texts[i]
		if quotableEnd(t)/mostPerToken > tokens {
			continue
		}
		c := &in.x.Calls[t.Call]
		body := t.Body[:quotableEnd(t)]
		from, to := preview.Content(body)
		text, first, struck := asRead(body[from:to], strike.removedIn(i), told)
		if text == "" {
			continue
		}
		what := "`" + briefly(c.Line) + "`"
		if c.Kind == toolcall.Read {
			what = plain.Text(preview.Quote(relative(c.Path, in.base), 200))
		}
		if first != "" {
			what += ", from line " + first
		}
		entry := "- " + in.handle(t.Handle.From) + " " + what + ":\n" + text
		cost := d.count(entry) + 1
		if cost > most || cost > tokens {
			continue
		}
		if struck {
			title = readStruck
		}
		addLines(told, body)
		entries[i] = entry
		if tokens -= cost; tokens < leastRoom/2 {
			break
		}
	}
	kept := slices.SortedFunc(maps.Keys(entries), func(a, b int) int { return cmp.Compare(b, a) })
	out := make([]string, len(kept))
	for n, i := range kept {
		out[n] = entries[i]
	}
	if d.section(title, out, d.tokensLeft) == len(out) {
		for _, i := range kept {
			in.cover.AddPiece(i, 0, len(in.x.Texts[i].Body))
		}
	}
}

// lastReads returns the texts of the last file reads, at most most tokens each, of repeated calls
// only the newest, in the order of quoting: small and recent ones first. The lines of reads in
// remaining messages are added to the set.
func (in *input) lastReads(most int, told map[string]bool) (all []int) {
	asked := map[string]bool{}
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		c := in.reading(t)
		if c == nil || asked[c.Key()] {
			continue
		}
		asked[c.Key()] = true
		switch size := quotableEnd(t); {
		case !in.covered(t.Handle.From):
			addLines(told, t.Body[:size])
		case size >= leastOfRead && size/mostPerToken <= most:
			all = append(all, i)
		}
	}
	cost := func(i int) int { // measured with the calls that were made again, see readLast
		t := &in.x.Texts[i]
		return (len(in.x.Calls) - int(t.Call) + 4) * (quotableEnd(t)/4 + 300)
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(cost(a), cost(b)) })
	return all
}

// addLines adds the lines of a text to a set.
func addLines(told map[string]bool, body string) {
	for line := range strings.Lines(body) {
		told[retain.TrimLineNumber(line)] = true
	}
}

// reading returns the call that returned a text, if it reads the content of a file; else nil.
func (in *input) reading(t *retain.Text) *toolcall.Call {
	if t.Call < 0 || t.Source != retain.SourceFile && t.Source != retain.SourceCommand {
		return nil
	}
	c := &in.x.Calls[t.Call]
	file := c.Path
	if c.Kind == toolcall.Command {
		if len(c.Reads) != 1 || len(c.Effects) > 0 {
			return nil
		}
		file = c.Reads[0]
	}
	if end := in.work().Ends[t.Call].End; file == "" || end == toolcall.Rejected || end == toolcall.Failed {
		return nil
	}
	if f := in.work().FileNamed(file); f != nil && f.State == effects.FileDeleted {
		return nil
	}
	return c
}

// asRead returns the lines of a file read, and the number of the first if they are numbered.
// Removed lines get "- "; struck reports any. The text is "" if most lines are known, or too many
// removed.
func asRead(body string, gone func(line string) bool,
	told map[string]bool) (text, first string, struck bool) {
	var out strings.Builder
	lines, known, lost := 0, 0, 0
	for line := range strings.Lines(strings.Trim(body, "\r\n")) {
		if n := retain.NumberColumn(strings.TrimRight(line, "\r\n")); n > 0 {
			if lines == 0 {
				first = strings.Trim(line[:n], " \t→|:")
			}
			line = line[n:]
		}
		line = strings.TrimRight(line, " \t\r\n")
		lines++
		bare := strings.TrimSpace(line)
		if bare != "" && told[bare] {
			known++
		}
		if gone != nil && bare != "" && gone(bare) {
			lost++
			line = strings.Replace(line, bare, "- "+bare, 1)
		}
		if lines > 1 {
			out.WriteByte('\n')
		}
		out.WriteString(" " + plain.Text(line)) // only the digest itself begins lines with "## " or "- m"
	}
	if known*100 > lines*(100-leastOfNew) || lost*100 > lines*mostOfGone {
		return "", "", false
	}
	return out.String(), first, lost > 0
}
