package dashboard

import (
	"fmt"
	"strings"

	"github.com/precis-dev/precis/conversation"
)

// chartPoints is roughly how many points a graph has.
const chartPoints = 400

// timePage is the time machine: a graph of the size of the view, and the view at one moment.
type timePage struct {
	viewPage
	Chart chart
	First int // message numbers of the moments next to the chosen one; 0: none
	Last  int
}

// chart is the graph of sizes. Positions are percentages.
type chart struct {
	Area, Said string // points of the polygons, in thousandths
	Marks      []chartMark
	Top        int    // tokens at the upper edge
	Window     string // position of the line of the window
	Threshold  string // position of the threshold line; "": none
	Now        string // position of the chosen moment
	Messages   int
	Sizes      conversation.Sizes
	Tokens     int // at the upper line
	Tick       int
}

// chartMark is a position where edits were made.
type chartMark struct {
	conversation.SizeMark
	X, Y string
}

func (c *call) time() error {
	h, err := c.readHead()
	if err != nil {
		return err
	}
	sizes, err := conversation.SizeHistory(c.ctx(), c.home, h.ID, chartPoints)
	if err != nil {
		return err
	}
	total := h.Details.Status.Messages
	at := min(max(c.number("at", total), 1), max(total, 1))
	t := timePage{Chart: newChart(sizes, h.Bar, at)}
	if t.viewPage, err = c.viewPage(h, at); err != nil {
		return err
	}
	if at > 1 {
		t.First = at - 1
	}
	if at < total {
		t.Last = at + 1
	}
	return c.show("time", page{Title: c.title(h), Tab: "time", Data: t})
}

// newChart lays out a graph with the lower edge at 0 and the upper edge a little above the window,
// or above the largest request.
func newChart(s conversation.Sizes, b bar, at int) chart {
	g := chart{Sizes: s, Messages: 1, Tokens: s.Window, Tick: b.At}
	g.Top = s.Window
	for _, p := range s.Points {
		g.Top, g.Messages = max(g.Top, p.Tokens), max(g.Messages, p.Messages)
	}
	for _, m := range s.Marks {
		g.Top = max(g.Top, m.Before)
	}
	g.Top += g.Top / 12
	var area, said strings.Builder
	area.WriteString("0,1000")
	said.WriteString("0,1000")
	for _, p := range s.Points {
		fmt.Fprintf(&area, " %s,%s", g.thousandth(p.Messages, g.Messages), g.fromTop(p.Tokens))
		fmt.Fprintf(&said, " %s,%s", g.thousandth(p.Messages, g.Messages), g.fromTop(min(p.Unreduced, g.Top)))
	}
	area.WriteString(" 1000,1000")
	said.WriteString(" 1000,1000")
	g.Area, g.Said = area.String(), said.String()
	for _, m := range s.Marks {
		g.Marks = append(g.Marks, chartMark{m, g.x(m.Messages), g.y(m.After)})
	}
	g.Window, g.Now = g.y(s.Window), g.x(at)
	if b.At > 0 {
		g.Threshold = g.y(b.At)
	}
	return g
}

func (g chart) thousandth(n, of int) string {
	return fmt.Sprintf("%.1f", 1000*float64(n)/float64(max(of, 1)))
}

func (g chart) fromTop(tokens int) string { return g.thousandth(g.Top-tokens, g.Top) }

func (g chart) x(messages int) string { return place(100 * float64(messages) / float64(g.Messages)) }

func (g chart) y(tokens int) string {
	return place(100 * float64(g.Top-tokens) / float64(max(g.Top, 1)))
}
