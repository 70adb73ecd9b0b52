package retain

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// Loss returns the content that the view by the edits before shows and the view by the edits after
// has in no form at all. Both lists are of conv's transcript; its own edits are ignored. A rule or
// user turn that the first view did not show is not counted. Meter counts the messages; Gone does
// not retain it.
func Loss(conv *precis.Conversation, before, after []precis.Edit, meter *measure.Meter) policy.Loss {
	return contentGone(RulesOf(WithoutRewound(conv.Transcript, before)), conv.Transcript, before, after,
		meter)
}

// LossOf is [Loss] of a run: before is the list of edits at its beginning.
func LossOf(s *policy.Situation, before []precis.Edit) policy.Loss {
	x, _, _ := Of(s)
	return contentGone(x.Rules(), s.Transcript, before, s.Edits, s.Meter)
}

// RulesOf returns the rules in the words of persons in messages, see [Index.Rules].
func RulesOf(msgs []precis.Message) []Rule { return readRules(precis.SpeechOf(msgs)) }

func contentGone(rules []Rule, t *precis.Transcript, before, after []precis.Edit,
	meter *measure.Meter) policy.Loss {
	was, is := precis.ShownBy(t, before), precis.ShownBy(t, after)
	had, has := wordsOf(was.Units), wordsOf(is.Units)
	g := policy.Loss{AllRules: len(rules)}
	for _, r := range rules {
		if text := Folded(r.Text); !strings.Contains(has(), text) && strings.Contains(had(), text) {
			g.Rules = append(g.Rules, policy.LostAnchor{Text: r.Text, Kind: "rule", Handle: r.Handle})
		}
	}
	for _, h := range precis.Pinned(before) {
		if pinGone(t, h, was, is, had, has) {
			g.Pins = append(g.Pins, h)
		}
	}
	speech := t.Speech()
	last := speech.LastTurn(func(i int) bool { return !was.Message(i).Hidden })
	if last >= 0 && speech.BeginsTurn(last) {
		said, h := userWordsIn(speech, last), precis.MessageHandle(last)
		if !isShown(said, is.Message(last), has) && isShown(said, was.Message(last), had) {
			g.LastTurn = &h
		}
	}
	if share := shareHiddenUnsummarized(was, is, meter); share > policy.MaxHidden {
		g.Hidden = share
	}
	return g
}

// pinGone reports whether content pinned by a handle was in a view and is missing in the next.
func pinGone(t *precis.Transcript, h precis.Handle, was, is *precis.Shown, had, has func() string) bool {
	for i := h.From; i < min(h.To, t.Len()); i++ {
		m, before, after := t.At(i), was.Message(i), is.Message(i)
		if b := h.Block; b >= 0 && b < len(m.Content) {
			m.Content, before, after = m.Content[b:b+1], was.Block(i, b), is.Block(i, b)
		}
		said := []string{FoldedText([]precis.Message{m})}
		if !isShown(said, after, has) && isShown(said, before, had) {
			return true
		}
	}
	return false
}

// userWordsIn returns the user's words in a message, including answers to questions.
func userWordsIn(speech *precis.Speech, i int) []string {
	said := []string{speech.Words(i)}
	for _, a := range speech.Answers(i) {
		said = append(said, a.Text)
	}
	return said
}

// wordsOf returns a function that returns the words of a view, folded. It collects them on first
// use, which is rare.
func wordsOf(units []precis.Unit) func() string {
	return sync.OnceValue(func() string {
		var out strings.Builder
		for _, u := range units {
			writeWords(&out, u.Messages)
		}
		return out.String()
	})
}

// enough is the number of characters of a line that identify it, even if its rest is cut.
const enough = 40

// little is the size in bytes of a line that may occur anywhere, such as a brace: it identifies a
// text only if there is no longer line.
const little = 12

// isShown reports whether a view contains a message's words in some form: the message itself,
// shortened or not, or one of its lines elsewhere. words returns the folded words of the view.
func isShown(said []string, look precis.Appearance, words func() string) bool {
	if !look.Hidden && !look.Changed {
		return true // unchanged
	}
	var lines, telling []string
	for _, text := range said {
		for line := range strings.Lines(text) {
			if line = Folded(line); line != "" {
				lines = append(lines, line)
			}
			if len(line) >= little {
				telling = append(telling, line)
			}
		}
	}
	if len(lines) == 0 {
		return !look.Hidden // a picture, or its note
	}
	if len(telling) > 0 {
		lines = telling
	}
	return slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(words(), first(line, enough)) || strings.Contains(words(), last(line, enough))
	})
}

func first(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

func last(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// shareHiddenUnsummarized returns the share of a view, by tokens, that the next one hides or cuts
// without a summary or digest. A preview, an outline or a pointer to a copy counts as shown, since it
// states what it replaces.
func shareHiddenUnsummarized(was, is *precis.Shown, meter *measure.Meter) float64 {
	all, hidden := 0, 0
	for _, u := range was.Units {
		n := meter.View(u.Messages)
		all += n
		if n == 0 || u.From >= u.To {
			continue
		}
		look := is.Message(u.From)
		switch {
		case !u.Original() && look.Edit == u.Edit: // as before
		case !u.Original() && look.Kind == precis.KindClip:
			hidden += max(n-meter.View(look.Unit.Messages), 0)
		case look.Kind == precis.KindCondensation && len(look.Unit.Messages) > 0: // a summary replaces it
		case look.Hidden:
			hidden += n
		case look.Changed && u.Original():
			hidden += cut(u, is, meter)
		}
	}
	if all == 0 {
		return 0
	}
	return float64(hidden) / float64(all)
}

// cut returns the tokens that a clip removed from the blocks of a message.
func cut(u precis.Unit, is *precis.Shown, meter *measure.Meter) int {
	n := 0
	for i, b := range u.Blocks() {
		look := is.Block(u.From, i)
		if look.Kind != precis.KindClip {
			continue
		}
		n += meter.Block(u.Messages[0].Role, b)
		if look.Block != nil {
			n -= meter.Block(u.Messages[0].Role, look.Block)
		}
	}
	return max(n, 0)
}
