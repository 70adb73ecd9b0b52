package preview

import "strings"

// hinted returns the kind that the hint implies, "" for none. strong reports whether it names a
// format rather than a tool that may return anything.
func (h Hint) hinted() (kind Kind, strong bool) {
	if k := hintOfCommand(h.Command); k != "" {
		return k, k != Log
	}
	k := hintOfTool(h.Tool)
	if k == Search || k == Listing || k == Diff || k == Log {
		return k, k != Log
	}
	if l, ok := languageOf(h.Path); ok {
		return l.kind, true
	}
	return k, false
}

// hintOfTool determines the kind from the words of a tool's name.
func hintOfTool(name string) Kind {
	name = strings.ToLower(name)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case name == "":
		return ""
	case has("web", "fetch", "browse", "think", "ask"):
		return Prose
	case has("grep", "search", "ripgrep") || name == "rg":
		return Search
	case has("glob", "list_", "find", "tree") || name == "ls" || name == "list" || name == "list_dir":
		return Listing
	case has("diff"):
		return Diff
	case has("bash", "shell", "command", "exec", "terminal", "run_", "console"):
		return Log
	}
	return ""
}

// hintOfCommand determines the kind of a shell command's output from the program at the beginning
// of its last statement. Filters after a pipe do not change it.
func hintOfCommand(command string) Kind {
	switch command {
	case "", "view", "create", "str_replace", "insert", "undo_edit": // the commands of an editing tool
		return ""
	}
	words := programOf(command)
	if len(words) == 0 {
		return Log
	}
	name := words[0][strings.LastIndexAny(words[0], `/\`)+1:]
	switch name {
	case "ls", "find", "fd", "tree", "dir":
		return Listing
	case "grep", "egrep", "rg", "ag", "ack", "zgrep":
		return Search
	case "diff", "colordiff":
		return Diff
	case "cat", "head", "tail", "sed", "less", "more", "bat", "nl", "type", "awk":
		l, _ := languageOf(shownFile(words))
		return l.kind
	case "git":
		return hintOfGit(words[1:])
	}
	return Log
}

func hintOfGit(args []string) Kind {
	for _, a := range args {
		switch a {
		case "diff", "show", "format-patch":
			return Diff
		case "grep":
			return Search
		case "ls-files", "ls-tree":
			return Listing
		case "log", "status", "commit", "push", "pull", "add", "checkout", "branch", "stash":
			return Log
		}
	}
	return Log
}

// pathOfCommand returns the file that a command shows, "" for none.
func pathOfCommand(command string) string {
	if words := programOf(command); len(words) > 1 && hintOfCommand(command) != Log {
		return shownFile(words)
	}
	return ""
}

// shownFile returns the file of a known kind in the words of a command like
// cat.
func shownFile(words []string) string {
	for i := len(words) - 1; i > 0; i-- {
		path := strings.Trim(words[i], `'"`)
		if _, ok := languageOf(path); ok && !strings.ContainsAny(path, "*?") {
			return path
		}
	}
	return ""
}

// programOf returns the words of the command that made the output: the first of the last pipeline,
// without preparing commands.
func programOf(command string) []string {
	command = withoutHeredoc(command[:min(len(command), 4000)])
	statements := strings.FieldsFunc(strings.NewReplacer("&&", "\n", "||", "\n", "2>&1", "").Replace(command),
		func(r rune) bool {
			return r == '\n' || r == ';'
		})
	for n := len(statements) - 1; n >= 0; n-- {
		first, _, _ := strings.Cut(statements[n], "|")
		words := strings.Fields(first)
		for len(words) > 0 && preparesOnly(words[0]) {
			words = words[1:]
		}
		if len(words) > 2 && (words[0] == "sh" || words[0] == "bash" || words[0] == "zsh") &&
			words[1][0] == '-' {
			words = words[2:] // bash -lc "…"
			words[0] = strings.TrimLeft(words[0], `'"`)
		}
		if len(words) > 0 && !isSilent(words) {
			return words
		}
	}
	return nil
}

// isSilent reports a command that prints no useful output, or prints into a file.
func isSilent(words []string) bool {
	switch words[0] {
	case "cd", "echo", "export", "true", "sleep", "set", "pwd", "mkdir", "":
		return true
	}
	for _, w := range words {
		if w[0] == '>' && w != ">/dev/stderr" {
			return true
		}
	}
	return false
}

// withoutHeredoc removes the here-documents from a script.
func withoutHeredoc(script string) string {
	if !strings.Contains(script, "<<") {
		return script
	}
	var out strings.Builder
	end := "" // of the text; "" outside of one
	for line := range strings.Lines(script) {
		if end != "" {
			if strings.TrimSpace(line) == end {
				end = ""
			}
			continue
		}
		out.WriteString(line)
		if _, after, ok := strings.Cut(line, "<<"); ok {
			end = firstWord(strings.TrimLeft(after, `-'"\ `))
		}
	}
	return out.String()
}

func preparesOnly(word string) bool {
	switch word {
	case "sudo", "time", "timeout", "env", "nice", "command", "exec", "xargs", "(", "{":
		return true
	}
	return isDigit(word[0]) || strings.IndexByte(word, '=') > 0
}
