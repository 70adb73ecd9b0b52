package toolcall

import (
	"slices"
	"strings"
)

// Bounds of what variables and braces of a command line are replaced by.
const (
	mostVariables = 32
	longestValue  = 256
	longestWord   = 4096
	mostInBraces  = 20
)

// assigned notes the variables that a command does nothing but set, and forgets those that it may set: behind "then", or to what
// another command prints. It reports whether the command only sets variables.
func (r *shellReader) assigned(words []word) bool {
	for len(words) > 0 && (words[0].text == "export" || words[0].text == "local" || words[0].text == "readonly") {
		words = words[1:]
	}
	unsure := false
	for len(words) > 0 && is("prefix", words[0].text) {
		words, unsure = words[1:], true
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(w word) bool {
		name, _, ok := strings.Cut(w.text, "=")
		return !ok || w.redirect || !isVariable(name)
	}) {
		return false
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w.text, "=")
		if unsure || r.loop != nil || strings.ContainsAny(value, "$`*?[{ \t\n") || len(value) > longestValue || len(r.vars) >= mostVariables {
			r.vars = slices.DeleteFunc(r.vars, func(v variable) bool { return v.name == name })
			continue
		}
		r.vars = append(slices.DeleteFunc(r.vars, func(v variable) bool { return v.name == name }), variable{name, value})
	}
	return true
}

// variable is one that a command line sets, with its value.
type variable struct{ name, value string }

// isVariable reports whether a word may name a variable of a shell.
func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool { return c != '_' && (c > 0x7f || !isWordByte(byte(c))) })
}

// expand puts the values of variables that the line sets into the words of a command, and the words of braces: "{a,b}.txt". Words
// that quotes hide stay.
func (r *shellReader) expand(words []word) []word {
	dollars := len(r.vars) > 0
	if !slices.ContainsFunc(words, func(w word) bool {
		return !w.literal && (dollars && strings.Contains(w.text, "$") || strings.Contains(w.text, "{") && strings.Contains(w.text, ","))
	}) {
		return words
	}
	out := make([]word, 0, len(words))
	for _, w := range words {
		if !w.literal && len(w.text) <= longestWord {
			for _, v := range r.vars {
				if l := (loop{name: v.name}); l.names(w.text) && len(w.text) <= longestWord {
					w.text = l.put(w.text, v.value)
				}
			}
			if parts := ofBraces(w.text); parts != nil {
				for _, p := range parts {
					out = append(out, word{text: p})
				}
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// ofBraces returns the words that one with one list in braces stands for; nil for others.
func ofBraces(w string) []string {
	head, rest, ok := strings.Cut(w, "{")
	list, tail, closed := strings.Cut(rest, "}")
	if !ok || !closed || len(w) > longestWord || !strings.Contains(list, ",") || strings.HasSuffix(head, "$") || strings.ContainsAny(head+list+tail, "{}$`\"' \t\n;:") {
		return nil
	}
	parts := strings.SplitN(list, ",", mostInBraces+1)
	if len(parts) > mostInBraces {
		return nil
	}
	for i, p := range parts {
		parts[i] = head + p + tail
	}
	return parts
}

// xargs adds what a program does that xargs runs with the words that the command before the pipe prints, as far as that one says
// which they are: echo, printf, ls, find by a name.
func (r *shellReader) xargs(words []string) {
	words = behindFlags(words, "xargs")
	if len(words) == 0 || base(words[0]) != "rm" || len(r.piped) == 0 {
		return
	}
	switch from := r.piped; base(from[0]) {
	case "echo", "printf", "ls":
		for _, w := range from[1:] {
			if !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "%") {
				r.add(Effect{Path: strings.TrimSuffix(w, `\n`), Removed: true})
			}
		}
	case "find":
		r.found(append(slices.Clone(from[1:]), "-delete"))
	}
}

// fd adds the files that fd has removed: those with an ending, below the folder that is named.
func (r *shellReader) fd(ending string, words []string) {
	at, folder := slices.Index(words, "rm"), "."
	for _, w := range words[:max(at, 0)] {
		switch {
		case strings.Contains(w, "/"):
			folder = w
		case w != ".": // a pattern
			return
		}
	}
	if at >= 0 && ending != "" {
		r.add(Effect{Path: strings.TrimSuffix(folder, "/") + "/**/*." + strings.TrimPrefix(ending, "."), Removed: true})
	}
}
