package reports

import (
	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/census"
	"github.com/precis-dev/precis/internal/texts"
	"github.com/precis-dev/precis/policy"
)

// composition is a context window and its use. kinds, free and reserve add up to the window, or
// to used if that is more.
type composition struct {
	kinds   []census.Share
	used    int
	window  int
	free    int
	reserve int // kept free for the response
	acts    int // tokens at which a view is reduced; 0: never
}

// compositionOf returns the values of a composition that the bar and legend need.
func compositionOf(c conversation.Composition) composition {
	return composition{kinds: c.View.Kinds, used: c.Used, window: c.Window.Tokens, free: c.Free,
		reserve: c.Reserved, acts: c.Threshold}
}

// bar draws a composition.
func (p *Printer) bar(c composition) {
	b := term.Bar{Total: max(c.window, c.used), Reserve: c.reserve, Mark: max(c.acts, 0),
		Label: p.Words.Percent(share(c.acts, c.window))}
	for _, k := range c.kinds {
		b.Segments = append(b.Segments, term.Segment{Name: k.Name, Value: k.Tokens})
	}
	p.Text.Bar(b)
}

// legend lists the parts of a composition; said holds the tokens of each kind in the whole
// transcript.
func (p *Printer) legend(c composition, said map[string]int, total int) {
	row := func(mark, name string, tokens int, blocks, ever string) []string {
		return []string{mark + " " + name, p.Words.Number(tokens), percent(p.Words, tokens, c.window), blocks,
			ever}
	}
	var rows [][]string
	for i, k := range c.kinds {
		blocks := ""
		if k.Blocks > 0 {
			blocks = p.Words.Number(k.Blocks)
		}
		rows = append(rows, row(p.Text.Mark(i, k.Name), p.Words.Part(k.Name), k.Tokens, blocks,
			p.Words.Number(said[k.Name])))
	}
	if c.free > 0 {
		rows = append(rows, row(p.Text.Mark(0, "free"), p.Words.Part("free"), c.free, "", ""))
	}
	if c.reserve > 0 {
		rows = append(rows, row(p.Text.Mark(0, "reserve"), p.Words.Part("reserve"), c.reserve, "", ""))
	}
	if over := c.used - c.window; over > 0 {
		rows = append(rows, row(" ", p.Words.Text("too many"), -over, "", ""))
	}
	rows = append(rows, row(" ", p.Words.Text("window"), c.window, "", p.Words.Number(total)))
	p.Text.Table(p.Words.Heads("who", "tokens", "share", "blocks", "ever said"), []int{1, 2, 3, 4}, rows)
}

// thresholdText describes when a conversation is reduced, and to which size.
func (p *Printer) thresholdText(d policy.Decision, c composition) string {
	if c.acts <= 0 {
		return p.Words.Text("the window leaves no room for messages")
	}
	return p.Words.Text("from %s tokens on (%s of the window), down to %s", p.Words.Number(c.acts),
		p.Words.Percent(share(c.acts, c.window)), p.Words.Number(d.Target))
}

func share(n, total int) float64 { return precis.Window{Tokens: total}.Percent(n) }

func percent(w *console.Words, n, total int) string {
	if total == 0 {
		return texts.Unknown
	}
	return w.Percent(share(n, total))
}
