package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation/diff"
)

// Limits of a diff that is not printed in full.
const (
	mostInserted = 40 // lines of a replacement for hidden messages
	mostPreview  = 3  // lines of a preview
	mostShown    = 8  // previews printed with lines, largest savings first
	mostSmall    = 3  // consecutive small changes printed one by one
	leastSame    = 3  // consecutive unchanged messages that get a line
)

// change is a part of a view to print.
type change diff.Part

// diffPrinter prints the changes of a view.
type diffPrinter struct {
	*term.Writer
	words  *console.Words
	full   bool
	handle int // columns of the widest handle
	lines  map[precis.Handle]bool
}

// diff prints how a view changes, message by message.
func (p *Printer) diff(parts []diff.Part, full bool) {
	changes := make([]change, len(parts))
	for i, p := range parts {
		changes[i] = change(p)
	}
	d := diffPrinter{Writer: p.Text, words: p.Words, full: full, lines: map[precis.Handle]bool{}}
	var previews []change
	for _, c := range changes {
		d.handle = max(d.handle, len(c.Handle.String()))
		if c.Kind == diff.PartPreview && !c.small() {
			previews = append(previews, c)
		}
	}
	slices.SortStableFunc(previews,
		func(a, b change) int { return (b.Before - b.After) - (a.Before - a.After) })
	for i, c := range previews {
		d.lines[c.Handle] = full || i < mostShown
	}
	d.Printf("\n")
	d.Title("%s", d.words.Text("the view, message by message"))
	for i := 0; i < len(changes); {
		n := d.small(changes[i:])
		if n == 0 {
			d.change(changes[i], len(changes) == 1)
			n = 1
		}
		i += n
	}
	if len(previews) > mostShown && !full {
		d.Printf("  %s\n", d.Style("dim",
			d.words.Text("the %d previews that save most show how they begin; --full prints everything",
				mostShown)))
	}
}

// small reports whether a change fits in a few words: a block is removed or replaced by a pointer
// or a note.
func (c change) small() bool {
	return c.Kind == diff.PartRemoved ||
		c.Kind == diff.PartPreview && c.By != precis.KindPruning && c.By != precis.KindClip
}

// small prints the next small changes as one line if they are many, including the unchanged
// messages between them. It returns the number of changes covered; 0 if it printed none.
func (p *diffPrinter) small(changes []change) int {
	end, blocks, before, after := 0, 0, 0, 0
	by := map[precis.EditKind]int{}
	for i, c := range changes {
		if c.small() {
			end, blocks, before, after = i+1, blocks+1, before+c.Before, after+c.After
			by[c.By]++
		} else if c.Kind != diff.PartSame || i == 0 {
			break
		}
	}
	if p.full || blocks <= mostSmall {
		return 0
	}
	var what []string
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		what = append(what, p.words.Text("%s by %s", p.words.Number(by[kind]), p.words.Kind(kind)))
	}
	h := precis.SpanHandle(changes[0].Handle.From, changes[end-1].Handle.To)
	p.row("warn", "~", h, p.words.Text("blocks shortened: %s", strings.Join(what, p.words.Say("comma"))),
		p.arrow(before, after))
	return end
}

func (p *diffPrinter) change(c change, alone bool) {
	n := c.Handle.To - c.Handle.From
	switch c.Kind {
	case diff.PartSame:
		if n >= leastSame || p.full || alone {
			p.row("dim", " ", c.Handle, p.words.Text("%s unchanged", p.words.Count(n, "message")),
				p.words.Number(c.Before))
		}
	case diff.PartHidden:
		p.row("bad", "-", c.Handle, p.words.Text("%s hidden by %s", p.words.Count(n, "message"),
			p.words.Kind(c.By)), p.words.Number(c.Before))
	case diff.PartInserted:
		p.row("good", "+", c.Handle, p.words.Text("instead: %s", p.words.Text(c.instead())),
			p.words.Number(c.After))
		p.text("good", c.inserted(p.full), mostInserted)
	case diff.PartRemoved:
		p.row("bad", "-", c.Handle, p.words.Text("%s left out by %s", p.words.Sentence(c.What),
			p.words.Kind(c.By)), p.words.Number(c.Before))
	case diff.PartPreview:
		p.row("warn", "~", c.Handle, p.words.Sentence(c.What), p.arrow(c.Before, c.After))
		if c.small() || p.lines[c.Handle] {
			p.text("dim", c.begins(), mostPreview)
		}
	}
}

// instead names the replacement of hidden messages.
func (c change) instead() string {
	switch {
	case c.By == precis.KindCondensation && len(lines(c.Text)) == 1:
		return "a note"
	case c.By == precis.KindCondensation && c.Rung == "digest":
		return "a digest"
	case c.By == precis.KindCondensation:
		return "a summary"
	}
	return "a marker"
}

// begins returns the lines of a preview from the first difference to the former block on, without
// blank lines and gaps.
func (c change) begins() []string {
	was, now := lines(c.Was), lines(c.Text)
	for len(was) > 0 && len(now) > 0 && was[0] == now[0] {
		was, now = was[1:], now[1:]
	}
	return slices.DeleteFunc(now, func(s string) bool {
		s = strings.TrimSpace(s)
		return s == "" || strings.HasPrefix(s, "…") || strings.HasPrefix(s, "[…")
	})
}

// inserted returns the lines of a replacement for hidden messages.
func (c change) inserted(full bool) []string {
	if full {
		return lines(c.Text)
	}
	return withoutBlankLines(lines(c.Text))
}

// withoutBlankLines leaves out blank lines but those before headings.
func withoutBlankLines(all []string) []string {
	var out []string
	for i, s := range all {
		if strings.TrimSpace(s) != "" || i+1 < len(all) && strings.HasPrefix(all[i+1], "#") {
			out = append(out, s)
		}
	}
	return out
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// row prints one line of the diff, with the tokens at its end.
func (p *diffPrinter) row(style, sign string, h precis.Handle, what, tokens string) {
	columns := min(p.Width(), 100)
	room := columns - p.handle - len([]rune(tokens)) - 8
	p.Printf("  %s\n", p.Style(style,
		fmt.Sprintf("%s %-*s  %s  %s", sign, p.handle, h, term.Pad(what, room), tokens)))
}

// text prints the first lines of a text.
func (p *diffPrinter) text(style string, all []string, most int) {
	shown := all
	if !p.full {
		shown = all[:min(len(all), most)]
	}
	for _, line := range shown {
		line = strings.TrimRight(term.Plain(line), " \n")
		if !p.full {
			line = term.Cut(line, min(p.Width(), 100)-6)
		}
		p.Printf("    %s\n", p.Style(style, strings.TrimRight("│ "+line, " ")))
	}
	if n := len(all) - len(shown); n > 0 && most == mostInserted {
		p.Printf("    %s\n", p.Style("dim",
			"│ … "+p.words.Text("%s; --full prints everything", p.words.Count(n, "more line"))))
	}
}

func (p *diffPrinter) arrow(before, after int) string {
	return p.words.Number(before) + " → " + p.words.Number(after)
}
