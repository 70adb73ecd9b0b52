package workstate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

// skills are the loaded skills, by name.
type skills struct{ keyed }

// loaded is a skill from a text.
type loaded struct{ name, where, body string }

var (
	// skillHead matches an element around a skill with its name.
	skillHead = lazyregexp.New(`^\s*<[\w-]*skill[\w-]*\s[^>\n]*\bname="([^"\n]+)"`)
	// matter matches the name in the head of a skill's file.
	matter = lazyregexp.New(`(?m)\A\s*---\s*$(?s:.{0,600}?)^name:\s*["']?([\w.-]+)`)
	// skillFile matches the file of a skill in a command that prints it.
	skillFile = lazyregexp.New(`[^\s"'|;&]+/SKILL\.md\b`)
)

// skillIn recognizes the text of a skill.
func skillIn(text string) (loaded, bool) {
	body := harness.ReminderContent(strings.TrimSpace(text))
	const base = harness.SkillBase
	head := firstLines(body[:min(len(body), 1000)], 6)
	if at := strings.Index(head, base); at >= 0 && (at == 0 || body[at-1] == '\n') {
		dir, rest, _ := strings.Cut(body[at+len(base):], "\n")
		dir = strings.TrimRight(strings.TrimSpace(dir), "/\\")
		name := path.Base(strings.ReplaceAll(dir, `\`, "/"))
		if m := skillHead.FindStringSubmatch(body); m != nil {
			name = m[1]
		}
		return loaded{name, dir + "/SKILL.md", rest}, dir != ""
	}
	if rest, ok := strings.CutPrefix(body, "<skill>"); ok {
		head := rest[:min(len(rest), 2000)]
		name := harness.Element(head, "name")
		return loaded{name, harness.Element(head, "path"), rest}, name != ""
	}
	if m := skillHead.FindStringSubmatch(body); m != nil {
		_, rest, _ := strings.Cut(body, ">")
		return loaded{m[1], "", rest}, true
	}
	return loaded{}, false
}

// text reads a text of the program.
func (s *skills) text(at precis.Handle, text string) {
	if !strings.Contains(text[:min(len(text), 400)], "skill") {
		return
	}
	if l, ok := skillIn(text); ok {
		s.load(l, at)
	}
}

// call applies an answered call of a tool that loads skills, or one that reads a skill's file. It
// reports whether it is one of these.
func (s *skills) call(c *toolcall.Call, args []arg) bool {
	if c.IsError {
		return false
	}
	at := c.Results[len(c.Results)-1]
	if file := skillRead(c); file != "" {
		l := loaded{path.Base(path.Dir(file)), file, unnumbered(c.Text)}
		if m := matter.FindStringSubmatch(l.body); m != nil {
			l.name = m[1]
		}
		s.load(l, at)
		return true
	}
	if c.Kind != toolcall.Other || !plays(c.Name, "skill") {
		return false
	}
	l, ok := skillIn(c.Text)
	if !ok {
		l.body = c.Text
		for _, a := range args {
			if slices.Contains([]string{"skill", "name", "skillname", "command"}, a.name) {
				l.name = cmp.Or(l.name, strings.TrimPrefix(strings.TrimSpace(a.text), "/"))
			}
		}
	}
	if l.name != "" && len(l.name) <= 100 && c.Outcome().End != toolcall.Rejected {
		s.load(l, at)
	}
	return true
}

// skillRead returns the file of a skill that a call reads or prints; "" for none.
func skillRead(c *toolcall.Call) string {
	switch {
	case c.Kind == toolcall.Read && path.Base(c.Path) == "SKILL.md":
		return c.Path
	case c.Kind == toolcall.Command && strings.Contains(c.Line, "/SKILL.md") && toolcall.Prints(c.Line):
		if m := skillFile.FindStringSubmatch(c.Line); m != nil {
			return m[0]
		}
	}
	return ""
}

func (s *skills) load(l loaded, at precis.Handle) {
	it := Item{Kind: Skill, Key: strings.ToLower(l.name), Text: preview.Quote(l.name, 100), Since: at, At: at}
	it.Where, it.Orders = preview.Quote(l.where, 300), Directives(l.body)
	i, known := s.byKey[it.Key]
	if !known && len(s.all) > 0 {
		if last := &s.all[len(s.all)-1]; at.From-last.At.From <= 1 && sameSkill(it.Key, last.Key) {
			i, known = len(s.all)-1, true
			if len(it.Key) < len(last.Key) {
				it.Key, it.Text = last.Key, last.Text
			}
			s.byKey[it.Key] = i
		}
	}
	if known {
		old := &s.all[i]
		if len(it.Orders) == 0 { // the result that only confirms the loading
			it.Orders = old.Orders
		}
		it.Where = cmp.Or(it.Where, old.Where)
		if it.Since.From-old.Since.From <= 1 { // its text is next to the result of the call
			it.Since = old.Since
		}
		*old = it
		return
	}
	s.add(it)
}

// sameSkill reports whether two names are of one skill: with the plugin that brings it, as in the
// call, or without, as in its folder.
func sameSkill(a, b string) bool {
	bare := func(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }
	return bare(a) == bare(b) && strings.Contains(a, ":") != strings.Contains(b, ":")
}

// Limits of the orders of a text.
const (
	mostOrders     = 40
	mostOrder      = 400 // bytes of one
	mostOrderBytes = 6000
)

// governs matches a line above a list that qualifies its entries: forbidden, or only for some case.
var governs = lazyregexp.New(`(?i)\b(?:never|not|avoid\w*|forbidden|prohibited|wrong|bad|mistakes?|anti-?patterns?` +
	`|red flags?|instead|when\w*|if|unless|before|after|only|always|must|nie|nicht|wenn|jamais|pas|si|nunca|no)\b` +
	`|n't\b|不|禁|勿|时|時|場合|とき|ない`)

// leadOf returns the line above a list that must precede its entries, so that none is read as its
// opposite; "" if it is not needed. Such a line is a heading, in bold, or ends in a colon.
func leadOf(l string) string {
	const most = 60 // bytes
	l = strings.TrimSpace(l)
	bare := strings.TrimRight(strings.Trim(l, "#* "), ":：*")
	titled := strings.HasPrefix(l, "#") || strings.TrimRight(l, "*:：") != l
	if !titled || len(bare) > most || !governs.MatchString(bare) {
		return ""
	}
	return bare + ": "
}

// Directives returns the orders and prohibitions in a text of the program, word for word and in order:
// sentences that set rules, see [retain.Constraints], and the entries of its lists, which are steps to
// follow, prefixed by the line that governs them ("Never: skip the tests"). Fenced text is an example
// and excluded, and so are rows of tables. If there is too much, entries that set no rule are dropped
// first, from the end.
func Directives(text string) []string {
	var out []string
	seen, size := map[string]bool{"": true}, 0
	add := func(order string) {
		if order = strings.TrimSpace(order); len(order) <= mostOrder && !seen[order] {
			seen[order] = true
			out = append(out, order)
			size += len(order)
		}
	}
	rules := retain.Constraints(text)
	for _, passage := range harness.Typed(text) {
		lead := ""
		for l := range strings.Lines(passage) {
			if m := points.FindStringSubmatch(strings.TrimRight(l, " \r\n")); m != nil && l[0] != '#' {
				add(lead + m[3])
				continue
			}
			if strings.TrimSpace(l) != "" {
				lead = leadOf(l)
			}
			if l[0] == '|' || l[0] == '#' && len(strings.Fields(l)) < 5 {
				// a row, or a title of the text below
				continue
			}
			for _, rule := range retain.Constraints(l) {
				if slices.Contains(rules, rule) { // else it is the title of a list
					add(rule)
				}
			}
		}
	}
	for i := len(out) - 1; i >= 0 && (len(out) > mostOrders || size > mostOrderBytes); i-- {
		if len(retain.Constraints(out[i])) == 0 {
			size -= len(out[i])
			out = slices.Delete(out, i, i+1)
		}
	}
	return out[:min(len(out), mostOrders)]
}
