package reduce

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/retain"
)

// hideTail hides whole groups, oldest first, until the view fits; the newest
// group and the last user turn stay. Groups with pins stay too unless pinned is
// set.
func (c *clipper) hideTail(pinned bool) {
	last := len(c.s.Units)
	for i := 0; i < last && c.need(lastUserTurn) > 0; {
		u := c.s.Units[i]
		end := i + 1
		if u.Original() {
			_, to := c.s.Kept.Group(u.From)
			for end < last && c.s.Units[end].From < to {
				end++
			}
		}
		pins := c.pinnedIn(i, end)
		if end < last && !c.holdsLastUser(i, end) && !c.attachedIn(i, end) && (pinned || pins == 0) &&
			!c.isHidden(u.From) {
			c.pinsHidden += pins
			for _, u := range c.s.Units[i:end] {
				c.saved += c.shownTokens(u)
			}
			c.addHidden(c.s.Units[i].From, c.s.Units[end-1].To)
		}
		i = end
	}
}

// leastDigest: a digest keeps its names and lines up to 1/leastDigest of the target.
const leastDigest = 4

// trim removes names and lines at the ends of large digests, the oldest digest first: they matter
// less than the agent's words in the messages that are still shown.
func (c *clipper) trim() {
	for _, u := range c.s.Units {
		need := c.need(assistantText)
		if need <= 0 {
			return
		}
		at := precis.Replacement{With: u.Messages}.OwnIndex()
		if u.Original() || at < 0 || len(u.Messages[at].Content) == 0 {
			continue
		}
		with := slices.Clone(u.Messages)
		m := with[at]
		first, ok := m.Content[0].(precis.Text)
		if !ok || !strings.HasPrefix(first.Text, digestHead) {
			continue
		}
		full, gain := c.s.Meter.View(with[at:at+1]), 0
		need = min(need, full-c.s.Target/leastDigest)
		for words := strings.TrimSuffix(first.Text,
			shortenedNote(u)); gain < need; gain = full - c.s.Meter.View([]precis.Message{m}) {
			if words = c.withoutEnd(words, need-gain); words == "" {
				break
			}
			m.Content = slices.Concat([]precis.Block{precis.Text{Text: words + shortenedNote(u)}},
				u.Messages[at].Content[1:])
		}
		if gain > 0 {
			with[at] = m
			c.shorter[u.From] = precis.Replacement{From: u.From, To: u.To, With: with}
			c.saved += gain
		}
	}
}

// withoutEnd returns a digest without its last lines of about the given tokens, taken from the end
// of the last section of names or lines; "" when it has no such section.
func (c *clipper) withoutEnd(digest string, tokens int) string {
	for _, title := range []string{namesTitle, linesTitle, readTitle} {
		from := strings.LastIndex(digest, title)
		if from < 0 {
			continue
		}
		to := len(digest)
		if next := strings.Index(digest[from+len(title):], "\n## "); next >= 0 {
			to = from + len(title) + next
		}
		end := to
		for end > from && tokens > 0 {
			start := strings.LastIndexByte(digest[:end], '\n')
			tokens -= c.s.Meter.Block(precis.RoleUser, precis.Text{Text: digest[start:end]})
			end = start
		}
		if end > from && !strings.Contains(digest[from+1:end], "\n") { // only the title would stay
			end = from
		}
		return digest[:end] + digest[to:]
	}
	return ""
}

// shortenDigests shortens digests and summaries, the oldest first: a digest loses its last sections
// first, which matter least, and keeps the user's requests; another text is cut as by
// [retain.Shorten].
func (c *clipper) shortenDigests() {
	for _, u := range c.s.Units {
		need := c.need(olderUserText)
		if need <= 0 {
			return
		}
		if u.Original() {
			continue
		}
		shown := u.Messages
		if r, trimmed := c.shorter[u.From]; trimmed {
			shown = r.With
		}
		at := precis.Replacement{With: shown}.OwnIndex()
		if at < 0 || len(shown[at].Content) == 0 {
			continue
		}
		m := shown[at]
		first, ok := m.Content[0].(precis.Text)
		if !ok || len(first.Text) < leastSummary {
			continue
		}
		words := first.Text
		full := c.s.Meter.View([]precis.Message{m})
		short := precis.Message{Role: m.Role}
		for range mostSections {
			if words = withoutLast(words, u); words == "" {
				break
			}
			short.Content = []precis.Block{precis.Text{Text: words}}
			if full-c.s.Meter.View([]precis.Message{short}) >= need {
				break
			}
		}
		if gain := full - c.s.Meter.View([]precis.Message{short}); len(short.Content) > 0 && gain > 0 {
			with := slices.Clone(shown)
			with[at] = short
			c.shorter[u.From] = precis.Replacement{From: u.From, To: u.To, With: with}
			c.saved += gain
		}
	}
}

// mostSections is the most sections that are removed from a digest.
const mostSections = 50

// leastSummary is the size in bytes up to which a digest or summary stays whole, or is hidden.
const leastSummary = 800

// shortenedNote is the note at the end of a shortened digest or summary.
func shortenedNote(u precis.Unit) string {
	return "\n[What else stood here is left out: " + precis.SpanHandle(u.From, u.To).String() + ".]"
}

// withoutLast returns a digest without its least important section, and another summary at four
// fifths of its size; "" when no more can be removed.
func withoutLast(text string, u precis.Unit) string {
	of := precis.SpanHandle(u.From, u.To).String()
	note := shortenedNote(u)
	text = strings.TrimSuffix(text, note)
	if strings.HasPrefix(text, digestHead) && strings.Contains(text, "\n## ") {
		from, to := leastOf(text)
		if from < 0 {
			return ""
		}
		return strings.TrimRight(text[:from]+text[to:], "\n") + note
	}
	if len(text) < leastSummary {
		return ""
	}
	return retain.Shorten(text, len(text)*4/5, of)
}

// Titles of the sections of digests that are removed last, and of those that stay: the user's
// requests, and the workflow that the user chose. The gate appends such sections.
const (
	rulesTitle    = "\n## Typed by the user"
	olderTitle    = "\n## Rules the user set" // in digests of earlier versions
	usersTitle    = "\n## The user's "
	workflowTitle = "\n## Active workflows"
)

// The beginning of a digest, and its sections of names, lines and files, which matter least.
const (
	digestHead = "[Digest of "
	linesTitle = "\n## Lines most likely to be needed again"
	readTitle  = "\n## Files as they were read last"
	namesTitle = "\n## Also mentioned"
)

// leastOf returns the bounds of the section of a digest to be removed next: the last one, the
// user's rules after all others; from is negative when only protected sections are left.
func leastOf(digest string) (from, to int) {
	rules, rulesEnd := -1, 0
	for end := len(digest); ; end = from {
		if from = strings.LastIndex(digest[:end], "\n## "); from <= 0 {
			return rules, rulesEnd
		}
		switch title := digest[from:end]; {
		case strings.HasPrefix(title, usersTitle), strings.HasPrefix(title, workflowTitle):
		case strings.HasPrefix(title, rulesTitle), strings.HasPrefix(title, olderTitle):
			if rules < 0 {
				rules, rulesEnd = from, end
			}
		default:
			return from, end
		}
	}
}

// pinnedIn counts the pinned messages of some units.
func (c *clipper) pinnedIn(from, to int) int {
	n := 0
	for _, u := range c.s.Units[from:to] {
		for i := u.From; i < u.To; i++ {
			if u.Original() && c.s.Kept.Pinned(i) {
				n++
			}
		}
	}
	return n
}

func (c *clipper) holdsLastUser(from, to int) bool {
	for _, u := range c.s.Units[from:to] {
		if u.From <= c.s.Kept.LastUser && c.s.Kept.LastUser < u.To {
			return true
		}
	}
	return false
}

// holdsAttachment reports whether a block is or holds an attachment that stays.
func (c *clipper) holdsAttachment(t *clipTarget) bool {
	r, result := t.block.(precis.ToolResult)
	if !result {
		return c.s.IsAttachment(t.h.From, t.block)
	}
	return slices.ContainsFunc(r.Content, func(b precis.Block) bool { return c.s.IsAttachment(t.h.From, b) })
}

// attachedIn reports whether some units hold an attachment that stays.
func (c *clipper) attachedIn(from, to int) bool {
	for _, u := range c.s.Units[from:to] {
		holds := func(i int) bool { return c.holdsAttachment(&c.targets[i]) }
		if u.Original() && slices.ContainsFunc(c.ofMessage(u.From), holds) {
			return true
		}
	}
	return false
}

// shownTokens counts the tokens of a unit with the cuts made so far.
func (c *clipper) shownTokens(u precis.Unit) int {
	if r, ok := c.shorter[u.From]; ok {
		return c.s.Meter.View(r.With)
	}
	if !u.Original() {
		return c.s.Meter.View(u.Messages)
	}
	n := 0
	for _, i := range c.ofMessage(u.From) {
		n += c.targets[i].tokens
	}
	return n
}

// ofMessage returns the indexes of the targets of a message, which are
// consecutive.
func (c *clipper) ofMessage(message int) []int {
	i := sort.Search(len(c.targets), func(k int) bool { return c.targets[k].h.From >= message })
	var out []int
	for ; i < len(c.targets) && c.targets[i].h.From == message; i++ {
		out = append(out, i)
	}
	return out
}

// leaveOut drops whole blocks from messages with very many blocks: first all text and similar
// blocks of a message except the first and the last, then calls together with their results except
// the last.
func (c *clipper) leaveOut() {
	uses := map[precis.Handle]int{}
	for i := 0; i < len(c.targets) && c.need(lastUserTurn) > 0; i++ {
		t := &c.targets[i]
		if c.isHidden(t.h.From) || t.class == uncut {
			continue
		}
		switch t.block.(type) {
		case precis.ToolUse:
			uses[t.h] = i
		case precis.ToolResult:
		default:
			inside := i > 0 && c.targets[i-1].h.From == t.h.From && i+1 < len(c.targets) &&
				c.targets[i+1].h.From == t.h.From
			if inside {
				c.drop(t)
			}
		}
	}
	if len(uses) == 0 {
		return
	}
	pairs := precis.PairsOf(c.s.Transcript.Messages())
	for i := range c.targets {
		call, _ := pairs.Call(c.targets[i].h)
		use, answered := uses[call]
		if !answered || len(uses) == 1 || c.need(lastUserTurn) <= 0 || c.isHidden(c.targets[i].h.From) {
			continue
		}
		if c.holdsAttachment(&c.targets[i]) {
			continue
		}
		delete(uses, call)
		c.drop(&c.targets[use])
		c.drop(&c.targets[i])
	}
}

func (c *clipper) drop(t *clipTarget) {
	c.with[t.h] = nil
	c.saved += t.tokens
	t.tokens = 0
	c.breaches++
}

func (c *clipper) addHidden(from, to int) {
	i := sort.Search(len(c.hidden), func(k int) bool { return c.hidden[k].From >= from })
	if i > 0 && c.hidden[i-1].To == from {
		c.hidden[i-1].To = to
		return
	}
	c.hidden = append(c.hidden[:i:i], append([]precis.Replacement{{From: from, To: to}}, c.hidden[i:]...)...)
}

func (c *clipper) isHidden(message int) bool {
	i := sort.Search(len(c.hidden), func(k int) bool { return c.hidden[k].To > message })
	return i < len(c.hidden) && c.hidden[i].From <= message
}

// mark replaces the hidden spans by one short marker.
func (c *clipper) mark() {
	if n := len(c.hidden); n > 0 {
		r := &c.hidden[n-1]
		r.With = []precis.Message{precis.NewText(precis.RoleUser,
			fmt.Sprintf("[Hidden to save room: %s.]", precis.SpanHandle(c.hidden[0].From, r.To)))}
	}
}

func (c *clipper) replacements() []precis.Replacement {
	var out []precis.Replacement
	for h, with := range c.with {
		if !c.isHidden(h.From) {
			out = append(out, precis.ReplaceBlock(c.s.Transcript, h.From, h.Block, with))
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].From != out[j].From {
			return out[i].From < out[j].From
		}
		return out[i].Block.Index < out[j].Block.Index
	})
	for from, r := range c.shorter {
		if !c.isHidden(from) {
			out = append(out, r)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].From < out[j].From })
	return append(out, c.hidden...)
}

func (c *clipper) reason() string {
	if len(c.with) == 0 && len(c.hidden) == 0 && len(c.shorter) == 0 {
		return "nothing is left to cut"
	}
	text := plural(len(c.with), "block") + " cut inside"
	if n := len(c.shorter); n > 0 {
		text += ", " + plural(n, "digest") + " or summary shortened"
	}
	if len(c.hidden) > 0 {
		text += ", the oldest of the kept messages hidden"
	}
	return text
}
