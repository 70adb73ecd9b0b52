package toolcall

import (
	"slices"
	"strings"
)

// readerName returns a special name for a simple command that only prints existing data; "" for
// others. fed: its input is redirected.
func readerName(name string, words []word, fed bool) string {
	words = words[1:min(len(words), 12)]
	reads := ofProgram(name, "reads")
	nouns := name == "git" || name == "gh" // the subcommand may follow a noun or the value of a flag
	for i, w := range words {
		switch {
		case slices.Contains(reads, w.text) && nouns:
			return name + ":reads"
		case slices.Contains(reads, w.text):
			return "remote:reads"
		case nouns && i < 2, strings.HasPrefix(w.text, "-"), w.text == "compose":
			continue
		}
		break
	}
	if is("sql", name) && !fed {
		asks := false
		for _, w := range words {
			switch {
			case isOfKind("query", w.text):
				asks = true
			case strings.Contains(strings.TrimSpace(w.text), " "), strings.HasSuffix(w.text, ".sql"):
				return "" // a statement of another kind
			}
		}
		if asks {
			return "sql:reads"
		}
	}
	return ""
}

// wordsRunElsewhere returns the words of a program run on another machine or in a container, or nil.
func wordsRunElsewhere(name string, words []word) []word {
	if words = words[1:]; name != "ssh" {
		at := slices.IndexFunc(words, func(w word) bool { return w.text == "exec" })
		if at < 0 || at > 1 || len(ofProgram(name, "before")) == 0 {
			return nil
		}
		words = words[at+1:]
		if k := slices.IndexFunc(words, func(w word) bool { return w.text == "--" }); k >= 0 {
			return words[k+1:]
		}
	}
	if words = afterFlags(words, name); len(words) < 2 {
		return nil
	}
	if inner := lex(words[1].text).commands; len(words) == 2 && len(inner) > 0 {
		return inner[0].words
	}
	return words[1:]
}

// Prints reports whether a command line only prints existing data, that is, reads and searches.
func Prints(line string) bool {
	first, all := mainProgram(line)
	return first == "" || !slices.ContainsFunc(all,
		func(p string) bool { return !prints(p) && !is("stages", p) })
}

// Fetches reports whether a command line only prints existing data and must reach another machine
// for it, so that its success is a result of its own.
func Fetches(line string) bool {
	first, _ := mainProgram(line)
	return (is("fetches", first) || first == "remote:reads" || first == "sql:reads") && Prints(line)
}

// Shows reports whether a command line prints existing data and has no other effect. A line that
// only waits or changes the directory prints none.
func Shows(line string) bool {
	_, all := mainProgram(line)
	return Prints(line) && slices.ContainsFunc(all, prints)
}

// Queries reports whether a command line only reads, or prepares for reading: reading, searching,
// listing, querying an interface.
func Queries(line string) bool {
	_, all := mainProgram(line)
	return len(all) > 0 && !slices.ContainsFunc(all, func(p string) bool {
		p = strings.ToLower(p)
		return !prints(p) && !is("stages", p) && !is("looks", p) && !cmdletLooks(p)
	})
}
