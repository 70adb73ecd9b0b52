package reports

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/retain"
)

// Found prints the search hits of a query.
func (p *Printer) Found(path string, q *find.Query, hits []find.Place, total int) {
	w := p.Text
	w.Title("%s: %s", q, p.Words.Count(total, "place"))
	widest, names := 0, 0
	for _, h := range hits {
		widest = max(widest, len(h.Handle.String()))
		names = max(names, lipgloss.Width(p.placeText(h)))
	}
	names = min(names, w.Width()-widest-30)
	for _, h := range hits {
		w.Printf("\n  %-*s  %s  %s%s\n", widest, h.Handle, term.Pad(p.placeText(h), names), p.sightText(h),
			w.Style("dim", p.alsoText(h.Also)))
		line := retain.Folded(h.Line)
		w.Printf("    %s\n", p.highlight(q, term.Around(line, First(q, line), w.Width()-4)))
		p.related(h.Related)
	}
	w.Printf("\n")
	if n := total - len(hits); n > 0 {
		w.Printf("  %s\n", p.Words.Text("… and %s more; --limit 0 prints all", p.Words.Number(n)))
	}
	var next [][2]string
	if i := slices.IndexFunc(hits, func(h find.Place) bool { return h.In == "" }); i >= 0 {
		next = [][2]string{{"read", fmt.Sprintf("precis show %s %s", ShellWord(path), hits[i].Handle)}}
	}
	block := func(h find.Place) bool {
		return h.In == "" && h.Handle.Block >= 0 && h.View != conversation.Shown
	}
	if i := slices.IndexFunc(hits, block); i >= 0 {
		next[0][1] = fmt.Sprintf("precis show %s %s", ShellWord(path), hits[i].Handle)
		next = append(next, [2]string{"show to the model again",
			fmt.Sprintf("precis restore %s %s", ShellWord(path), hits[i].Handle)})
	}
	p.Pairs(next...)
}

// First returns the offset of the first hit in a line, or 0.
func First(q *find.Query, line string) int {
	if p := q.Matches(line); len(p) > 0 {
		return p[0][0]
	}
	return 0
}

// placeText names a block of a place: "tool result Read main.go".
func (p *Printer) placeText(h find.Place) string {
	said, kind := h.String(), h.Kind
	switch kind {
	case "summary":
		return p.Words.Say("through.summary")
	case "note":
		return p.Words.Say("note")
	}
	if rest, ok := strings.CutPrefix(said, kind); ok && !p.Words.English() {
		return p.Words.Part(kind) + rest
	}
	return said
}

func (p *Printer) sightText(h find.Place) string {
	switch {
	case h.In != "" && h.In != find.InSystem:
		return p.Text.Style("dim", p.Words.Text("in a side conversation"))
	case h.View == conversation.Shown:
		return p.Text.Style("good", p.Words.Text("shown"))
	case h.View == conversation.Shortened:
		return p.Text.Style("warn", p.Words.Text("preview by %s", p.Words.Kind(h.By)))
	}
	return p.Text.Style("bad", p.Words.Text("hidden by %s", p.Words.Kind(h.By)))
}

func (p *Printer) alsoText(also []precis.Handle) string {
	switch len(also) {
	case 0:
		return ""
	case 1:
		return p.Words.Text(", also in %s", also[0].String())
	}
	return p.Words.Text(", also in %s and %d more", also[0].String(), len(also)-1)
}

// highlight marks the hits in a line.
func (p *Printer) highlight(q *find.Query, line string) string {
	var out strings.Builder
	last := 0
	for _, at := range q.Matches(line) {
		out.WriteString(line[last:at[0]])
		out.WriteString(p.Text.Style("hit", line[at[0]:at[1]]))
		last = at[1]
	}
	return out.String() + line[last:]
}
