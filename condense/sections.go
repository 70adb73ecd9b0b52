package condense

import (
	"strings"
	"unicode/utf8"
)

// section is a part of the summary that a template requires. Its number is its
// position.
type section struct {
	name string
	also []string // prefixes of alternative headings, in lower case
}

var nineSections = []section{
	{"Request and intent", []string{"primary request", "request", "user request", "user's request", "intent",
		"goal"}},
	{"Concepts", []string{"key technical concepts", "key concepts", "technical concepts"}},
	{"Files and code", []string{"files", "relevant files", "code"}},
	{"Errors and fixes", []string{"errors", "fixes"}},
	{"Problem solving", []string{"problems", "problem-solving", "findings"}},
	{"All user messages", []string{"user messages", "user's messages", "messages of the user"}},
	{"Pending tasks", []string{"pending", "open tasks", "remaining tasks"}},
	{"Current work", []string{"current state", "work in progress"}},
	{"Next step", []string{"next", "optional next step"}},
}

var sixSections = []section{
	{"Previous conversation", []string{"conversation", "overview", "history"}},
	nineSections[7],
	nineSections[1],
	{"Files", []string{"relevant files", "code"}},
	{"Problems solved", []string{"problem solving", "problem-solving", "problems", "errors"}},
	{"Pending and next steps", []string{"pending", "next", "open tasks"}},
}

var briefSections = []section{
	{"Goal", []string{"request", "intent"}},
	{"State", []string{"current state", "status", "progress", "current work"}},
	{"Rules", []string{"constraints", "requirements"}},
	{"Files", []string{"relevant files", "code"}},
	{"Next", []string{"pending", "open"}},
}

// missingSections returns the headings that a text is missing. A section is recognized by any of
// its headings, or by its number, which translated headings keep. To reject other numbered lists in
// English, numbers count in an English text only if some sections have their own headings.
func missingSections(text string, sections []section) []string {
	seen, numbers := make([]bool, len(sections)), make([]bool, len(sections))
	named := 0
	var pending int // number of a title without marks: a list, if another follows at once
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			continue
		}
		h, ok := headingOf(line)
		numbered := ok && h.number > 0
		if pending > 0 && !numbered {
			numbers[pending-1] = true
		}
		pending = 0
		if !ok {
			continue
		}
		switch at := sectionNamed(sections, h); {
		case at >= 0:
			if !seen[at] {
				named++
			}
			seen[at] = true
		case h.number == 0 || h.number > len(sections):
		case h.marked:
			numbers[h.number-1] = true
		case h.whole && !strings.HasSuffix(line, "."):
			pending = h.number
		}
	}
	byNumber := named*leastNamed >= len(sections) || !inEnglish(text)
	var missing []string
	for i, s := range sections {
		if !seen[i] && !(byNumber && numbers[i]) {
			missing = append(missing, s.name)
		}
	}
	return missing
}

// leastNamed: 1/leastNamed of the sections must have their own headings before numbers count in an
// English text.
const leastNamed = 3

// inEnglish reports whether a text is in English, judged by words that every English text has.
func inEnglish(text string) bool {
	const most, part = 4000, 12 // bytes to read; one word in so many must be an English one
	words, ours := 0, 0
	for _, w := range strings.Fields(strings.ToLower(text[:min(len(text), most)])) {
		words++
		switch strings.Trim(w, ".,;:!?\"'()*") {
		case "the", "and", "of", "to", "is", "it", "in", "for", "with", "on", "a", "that", "your", "you",
			"as":
			ours++
		}
	}
	return ours*part >= words
}

// sectionNamed returns the section with a title, or -1.
func sectionNamed(sections []section, h heading) int {
	title := h.marked || h.number > 0
	for i, s := range sections {
		for _, name := range append([]string{strings.ToLower(s.name)}, s.also...) {
			if h.name == name && (title || h.whole) {
				return i
			}
			rest, ok := strings.CutPrefix(h.name, name)
			next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(rest, "s"))
			if ok && title && !inName(next) {
				return i
			}
		}
	}
	return -1
}
