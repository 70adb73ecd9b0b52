package reports

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// SessionList is a page of sessions, as JSON.
type SessionList struct {
	Total    int                 `json:"total"` // all that match
	Sessions []*sessions.Session `json:"sessions"`
}

// SessionHit is a message found in a session, or what is shown instead of some, as JSON.
type SessionHit struct {
	store.Hit
	Handle  precis.Handle `json:"handle"`
	In      string        `json:"in,omitempty"` // a side conversation, or "system"
	Kind    string        `json:"kind"`         // "summary", "note", or who said it
	Agent   string        `json:"agent"`
	Title   string        `json:"title,omitempty"`
	Project string        `json:"project,omitempty"`
	Path    string        `json:"path"`
	Used    time.Time     `json:"last"`
}

// SessionHits are the messages found by a search, for JSON.
type SessionHits struct {
	Total int          `json:"total"`
	More  bool         `json:"more,omitempty"` // there are more, which were not counted
	Hits  []SessionHit `json:"hits"`
}

// SessionList prints a page of sessions.
func (p *Printer) SessionList(l SessionList, limit, page int, now time.Time) {
	w := p.Text
	if l.Total == 0 {
		p.Line("no sessions")
		p.Pairs([2]string{"elsewhere", "precis sessions --in FOLDER"},
			[2]string{"always", p.Words.Text("precis config shows sessions.roots")})
		return
	}
	w.Title("%s", p.Words.Count(l.Total, "session"))
	short := shortIDs(l.Sessions)
	heads, right := p.Words.Heads("session", "used", "agent", "said", "cost"), []int{3, 4}
	wide := w.Width() >= 100
	if wide {
		heads, right = append(heads, p.Words.Heads("messages", "state")...), append(right, 5)
	}
	var rows [][]string
	for i, s := range l.Sessions {
		row := []string{short[i], p.ago(s.Last, now), s.Agent, p.size(s.Tokens), p.money(s.Cost, s.Estimated)}
		if wide {
			row = append(row, p.Words.Number(s.Messages), p.sessionMarks(s))
		}
		rows = append(rows, row)
	}
	room := w.Width() - 4
	for _, n := range columnWidths(rows, heads) {
		room -= n + 2
	}
	for i, s := range l.Sessions {
		rows[i] = append(rows[i], oneLine(p.describeSession(s), max(room, 16)))
	}
	w.Table(append(heads, p.Words.Text("what")), right, rows)
	if limit > 0 && limit*page < l.Total {
		w.Printf("  %s\n", p.Words.Text("… and %s more: --page %d", p.Words.Number(l.Total-limit*page),
			page+1))
	}
}

// describeSession describes a session by its project and its title.
func (p *Printer) describeSession(s *sessions.Session) string {
	if s.State == sessions.Unreadable {
		return p.Words.Sentence(s.Problem)
	}
	if base := projectName(s.Project); base != "" {
		return base + ": " + s.Title
	}
	return s.Title
}

// projectName returns the last part of a folder, of any system.
func projectName(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// sessionMarks returns a short state of a session.
func (p *Printer) sessionMarks(s *sessions.Session) string {
	switch {
	case s.Condensations > 0:
		return p.Words.Text("condensed %d×", s.Condensations)
	case s.State == sessions.Answered:
		return ""
	}
	return p.Words.Text(string(s.State))
}

// columnWidths returns the widths of the columns of rows, including headings.
func columnWidths(rows [][]string, heads []string) []int {
	out := make([]int, len(heads))
	for i, h := range heads {
		out[i] = lipgloss.Width(h)
	}
	for _, r := range rows {
		for i, cell := range r {
			out[i] = max(out[i], lipgloss.Width(cell))
		}
	}
	return out
}

// shortIDs returns prefixes of IDs that distinguish the sessions of a list.
func shortIDs(list []*sessions.Session) []string {
	out := make([]string, len(list))
	for n := 8; ; n += 4 {
		seen, again := map[string]string{}, false
		for i, s := range list {
			out[i] = s.ID[:min(n, len(s.ID))]
			if other, ok := seen[out[i]]; ok && other != s.ID {
				again = true
			}
			seen[out[i]] = s.ID
		}
		if !again || n > 60 {
			return out
		}
	}
}

// Session prints the details of a session.
func (p *Printer) Session(s *sessions.Session, children []*sessions.Session, now time.Time) {
	w := p.Text
	w.Title("%s", oneLine(cmp.Or(s.Title, s.ID), w.Width()))
	state := p.Words.Text(string(s.State))
	if s.Problem != "" {
		state += ": " + p.Words.Sentence(s.Problem)
	}
	condensed := ""
	if s.Condensations > 0 {
		condensed = p.Words.Text("%d× by the program: %s of %s hidden, %s of %s tokens", s.Condensations,
			p.Words.Number(s.Hidden), p.Words.Count(s.Messages, "message"), p.size(s.Lost), p.size(s.Tokens))
	}
	p.Pairs(
		[2]string{"id", s.ID}, [2]string{"agent", s.Agent}, [2]string{"model", s.Model},
		[2]string{"project", s.Project}, [2]string{"file", s.Path},
		[2]string{"state", oneLine(state, w.Width()-14)},
		[2]string{"used", p.Words.Text("%s to %s (%s)", p.formatTime(s.Begun), p.formatTime(s.Last),
			p.ago(s.Last, now))},
		[2]string{"said", p.Words.Text("%s, %s of the user, %s tokens", p.Words.Count(s.Messages, "message"),
			p.Words.Count(s.Turns, "turn"), p.Words.Number(s.Tokens))},
		[2]string{"condensed", condensed}, [2]string{"spent", p.spentText(s)},
		[2]string{"tools", toolsText(s.Tools, w.Width()-14)}, [2]string{"begun by", s.Parent},
	)
	for _, c := range children {
		p.Pairs([2]string{"began", oneLine(c.ID+"  "+c.Title, w.Width()-14)})
	}
	for _, in := range s.Inside[:min(len(s.Inside), 8)] {
		p.Pairs([2]string{"holds", fmt.Sprintf("%s (%s)", in.ID, p.Words.Count(in.Messages, "message"))})
	}
	if n := len(s.Inside) - 8; n > 0 {
		w.Printf("  %s\n", p.Words.Text("… and %d more", n))
	}
	w.Printf("\n")
	name := s.ID
	if strings.ContainsAny(name, `/\`) || filepath.Ext(name) != "" {
		name = s.Path
	}
	name = ShellWord(name)
	p.Pairs([2]string{"look", "precis inspect " + name}, [2]string{"find", "precis search " + name + " WORD"},
		[2]string{"sum up", "precis digest " + name})
}

// related prints the related words that led to a hit.
func (p *Printer) related(words store.RelatedWords) {
	if len(words) > 0 {
		p.Text.Printf("    %s\n", p.Text.Style("dim", p.Words.Text("related: %s", words)))
	}
}

// SessionHits prints the messages that a search found.
func (p *Printer) SessionHits(words []string, l SessionHits, now time.Time) {
	w := p.Text
	found := p.Words.Count(l.Total, "message")
	if l.More {
		found = p.Words.Text("the first %d of more messages; --limit prints more", l.Total)
	}
	w.Title("%s", p.Words.Text("%s in sessions: %s", strings.Join(words, " "), found))
	for _, h := range l.Hits {
		about := strings.TrimSpace(h.Agent + ", " + p.ago(h.Used, now) + ", " + projectName(h.Project))
		w.Printf("\n  %s %s  %s%s\n", w.Style("title", h.Conversation), h.Handle, p.hitKind(h),
			w.Style("dim", about))
		w.Printf("    %s\n", oneLine(h.Snippet, w.Width()-4))
		p.related(h.Related)
	}
	w.Printf("\n")
	if i := slices.IndexFunc(l.Hits, func(h SessionHit) bool { return h.In == "" }); i >= 0 {
		p.Pairs([2]string{"read", fmt.Sprintf("precis show %s %s", ShellWord(l.Hits[i].Conversation),
			l.Hits[i].Handle)})
	}
}

// hitKind names what was found, unless it is a message; "" for one.
func (p *Printer) hitKind(h SessionHit) string {
	switch {
	case h.In == find.InSystem:
		return p.Words.Part("system") + "  "
	case h.In != "":
		return p.Words.Text("in a side conversation") + "  "
	case h.Kind == "summary":
		return p.Words.Say("through.summary") + "  "
	case h.Kind == "note":
		return p.Words.Say("note") + "  "
	}
	return ""
}
