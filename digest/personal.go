package digest

import (
	"slices"
	"strings"

	"precis"
)

// heard is what one person said at once, with what it answers.
type heard struct {
	at    int
	text  string
	own   int    // how many of terms are the person's
	terms []term // with those of what it answers, when it is short
}

// window is how many words said one after another are looked at together.
const window = 60

// shortReply is how many words a reply has at most that cannot be understood without what it answers.
const shortReply = 15

// persons returns what persons said, and the summaries of what they said before.
func (in *input) persons() []heard {
	if in.personal != nil {
		return in.personal
	}
	in.personal = []heard{}
	for _, s := range in.record().said {
		h := heard{at: s.at, text: s.text, terms: termsOf(s.text)}
		h.own = len(h.terms)
		if len(h.terms) <= shortReply || s.question != "" {
			h.terms = append(h.terms, termsOf(in.answered(s.at)+"\n"+s.question)...)
		}
		in.personal = append(in.personal, h)
	}
	speech := precis.SpeechOf(in.messages)
	for i, m := range in.messages {
		if slices.Contains(speech.Authors(i), precis.AuthorRecap) {
			text := m.PlainText()
			in.personal = append(in.personal, heard{at: i, text: text, terms: termsOf(text)})
		}
	}
	return in.personal
}

// answered returns what the assistant said last before a message.
func (in *input) answered(at int) string {
	const reach = 4 // messages
	for i := at - 1; i >= max(0, at-reach); i-- {
		m := in.messages[i]
		if m.Role != precis.RoleAssistant {
			continue
		}
		if text := strings.TrimSpace(asked(m)); text != "" {
			return text
		}
		for _, b := range m.Content { // of a call that was allowed or refused
			if u, ok := b.(precis.ToolUse); ok {
				return string(u.Input)
			}
		}
	}
	return ""
}

// personsHold returns the greatest share of some words that a person said at once, where, and the share that all persons said
// together; own leaves out what they answered.
func (in *input) personsHold(words []term, own bool) (best float64, at *heard, all float64) {
	w := in.witness()
	total := 0.0
	held := map[string]bool{}
	for _, t := range words {
		if !t.empty {
			total += w.weight(t.stem)
		}
	}
	if total == 0 {
		return 1, nil, 1
	}
	persons := in.persons()
	for i := range persons {
		said := persons[i].terms
		if own {
			said = said[:persons[i].own]
		}
		for from := 0; from == 0 || from+window/2 < len(said); from += window / 2 {
			near := said[from:min(len(said), from+window)]
			sum := 0.0
			for _, t := range words {
				if !t.empty && slices.ContainsFunc(near, func(o term) bool { return sameWord(o.stem, t.stem) }) {
					sum += w.weight(t.stem)
					held[t.stem] = true
				}
			}
			if sum/total > best {
				best, at = sum/total, &persons[i]
			}
		}
	}
	for _, t := range words {
		if held[t.stem] {
			all += w.weight(t.stem)
		}
	}
	return best, at, all / total
}

// sameWord reports whether two words are forms of one: one begins with the other, or they share a long beginning.
func sameWord(a, b string) bool {
	const shared = 5
	if a == b {
		return true
	}
	return len(a) >= shared && len(b) >= shared && a[:shared] == b[:shared]
}
