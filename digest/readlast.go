package digest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"precis/internal/plain"
	"precis/internal/toolcall"
	"precis/retain"
)

// readTitle is the heading over what files held, readStruck where lines of them are marked.
const (
	readTitle  = "## Files as they were read last, newest first"
	readStruck = readTitle + " (behind \"- \": gone since)"
)

// Of the room for files as they were read last, one takes at most such a part, in percent; and it is told where at least so many
// percent of its lines are new, and at most so many are known to be gone since.
const (
	mostOfRead  = 60
	leastOfNew  = 50
	mostOfGone  = 20
	leastOfRead = 40   // bytes
	leastRoom   = 50   // tokens
	mostOfFiles = 1000 // tokens of all of them
)

// readLast writes what the agent read of files, the newest first, each whole or not at all, in the given number of tokens. Agents go on
// with what they have read: of 32 calls that were made again after recorded condensations, 24 read a file, 13 of these one of the ten
// that were read last. A file that was written anew since is not told, nor what stands in the messages that stay.
func (in *input) readLast(d *draft, tokens int) {
	if in.onlyNew || tokens < leastRoom { // the gate adds what a summary lacks
		return
	}
	most := tokens * mostOfRead / 100
	asked, told := map[string]bool{}, map[string]bool{}
	tell := func(body string) {
		for line := range strings.Lines(body) {
			told[bareLine(line)] = true
		}
	}
	var all []int // texts, first those that are told
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		c := in.reading(t)
		if c == nil || asked[c.Key()] {
			continue
		}
		asked[c.Key()] = true
		switch size := tellable(t); {
		case !in.covered(t.Handle.From):
			tell(t.Body[:size])
		case size >= leastOfRead && size/6 <= most: // no text has more bytes to a token
			all = append(all, i)
		}
	}
	calls := len(in.x.Calls)
	slices.SortStableFunc(all, func(a, b int) int {
		cost := func(i int) int {
			t := &in.x.Texts[i]
			return (calls - int(t.Call) + 4) * (tellable(t)/4 + 300)
		}
		return cmp.Compare(cost(a), cost(b))
	})
	strike := striker{in: in}
	title := readTitle
	tokens -= d.count(readStruck) + 1
	entries := map[int]string{}
	for _, i := range all {
		if tokens < leastRoom/2 {
			break
		}
		t := &in.x.Texts[i]
		c := &in.x.Calls[t.Call]
		body := t.Body[:tellable(t)]
		text, first, struck := asRead(body, strike.of(i), told)
		if text == "" {
			continue
		}
		what := "`" + briefly(c.Line) + "`"
		if c.Kind == toolcall.Read {
			what = plain.Text(quoted(relative(c.Path, in.base), 200))
		}
		if first != "" {
			what += ", from line " + first
		}
		entry := "- " + in.handle(t.Handle.From) + " " + what + ":\n" + text
		cost := d.count(entry) + 1
		if cost > most || cost > tokens {
			continue
		}
		tokens -= cost
		if struck {
			title = readStruck
		}
		tell(body)
		entries[i] = entry
	}
	kept := slices.SortedFunc(maps.Keys(entries), func(a, b int) int { return cmp.Compare(b, a) })
	out := make([]string, len(kept))
	for n, i := range kept {
		out[n] = entries[i]
	}
	if d.section(title, out, d.left) == len(out) {
		for _, i := range kept {
			in.cover.Piece(i, 0, len(in.x.Texts[i].Body))
		}
	}
}

// reading returns the call whose result a text is, where that tells what a file holds; else nil.
func (in *input) reading(t *retain.Text) *toolcall.Call {
	if t.Call < 0 || t.Source != retain.ReadFile && t.Source != retain.Output {
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
	if end := in.work().ends[t.Call].End; file == "" || end == toolcall.Rejected || end == toolcall.Failed {
		return nil
	}
	if f := in.work().files.named(file); f != nil && f.state == FileDeleted {
		return nil
	}
	return c
}

// bareLine returns a line of a file without the number before it and the space around it.
func bareLine(line string) string {
	return strings.TrimSpace(line[retain.NumberColumn(strings.TrimRight(line, "\r\n")):])
}

// asRead returns the lines of a file as they stand in it, below each other, with the number of the first where they are numbered; struck
// says that "- " stands in some of them, which are gone since. The text is "" where most are told, or too many gone.
func asRead(body string, gone func(line string) int, told map[string]bool) (text, first string, struck bool) {
	var out strings.Builder
	lines, known, lost := 0, 0, 0
	for line := range strings.Lines(strings.Trim(body, "\r\n")) {
		line = strings.TrimRight(line, " \t\r\n")
		if n := retain.NumberColumn(line); n > 0 {
			if lines == 0 {
				first = strings.Trim(line[:n], " \t→|:")
			}
			line = line[n:]
		}
		lines++
		bare := strings.TrimSpace(line)
		if bare != "" && told[bare] {
			known++
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if gone != nil && bare != "" {
			if at := gone(bare); at >= 0 && at <= len(bare) {
				lost++
				line = indent + bare[:at] + "- " + bare[at:]
			}
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
