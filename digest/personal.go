package digest

import (
	"slices"

	"precis"
)

// heard is what one person said at once.
type heard struct {
	at    int
	text  string
	terms []term // none of a summary of what was said before
}

// window is how many words said one after another are looked at together.
const window = 60

// persons returns what persons said, and the summaries of what they said before.
func (in *input) persons() []heard {
	if in.personal != nil {
		return in.personal
	}
	in.personal = []heard{}
	for _, s := range in.record().said {
		in.personal = append(in.personal, heard{s.at, s.text, termsOf(s.text)})
	}
	speech := precis.SpeechOf(in.messages)
	for i, m := range in.messages {
		if slices.Contains(speech.Authors(i), precis.AuthorRecap) {
			in.personal = append(in.personal, heard{at: i, text: m.PlainText()})
		}
	}
	return in.personal
}

// personsHold returns the message of a person that holds the greatest share of some words at once; nil when none holds any.
func (in *input) personsHold(words []term) (at *heard) {
	w := in.witness()
	best := 0.0
	persons := in.persons()
	for i := range persons {
		said := persons[i].terms
		for from := 0; from == 0 || from+window/2 < len(said); from += window / 2 {
			near := said[from:min(len(said), from+window)]
			sum := 0.0
			for _, t := range words {
				if !t.empty && slices.ContainsFunc(near, func(o term) bool { return sameWord(o.stem, t.stem) }) {
					sum += w.weight(t.stem)
				}
			}
			if sum > best {
				best, at = sum, &persons[i]
			}
		}
	}
	return at
}

// sameWord reports whether two words are forms of one: one begins with the other, or they share a long beginning.
func sameWord(a, b string) bool {
	const shared = 5
	if a == b {
		return true
	}
	return len(a) >= shared && len(b) >= shared && a[:shared] == b[:shared]
}
