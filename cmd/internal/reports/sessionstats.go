package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"precis/cmd/internal/term"
	"precis/sessions"
)

// SessionStats prints what sessions used.
func (p *Printer) SessionStats(st sessions.Stats) {
	w := p.Text
	t := st.Total
	title := fmt.Sprintf("%s: %s, %s tokens", term.Count(t.Sessions, "session"), term.Count(t.Messages, "message"), Size(t.Tokens))
	if cost := money(t.CostUSD, t.Estimated); cost != "" {
		title += ", " + cost
	}
	w.Title("%s", title)
	if t.Condensed > 0 {
		w.Paragraph("", fmt.Sprintf("%s were condensed by their programs, %s: %s tokens are hidden from their models", term.Count(t.Condensed, "session"), times(t.Condensations), Size(t.Lost)))
	}
	if t.Requests > 0 {
		w.Paragraph("", fmt.Sprintf("%s used %s input tokens, %s from a cache, and %s output tokens", term.Count(t.Requests, "request"),
			Size(t.Usage.Input+t.Usage.CacheRead+t.Usage.CacheWrite), Size(t.Usage.CacheRead), Size(t.Usage.Output)))
	}
	p.sums("agent", st.Agents, 12)
	p.sums("project", st.Projects, 10)
	p.sums("month", st.Months[max(0, len(st.Months)-12):], 12)
	p.sums("model", st.Models, 10)
	if len(st.Tools) > 0 {
		var parts []string
		for _, u := range st.Tools[:min(len(st.Tools), 12)] {
			parts = append(parts, u.Name+" "+term.Number(u.Calls))
		}
		w.Printf("\n  %s  %s\n", w.Style("dim", "tools"), strings.Join(parts, ", "))
	}
	if t.Estimated {
		w.Printf("\n  %s\n", w.Style("dim", "≈ worked out from reported tokens and list prices; see precis models"))
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return term.Number(n) + " times"
}

// sums prints one grouping of sessions.
func (p *Printer) sums(name string, list []sessions.Sum, most int) {
	w := p.Text
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for _, s := range list[:min(len(list), most)] {
		what := cmp.Or(s.Name, "unknown")
		if name == "project" {
			what = cmp.Or(projectName(s.Name), "unknown")
		}
		rows = append(rows, []string{oneLine(what, max(w.Width()-58, 12)), term.Number(s.Sessions), term.Number(s.Messages), Size(s.Tokens), money(s.CostUSD, s.Estimated), condensed(s)})
	}
	w.Printf("\n")
	w.Table([]string{name, "sessions", "messages", "tokens", "cost", "condensed"}, []int{1, 2, 3, 4, 5}, rows)
	if n := len(list) - most; n > 0 {
		w.Printf("  … and %d more; --json lists all\n", n)
	}
}

func condensed(s sessions.Sum) string {
	if s.Condensations == 0 {
		return ""
	}
	return fmt.Sprintf("%d×", s.Condensations)
}

// SessionFaults prints what is wrong with sessions.
func (p *Printer) SessionFaults(faults []sessions.Fault) {
	w := p.Text
	if len(faults) == 0 {
		w.Printf("%s\n", w.Style("good", "nothing is wrong"))
		return
	}
	mendable, last := 0, ""
	w.Title("%s", term.Count(len(faults), "fault"))
	for _, f := range faults {
		if f.Path != last {
			w.Printf("\n  %s\n", f.Path)
			last = f.Path
		}
		if f.Mendable {
			mendable++
		}
		line := strings.TrimSpace(f.Kind + "  " + f.Place + "  " + f.Text)
		w.Printf("    %s\n", oneLine(line, w.Width()-4))
	}
	w.Printf("\n")
	if mendable > 0 {
		w.Pairs([2]string{"mend", fmt.Sprintf("precis sessions repair SESSION; %s can be mended", term.Count(mendable, "fault"))})
	}
}

// SessionTree prints sessions below those that began them.
func (p *Printer) SessionTree(trees []*sessions.Node, now time.Time) {
	w := p.Text
	if len(trees) == 0 {
		w.Printf("no sessions\n")
		return
	}
	for _, n := range trees {
		p.node(n, "  ", "", now)
	}
}

// node prints a session behind the lines that lead to it, and those below it.
func (p *Printer) node(n *sessions.Node, lead, branch string, now time.Time) {
	w := p.Text
	line := fmt.Sprintf("%s  %s, %s, %s tokens, %s  %s", n.ID[:min(8, len(n.ID))], n.Agent, Ago(n.Last, now), Size(n.Tokens), term.Count(n.Messages, "message"), whatOf(n.Session))
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
		w.Printf("%s\n", w.Style("dim", fmt.Sprintf("%s%s%s  inside, %s", below, next, in.ID[:min(8, len(in.ID))], term.Count(in.Messages, "message"))))
	}
}

// spentText says what a session spent, by model.
func spentText(s *sessions.Session) string {
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
	text := term.Count(requests, "request")
	if cost := money(s.Cost, s.Estimated); cost != "" {
		text = cost + " for " + text
	}
	if len(models) > 0 {
		text += ", also with " + strings.Join(models, ", ")
	}
	return text
}

// toolsText lists tools by how often they were called.
func toolsText(calls map[string]int, room int) string {
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %d", n, calls[n]))
	}
	return oneLine(strings.Join(parts, ", "), room)
}

// Size writes a number of tokens in short: 950, 12.3k, 4.5M.
func Size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return short(float64(n)/1e3) + "k"
	}
	return short(float64(n)/1e6) + "M"
}

// short writes a number with one place where that is a difference.
func short(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// money writes dollars; "" for none.
func money(usd float64, estimated bool) string {
	if usd == 0 {
		return ""
	}
	text := term.Dollars(usd)
	if estimated {
		return "≈" + text
	}
	return text
}

// Ago writes how long ago a time is: "now", "5m", "3h", "2d", or the date.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "never"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return t.Local().Format("2006-01-02")
}

// clock writes a time of the user's day.
func clock(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.Local().Format("2006-01-02 15:04")
}
