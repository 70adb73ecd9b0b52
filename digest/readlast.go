package digest

import (
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
	leastOfRead = 40 // bytes
	leastRoom   = 50 // tokens
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
	strike := striker{in: in}
	var out []string
	var kept []int
	title := readTitle
	tokens -= d.count(readStruck) + 1
	for i := len(in.x.Texts) - 1; i >= 0 && tokens >= leastRoom/2; i-- {
		t := &in.x.Texts[i]
		c := in.reading(t)
		if c == nil || asked[c.Key()] {
			continue
		}
		asked[c.Key()] = true
		body := t.Body[:tellable(t)]
		if !in.covered(t.Handle.From) {
			for line := range strings.Lines(body) {
				told[bareLine(line)] = true
			}
			continue
		}
		if len(body) < leastOfRead || len(body)/6 > most { // no text has more bytes to a token
			continue
		}
		what := "`" + briefly(c.Line) + "`"
		if c.Kind == toolcall.Read {
			what = plain.Text(quoted(relative(c.Path, in.base), 200))
		}
		text, first, struck := asRead(body, strike.of(i), told)
		if text == "" {
			continue
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
		for line := range strings.Lines(body) {
			told[bareLine(line)] = true
		}
		out, kept = append(out, entry), append(kept, i)
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
