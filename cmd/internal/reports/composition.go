package reports

import (
	"fmt"
	"math"

	"precis"
	"precis/cmd/internal/jobs"
	"precis/cmd/internal/term"
	"precis/internal/census"
)

// composition is a context window and what it holds: kinds, free and reserve add up to
// the window, or to what is used where that is more.
type composition struct {
	kinds   []census.Share
	used    int
	window  int
	free    int
	reserve int // kept free for the answer
	acts    int // tokens from which on a view is reduced; 0: none
}

// compose works out the composition of a view.
func compose(c census.Census, used int, d precis.Decision) composition {
	out := composition{kinds: c.Kinds, used: used, window: d.Window.Tokens}
	left := max(out.window-used, 0)
	out.reserve = min(left, d.Reserve.Tokens)
	out.free = left - out.reserve
	out.acts = int(math.Min(d.Threshold/100*float64(d.Window.Tokens), d.Allowed))
	return out
}

// meterOf returns a meter that counts as for the model of a conversation.
func meterOf(j *jobs.Job) *precis.Meter {
	m := j.Manager.NewMeter()
	m.ForModel(j.Conversation.Model)
	return m
}

// compositionOf is the composition of a conversation's view under edits.
func compositionOf(conv *precis.Conversation, edits []precis.Edit, m *precis.Meter, used int, d precis.Decision) composition {
	return compose(census.Take(conv, precis.Units(conv.Transcript, edits), m).Of(used), used, d)
}

// bar draws a composition.
func (p *Printer) bar(c composition) {
	b := term.Bar{Total: max(c.window, c.used), Reserve: c.reserve, Mark: max(c.acts, 0), Label: term.Percent(share(c.acts, c.window))}
	for _, k := range c.kinds {
		b.Segments = append(b.Segments, term.Segment{Name: k.Name, Value: k.Tokens})
	}
	p.Text.Bar(b)
}

// legend lists the parts of a composition; said are the tokens of each kind when nothing
// is replaced.
func (p *Printer) legend(c composition, said map[string]int, total int) {
	row := func(mark, name string, tokens int, blocks, ever string) []string {
		return []string{mark + " " + name, term.Number(tokens), percent(tokens, c.window), blocks, ever}
	}
	var rows [][]string
	for i, k := range c.kinds {
		blocks := ""
		if k.Blocks > 0 {
			blocks = term.Number(k.Blocks)
		}
		rows = append(rows, row(p.Text.Mark(i, k.Name), k.Name, k.Tokens, blocks, term.Number(said[k.Name])))
	}
	if c.free > 0 {
		rows = append(rows, row(p.Text.Mark(0, "free"), "free", c.free, "", ""))
	}
	if c.reserve > 0 {
		rows = append(rows, row(p.Text.Mark(0, "reserve"), "reserve", c.reserve, "", ""))
	}
	if over := c.used - c.window; over > 0 {
		rows = append(rows, row(" ", "too many", -over, "", ""))
	}
	rows = append(rows, row(" ", "window", c.window, "", term.Number(total)))
	p.Text.Table([]string{"who", "tokens", "share", "blocks", "ever said"}, []int{1, 2, 3, 4}, rows)
}

// actsText says when a conversation is reduced, and how far.
func actsText(d precis.Decision, c composition) string {
	if c.acts <= 0 {
		return "the window leaves no room for messages"
	}
	return fmt.Sprintf("from %s tokens on (%s of the window), down to %s", term.Number(c.acts), term.Percent(share(c.acts, c.window)), term.Number(d.Target))
}

func share(n, total int) float64 {
	if total == 0 {
		return 0
	}
	return 100 * float64(n) / float64(total)
}

func percent(n, total int) string {
	if total == 0 {
		return "–"
	}
	return term.Percent(share(n, total))
}
