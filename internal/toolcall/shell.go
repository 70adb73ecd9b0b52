package toolcall

import "strings"

// Effect is a file that a shell command writes or removes.
type Effect struct {
	Path    string
	Removed bool
}

// Effects returns the files that a shell command line says it writes or removes:
// redirections, tee, sed -i, rm, mv, cp, touch, and patches in it. Variables and
// patterns are not expanded. What programs do of their own cannot be seen.
func Effects(command string) []Effect {
	var out []Effect
	add := func(p string, removed bool) {
		p = strings.Trim(p, `"'`)
		if p != "" && p != "-" && !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "&") && !strings.ContainsAny(p, "$*{}()<>|;`\n") {
			out = append(out, Effect{normalPath(p), removed})
		}
	}
	for _, words := range simpleCommands(command) {
		effectsOf(words, add)
	}
	for _, e := range patched(command) {
		add(e.Path, e.Removed)
	}
	return out
}

const deleteHead = "*** Delete File: "

var patchHeads = []string{"*** Update File: ", "*** Add File: ", deleteHead}

// effectsOf adds the effects of one simple command.
func effectsOf(words []string, add func(path string, removed bool)) {
	var plain []string // arguments that are no options and no redirections
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == ">" || w == ">>" || w == "1>" || w == ">|":
			if i+1 < len(words) {
				add(words[i+1], false)
				i++
			}
		case w == "<" || w == "2>" || w == "2>>" || w == "&>":
			i++
		case strings.HasPrefix(w, ">>"):
			add(w[2:], false)
		case strings.HasPrefix(w, ">") && !strings.HasPrefix(w, ">&"):
			add(w[1:], false)
		case strings.HasPrefix(w, "2>") || strings.HasPrefix(w, "<") || strings.HasPrefix(w, "&>"):
		default:
			plain = append(plain, w)
		}
	}
	program(plain, add)
}

// program adds the effects of the well-known programs that write files.
func program(words []string, add func(path string, removed bool)) {
	for len(words) > 0 && (words[0] == "sudo" || words[0] == "env" || words[0] == "git" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	var args []string
	inPlace := false
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") {
			inPlace = inPlace || strings.HasPrefix(w, "-i") || w == "--in-place"
			continue
		}
		args = append(args, w)
	}
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	switch words[0] {
	case "tee", "touch":
		for _, a := range args {
			add(a, false)
		}
	case "rm":
		for _, a := range args {
			add(a, true)
		}
	case "mv":
		if len(args) == 2 {
			add(args[0], true)
		}
		add(last, false)
	case "cp":
		add(last, false)
	case "sed", "perl":
		if inPlace && len(args) > 1 {
			for _, a := range args[1:] {
				add(a, false)
			}
		}
	}
}

// simpleCommands splits a command line into simple commands and those into
// words. Bodies of here-documents are left out.
func simpleCommands(command string) [][]string {
	var out [][]string
	var words []string
	var word strings.Builder
	inWord := false
	endWord := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			out = append(out, words)
			words = nil
		}
	}
	heredoc := ""
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch c {
		case '\'', '"':
			end := strings.IndexByte(command[i+1:], c)
			if end < 0 {
				end = len(command) - i - 1
			}
			word.WriteString(command[i+1 : i+1+end])
			inWord = true
			i += end + 1
		case '\\':
			if i+1 < len(command) && command[i+1] != '\n' {
				word.WriteByte(command[i+1])
				inWord = true
			}
			i++
		case ' ', '\t':
			endWord()
		case '\n':
			endCommand()
			if heredoc != "" {
				i = skipHeredoc(command, i, heredoc)
				heredoc = ""
			}
		case ';', '|':
			endCommand()
		case '&':
			if word.Len() > 0 && strings.HasSuffix(word.String(), ">") {
				word.WriteByte(c)
				continue
			}
			if i+1 < len(command) && command[i+1] == '>' {
				endWord()
				word.WriteByte(c)
				inWord = true
				continue
			}
			endCommand()
		case '<':
			if strings.HasPrefix(command[i:], "<<") && !strings.HasPrefix(command[i:], "<<<") {
				endWord()
				heredoc, i = heredocTag(command, i+2)
				continue
			}
			word.WriteByte(c)
			inWord = true
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	endCommand()
	return out
}

// heredocTag reads the tag after "<<" and returns it with the index of its last
// byte.
func heredocTag(command string, i int) (string, int) {
	for i < len(command) && (command[i] == '-' || command[i] == ' ') {
		i++
	}
	from := i
	for i < len(command) && command[i] > ' ' && strings.IndexByte(";|&<>)", command[i]) < 0 {
		i++
	}
	return strings.Trim(command[from:i], `"'\`), i - 1
}

// skipHeredoc returns the index of the line end that closes a here-document.
func skipHeredoc(command string, i int, tag string) int {
	for i < len(command) {
		end := strings.IndexByte(command[i+1:], '\n')
		line := command[i+1:]
		if end >= 0 {
			line = line[:end]
		}
		if strings.TrimSpace(line) == tag {
			return i + len(line) + 1
		}
		if end < 0 {
			return len(command)
		}
		i += end + 1
	}
	return i
}
