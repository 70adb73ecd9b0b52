package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis/sessions"
)

// SessionStats prints the usage of sessions.
func (p *Printer) SessionStats(st sessions.Stats) {
	w := p.Text
	t := st.Total
	title := p.Words.Text("%s: %s, %s tokens", p.Words.Count(t.Sessions, "session"),
		p.Words.Count(t.Messages, "message"), p.size(t.Tokens))
	if cost := p.money(t.CostUSD, t.Estimated); cost != "" {
		title += p.Words.Say("comma") + cost
	}
	w.Title("%s", title)
	if t.Condensed > 0 {
		w.Paragraph("", p.Words.Text("%s were condensed by their programs, %s: %s tokens are hidden from their models", p.Words.Count(t.Condensed, "session"), p.times(t.Condensations), p.size(t.Lost)))
	}
	if t.Requests > 0 {
		w.Paragraph("", p.Words.Text("%s used %s input tokens, %s from a cache, and %s output tokens",
			p.Words.Count(t.Requests, "request"),
			p.size(t.Usage.Input+t.Usage.CacheRead+t.Usage.CacheWrite), p.size(t.Usage.CacheRead),
			p.size(t.Usage.Output)))
	}
	p.sums("agent", st.Agents, 12)
	p.sums("project", st.Projects, 10)
	p.sums("month", st.Months[max(0, len(st.Months)-12):], 12)
	p.sums("model", st.Models, 10)
	if len(st.Tools) > 0 {
		var parts []string
		for _, u := range st.Tools[:min(len(st.Tools), 12)] {
			parts = append(parts, u.Name+" "+p.Words.Number(u.Calls))
		}
		w.Printf("\n  %s  %s\n", w.Style("dim", p.Words.Text("tools")), strings.Join(parts, ", "))
	}
	if t.Estimated {
		w.Printf("\n  %s\n", w.Style("dim",
			p.Words.Text("≈ worked out from reported tokens and list prices; see precis models")))
	}
}

func (p *Printer) times(n int) string {
	if n == 1 {
		return p.Words.Text("once")
	}
	return p.Words.Text("%d times", n)
}

// sums prints one grouping of sessions.
func (p *Printer) sums(name string, list []sessions.Sum, most int) {
	w := p.Text
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for _, s := range list[:min(len(list), most)] {
		what := cmp.Or(s.Name, p.Words.Text("unknown"))
		if name == "project" {
			what = cmp.Or(projectName(s.Name), p.Words.Text("unknown"))
		}
		rows = append(rows, []string{oneLine(what, max(w.Width()-58, 12)), p.Words.Number(s.Sessions),
			p.Words.Number(s.Messages), p.size(s.Tokens), p.money(s.CostUSD, s.Estimated), condensed(s)})
	}
	w.Printf("\n")
	w.Table(p.Words.Heads(name, "sessions", "messages", "tokens", "cost", "condensed"), []int{1, 2, 3, 4, 5},
		rows)
	if n := len(list) - most; n > 0 {
		w.Printf("  %s\n", p.Words.Text("… and %d more; --json lists all", n))
	}
}

func condensed(s sessions.Sum) string {
	if s.Condensations == 0 {
		return ""
	}
	return fmt.Sprintf("%d×", s.Condensations)
}

// SessionFaults prints the faults found in sessions.
func (p *Printer) SessionFaults(faults []sessions.Fault) {
	w := p.Text
	if len(faults) == 0 {
		w.Printf("%s\n", w.Style("good", p.Words.Text("nothing is wrong")))
		return
	}
	mendable, last := 0, ""
	w.Title("%s", p.Words.Count(len(faults), "fault"))
	for _, f := range faults {
		if f.Path != last {
			w.Printf("\n  %s\n", f.Path)
			last = f.Path
		}
		if f.Mendable {
			mendable++
		}
		line := strings.TrimSpace(f.Kind + "  " + f.Place + "  " + p.Words.Sentence(f.Text))
		w.Printf("    %s\n", oneLine(line, w.Width()-4))
	}
	w.Printf("\n")
	if mendable > 0 {
		p.Pairs([2]string{"mend", p.Words.Text("precis sessions repair SESSION; %s can be mended",
			p.Words.Count(mendable, "fault"))})
	}
}

// SessionTree prints each session below its parent.
func (p *Printer) SessionTree(trees []*sessions.Node, now time.Time) {
	if len(trees) == 0 {
		p.Line("no sessions")
		return
	}
	for _, n := range trees {
		p.node(n, "  ", "", now)
	}
}

// node prints a session with the tree lines before it, and its children below.
func (p *Printer) node(n *sessions.Node, lead, branch string, now time.Time) {
	w := p.Text
	line := p.Words.Text("%s  %s, %s, %s tokens, %s  %s", n.ID[:min(8, len(n.ID))], n.Agent,
		p.ago(n.Last, now), p.size(n.Tokens), p.Words.Count(n.Messages, "message"),
		p.describeSession(n.Session))
	w.Printf("%s%s\n", w.Style("dim", lead+branch), oneLine(line, w.Width()-len([]rune(lead+branch))))
	below := lead
	switch branch {
	case "├ ":
		below += "│ "
	case "└ ":
		below += "  "
	}
	for i, c := range n.Children {
		next := "├ "
		if i == len(n.Children)-1 && len(n.Inside) == 0 {
			next = "└ "
		}
		p.node(c, below, next, now)
	}
	for i, in := range n.Inside {
		next := "├ "
		if i == len(n.Inside)-1 {
			next = "└ "
		}
		w.Printf("%s\n", w.Style("dim",
			below+next+in.ID[:min(8, len(in.ID))]+"  "+p.Words.Text("inside, %s",
				p.Words.Count(in.Messages, "message"))))
	}
}

// spentText returns the usage of a session: cost, requests and other models.
func (p *Printer) spentText(s *sessions.Session) string {
	if len(s.Spent) == 0 {
		return ""
	}
	requests := 0
	var models []string
	for _, sp := range s.Spent {
		requests += sp.Requests
		if sp.Model != "" && sp.Model != s.Model {
			models = append(models, sp.Model)
		}
	}
	text := p.Words.Count(requests, "request")
	if cost := p.money(s.Cost, s.Estimated); cost != "" {
		text = p.Words.Text("%s for %s", cost, text)
	}
	if len(models) > 0 {
		text += p.Words.Text(", also with %s", strings.Join(models, ", "))
	}
	return text
}

// toolsText lists tools by how often they were called.
func toolsText(calls map[string]int, room int) string {
	names := slices.SortedFunc(maps.Keys(calls),
		func(a, b string) int { return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, calls[n]))
	}
	return oneLine(strings.Join(parts, ", "), room)
}

// Size formats a number of tokens: 950, 12.3k, 4.5M.
func Size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return formatShort(float64(n)/1e3) + "k"
	}
	return formatShort(float64(n)/1e6) + "M"
}

// formatShort formats a number with one decimal, unless that is 0 or the number is 100 or more.
func formatShort(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// size is [Size] in the user's language.
func (p *Printer) size(n int) string { return p.Words.Decimal(Size(n)) }

// money formats dollars; "" for 0.
func (p *Printer) money(usd float64, estimated bool) string {
	if usd == 0 {
		return ""
	}
	text := p.Words.Dollars(usd)
	if estimated {
		return "≈" + text
	}
	return text
}

// ago formats the time since t: "now", "5m ago", "3h ago", "2d ago", or the date.
func (p *Printer) ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return p.Words.Text("never")
	case d < time.Minute:
		return p.Words.Text("now")
	case d < time.Hour:
		return p.Words.Text("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return p.Words.Text("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return p.Words.Text("%dd ago", int(d.Hours()/24))
	}
	return t.Local().Format("2006-01-02")
}

// formatTime formats a time in the local time zone.
func (p *Printer) formatTime(t time.Time) string {
	if t.IsZero() {
		return p.Words.Text("unknown")
	}
	return t.Local().Format("2006-01-02 15:04")
}
