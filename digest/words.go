package digest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/plain"
	"github.com/precis-dev/precis/internal/prose"
	"github.com/precis-dev/precis/internal/toolcall"
	"github.com/precis-dev/precis/retain"
)

const wordsTitle = "## Where the work stands, in the agent's own words, newest first"

// Limits of the agent's words, in bytes. Older texts below leastWords are dropped ("Let me look at
// that." is worthless later), and those before a call already below leastCalls, because the call
// carries the information; beside a summary these and reasoning are dropped below leastBrief.
const (
	mostWords  = 700 // of a text, its beginning and end; the newest may be longer
	leastWords = 40
	leastCalls = 100 // before a call
	leastBrief = 170
)

// lastWords is the part of the digest that the newest text may take, in percent.
const lastWords = 25

// ownText is what the agent said or thought at one place.
type ownText struct {
	at      int // message
	words   string
	thought bool // reasoning; its end is quoted
}

// ownWords returns what the agent said in the covered messages, each text once, and its newest
// reasoning, newest first. All texts but the newest lose the announcement of a call.
func (in *input) ownWords() (out []ownText) {
	said := map[string]bool{}
	for i := len(in.x.Texts) - 1; i >= 0; i-- {
		t := &in.x.Texts[i]
		from, speaks := in.addressedToUser(t)
		if !in.covered(t.Handle.From) || in.isPreviousSummary(i) || !speaks {
			continue
		}
		words := toolcall.WithoutCalls(t.Body[from:])
		if len(out) > 0 && in.hasCall(t.Handle.From) {
			words = withoutAnnouncement(words)
		}
		key := retain.Folded(words)
		if key == "" || said[key] {
			continue
		}
		said[key] = true
		out = append(out, ownText{at: t.Handle.From, words: words})
	}
	out = append(out, in.thoughts()...)
	slices.SortStableFunc(out, func(a, b ownText) int { return b.at - a.at })
	return out
}

// withoutAnnouncement removes a last sentence that ends in a colon from a text before a call: the
// call repeats it.
func withoutAnnouncement(text string) string {
	for strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：") {
		text = withoutLast(text)
	}
	return text
}

// withoutLast returns a text without its last sentence.
func withoutLast(text string) string {
	text = strings.TrimSpace(text)
	all := prose.Units(text)
	if len(all) == 0 {
		return ""
	}
	at := all[len(all)-1].Start
	if line := strings.LastIndexByte(text, '\n') + 1; line > at { // a list, or a sentence on several lines
		if s := prose.Sentences(text[line:]); s[0].Start > 0 {
			at = line + s[len(s)-1].Start
		}
	}
	if line := strings.LastIndexByte(text[:at], '\n') + 1; !strings.ContainsFunc(text[line:at],
		unicode.IsLetter) {
		at = line // with the mark or the number of an entry
	}
	return strings.TrimSpace(text[:at])
}

// thoughts returns the ends of the agent's newest reasoning, newest first. If a call follows, the
// last sentence, which announces it, is omitted.
func (in *input) thoughts() (out []ownText) {
	const newest, most, least = 8, 300, 60 // count; bytes of each, and the least of a text
	for i := len(in.messages) - 1; i >= 0; i-- {
		for _, b := range in.messages[i].Content {
			t, ok := b.(precis.Thinking)
			if !ok || !in.covered(i) {
				continue
			}
			text := t.Text
			if in.hasCall(i) {
				text = withoutAnnouncement(withoutLast(text))
			}
			if len(text) >= in.least(least) && len(out) < newest {
				out = append(out, ownText{i, retain.LastPart(text, most), true})
			}
		}
	}
	return out
}

// addressedToUser reports whether a text is addressed to the user, in words or by a call, and where the
// words begin.
func (in *input) addressedToUser(t *retain.Text) (from int, ok bool) {
	if t.Source == retain.SourceAssistant {
		return 0, in.messages[t.Handle.From].Role == precis.RoleAssistant
	}
	if t.Source != retain.SourceArguments || t.Call < 0 {
		return 0, false
	}
	c := &in.x.Calls[t.Call]
	if t.Field != "" {
		return 0, harness.Speaks(c.Name, t.Field)
	}
	for a := range c.Arguments() { // a short call on one line
		return len(c.Name), harness.Speaks(c.Name, a.Name)
	}
	return 0, false
}

// newestSaid returns the index of the first text that the agent said; -1 for none.
func newestSaid(all []ownText) int {
	return slices.IndexFunc(all, func(t ownText) bool { return !t.thought })
}

// dropShort drops the texts that are too short to be worth their room, but not the last one unless it
// announces a call.
func (in *input) dropShort(all []ownText) []ownText {
	newest := newestSaid(all)
	return slices.DeleteFunc(slices.Clone(all), func(t ownText) bool {
		isLast := t == all[max(newest, 0)] && !strings.HasSuffix(t.words, ":")
		return !isLast && (len(t.words) < leastWords ||
			len(t.words) < in.least(leastCalls) && in.hasCall(t.at))
	})
}

// least returns the least bytes of a text, which are more beside a summary.
func (in *input) least(bytes int) int {
	if in.brief {
		return leastBrief
	}
	return bytes
}

// hasCall reports whether a message holds a call.
func (in *input) hasCall(message int) bool {
	return slices.ContainsFunc(in.messages[message].Content, func(b precis.Block) bool {
		_, ok := b.(precis.ToolUse)
		return ok
	})
}

// accountSize returns the tokens of texts as the account quotes them; it stops counting at most.
func (in *input) accountSize(all []ownText, most int) (size int) {
	for i := 0; i < len(all) && size < most; i++ {
		size += in.count(retain.BothEnds(all[i].words, mostWords))
	}
	return min(size, most)
}

// writeAccount writes the agent's own account of the work: its newest text, and the beginning and the
// end of earlier ones, newest first, as many as fit.
func (in *input) writeAccount(d *draft, all []ownText, budget int) {
	left := min(budget, d.tokensLeft) - d.count(wordsTitle) - 2
	var lines []string
	newest := newestSaid(all)
	for i, t := range all {
		words := retain.BothEnds(t.words, mostWords)
		if i == newest {
			words = retain.Fit(t.words, max(min(left, in.tokens*lastWords/100)-8, 0), d.count)
		}
		at := in.handle(t.at)
		if t.thought {
			at += ", in its reasoning"
		}
		line := "- " + at + ": " + plain.Indent(plain.Text(words))
		if left -= d.count(line) + 1; words == "" || left < 0 {
			break
		}
		lines = append(lines, line)
		in.cover.AddText(words)
	}
	d.section(wordsTitle, lines, d.tokensLeft)
}
