package reports

import (
	"fmt"
	"slices"
	"strings"

	"precis"
	"precis/cmd/internal/term"
	"precis/conversation"
)

// Found prints the places that hold the words of a query.
func (p *Printer) Found(path string, q *conversation.Query, hits []conversation.Place, total int) {
	w := p.Text
	w.Title("%s: %s", q, term.Count(total, "place"))
	widest, names := 0, 0
	for _, h := range hits {
		widest = max(widest, len(h.Handle.String()))
		names = max(names, len(h.String()))
	}
	names = min(names, w.Width()-widest-30)
	for _, h := range hits {
		w.Printf("\n  %-*s  %s  %s%s\n", widest, h.Handle, term.Pad(h.String(), names), p.sightText(h), w.Style("dim", alsoText(h.Also)))
		line := strings.Join(strings.Fields(h.Line), " ")
		w.Printf("    %s\n", p.highlight(q, term.Around(line, First(q, line), w.Width()-4)))
	}
	w.Printf("\n")
	if n := total - len(hits); n > 0 {
		w.Printf("  … and %s more; --limit 0 prints all\n", term.Number(n))
	}
	first := hits[0]
	next := [][2]string{{"read", fmt.Sprintf("precis show %s %s", ShellWord(path), first.Handle)}}
	if i := slices.IndexFunc(hits, func(h conversation.Place) bool { return h.View != conversation.Shown }); i >= 0 {
		next[0][1] = fmt.Sprintf("precis show %s %s", ShellWord(path), hits[i].Handle)
		next = append(next, [2]string{"show to the model again", fmt.Sprintf("precis restore %s %s", ShellWord(path), hits[i].Handle)})
	}
	w.Pairs(next...)
}

// First returns where the first of the words stands in a line.
func First(q *conversation.Query, line string) int {
	if p := q.Places(line); len(p) > 0 {
		return p[0][0]
	}
	return 0
}

func (p *Printer) sightText(h conversation.Place) string {
	switch h.View {
	case conversation.Shown:
		return p.Text.Style("good", "shown")
	case conversation.Shortened:
		return p.Text.Style("warn", fmt.Sprintf("preview by %s", h.By))
	}
	return p.Text.Style("bad", fmt.Sprintf("hidden by %s", h.By))
}

func alsoText(also []precis.Handle) string {
	switch len(also) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", also in %s", also[0])
	}
	return fmt.Sprintf(", also in %s and %d more", also[0], len(also)-1)
}

// highlight marks the words in a line.
func (p *Printer) highlight(q *conversation.Query, line string) string {
	var out strings.Builder
	last := 0
	for _, at := range q.Places(line) {
		out.WriteString(line[last:at[0]])
		out.WriteString(p.Text.Style("hit", line[at[0]:at[1]]))
		last = at[1]
	}
	return out.String() + line[last:]
}
