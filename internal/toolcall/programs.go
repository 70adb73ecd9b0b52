package toolcall

import (
	"path"
	"slices"
	"strings"
)

// gitProgram adds what git does, with the files that it moves and removes.
func (r *shellReader) gitProgram(words []string) {
	g, ok := r.git(words)
	if !ok {
		return
	}
	own := r.folder
	r.folder = g.Folder
	defer func() { r.folder = own }()
	switch {
	case g.Verb == "apply" && !g.Has("--check", "-R"):
		r.applied(r.stdin)
	case g.From == "tree" && (g.Verb == "rm" || g.Verb == "mv"):
		from := len(r.effects)
		r.unix(g.Verb, words[slices.Index(words, g.Verb)+1:], g.Names, false)
		for _, e := range r.effects[from:] {
			g.Paths = append(g.Paths, e.Path)
		}
	}
	g.After = len(r.effects)
	r.runs = append(r.runs, g)
}

// unix adds what a program of Unix does with its arguments.
func (r *shellReader) unix(name string, words, args []string, redirected bool) {
	switch name {
	case "tee", "sponge":
		appends := slices.Contains(words, "-a") || slices.Contains(words, "--append")
		for _, a := range args {
			r.add(Effect{Path: a, Whole: !appends})
		}
	case "touch":
		for _, a := range args {
			r.add(Effect{Path: a, Touched: true})
		}
	case "find":
		r.found(words)
	case "curl":
		r.fetched(words, 'o', "--output")
		r.downloaded(name, words)
	case "wget":
		r.fetched(words, 'O', "--output-document")
		r.downloaded(name, words)
	case "xargs":
		r.xargs(words)
	case "fd", "fdfind":
		r.fd(words)
	case "ln":
		r.linked(args)
	case "yq", "gawk":
		for _, f := range editsInPlace(name, words) {
			r.add(Effect{Path: f})
		}
	case "truncate":
		for i, a := range args {
			if i > 0 || !slices.Contains(words, "-s") {
				r.add(Effect{Path: a})
			}
		}
	case "dd":
		for _, w := range words {
			if p, ok := strings.CutPrefix(w, "of="); ok {
				r.add(Effect{Path: p, Whole: true})
			}
		}
	case "install":
		if plain := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.Trim(a, "01234567") == "" }); len(plain) > 1 && !containsFlag(words, "d") {
			r.copied(plain[:len(plain)-1], plain[len(plain)-1], false, false)
		}
	case "rm", "unlink", "trash", "trash-put", "rimraf":
		for _, a := range args {
			r.add(Effect{Path: a, Removed: true})
		}
	case "mkdir":
		for _, a := range args {
			r.made(a)
		}
	case "mv", "cp":
		if at := slices.IndexFunc(words, func(w string) bool { return w == "-t" || w == "--target-directory" }); at >= 0 && at+1 < len(words) {
			into := words[at+1]
			from := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == into })
			r.copied(from, strings.TrimRight(into, "/")+"/", name == "mv", false)
		} else if len(args) > 1 {
			r.copied(args[:len(args)-1], args[len(args)-1], name == "mv", containsFlag(words, "rRa"))
		}
	case "sed", "gsed", "perl":
		files, inPlace := editedFiles(words)
		replaced := ""
		if inPlace {
			replaced = substituted(words)
		}
		for _, a := range files {
			if inPlace {
				r.add(Effect{Path: a, Replaced: replaced})
			} else if name != "perl" && !redirected {
				r.read(a)
			}
		}
	case "grep", "egrep", "fgrep", "rg", "awk":
		for _, a := range args[1:] {
			if len(path.Ext(a)) > 1 && !redirected && isFileName(a) {
				r.searched = append(r.searched, within(r.folder, a))
			}
		}
	case "cat", "nl", "less", "more", "bat", "tac", "head", "tail":
		if redirected {
			return
		}
		for i, w := range words {
			if strings.HasPrefix(w, "-") || i > 0 && (name == "head" || name == "tail") && (words[i-1] == "-n" || words[i-1] == "-c" || words[i-1] == "--lines") {
				continue
			}
			r.read(w)
		}
	}
}

// found adds what find removes: files by their name below the folders that come first.
func (r *shellReader) found(words []string) {
	removes, name := false, "*"
	folders := 0
	for folders < len(words) && !strings.HasPrefix(words[folders], "-") {
		folders++
	}
	for i, w := range words {
		switch {
		case w == "-delete", w == "rm" && i > 0 && strings.HasPrefix(words[i-1], "-exec"):
			removes = true
		case (w == "-name" || w == "-iname") && i+1 < len(words):
			name = words[i+1]
		case w == "!", w == "-not", w == "-o", w == "-or", w == "-mtime", w == "-mmin", w == "-newer", w == "-size", w == "-empty", w == "-path", w == "-regex", w == "-maxdepth":
			return // which files that are is not in the line
		}
	}
	if !removes || strings.Contains(name, "/") {
		return
	}
	for _, folder := range words[:folders] {
		r.add(Effect{Path: strings.TrimSuffix(folder, "/") + "/**/" + name, Removed: true})
	}
}

// read notes a file whose content is printed.
func (r *shellReader) read(p string) {
	if r.literal[p] && r.isFile(p) || isFileName(p) && !strings.ContainsAny(p, "?[") {
		r.reads = append(r.reads, within(r.folder, p))
	}
}

// Carry is a pattern of files that a command moves into a folder.
type Carry struct {
	Pattern, Into string
	Except        []string // names in the folder that are left where they are
	Ran           Ran
	After         int // how many of the effects of the call came before
}

// copied adds what copying or moving files does: into a directory each under its name.
func (r *shellReader) copied(from []string, to string, moves, recursive bool) {
	into := len(from) > 1 || slices.Contains(r.folders, within(r.folder, to)) || strings.HasSuffix(to, "/") || strings.HasSuffix(to, `\`) || to == "." || to == ".." || strings.HasSuffix(to, "/.")
	for _, f := range from {
		if moves && !r.literal[f] && strings.ContainsAny(f, "*?[") && isFileName(strings.ReplaceAll(f, "*", "")) && r.isFile(to) {
			r.carried = append(r.carried, Carry{Pattern: within(r.folder, f), Into: within(r.folder, to), After: len(r.effects)})
			continue
		}
		if moves {
			r.add(Effect{Path: f, Removed: true})
		}
		e := Effect{Path: to, Whole: true}
		if into && (moves || !recursive) {
			if !r.isFile(f) {
				continue
			}
			e.Path = strings.TrimRight(to, `/\`) + "/" + path.Base(normalPath(f))
			if r.isFile(to) {
				r.named(word{text: e.Path, literal: true})
			}
		}
		if moves && r.isFile(f) {
			e.MovedFrom = f
		}
		r.add(e)
	}
}

// containsFlag reports whether a short flag of the given letters is among words.
func containsFlag(words []string, letters string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w, letters) || w == "--recursive" || w == "--archive"
	})
}

// editedFiles returns the files that sed or perl is given, and whether it edits them in place.
func editedFiles(words []string) (files []string, inPlace bool) {
	scripted := false
	for k := 0; k < len(words); k++ {
		w := words[k]
		switch {
		case w == "": // of sed -i ''
		case strings.HasPrefix(w, "--"):
			inPlace = inPlace || strings.HasPrefix(w, "--in-place")
			scripted = scripted || strings.HasPrefix(w, "--expression=")
		case w[0] == '-':
			before, _, found := strings.Cut(w[1:], "i")
			if found && strings.Trim(before, "nErszpwual0123456789") == "" {
				inPlace = true
			} else if strings.HasSuffix(w, "e") || strings.HasSuffix(w, "f") {
				scripted = true
				k++
			}
		case !scripted:
			scripted = true
		default:
			files = append(files, w)
		}
	}
	return files, inPlace
}

// substituted returns the texts that scripts of sed or perl replace, "s/text/…/", each on a line, as far as they are no
// patterns. Where in a line they stand, "^" and "$", is left out.
func substituted(words []string) string {
	const shortest = 3
	var out strings.Builder
	for _, w := range words {
		for s := range strings.SplitSeq(w, ";") {
			s = strings.TrimSpace(s)
			if len(s) < 4 || s[0] != 's' || s[1] == ' ' || s[1] == '\\' || isWordByte(s[1]) {
				continue
			}
			var text []byte
			i := 2
			if s[i] == '^' {
				i++
			}
			for ; i < len(s) && s[i] != s[1]; i++ {
				if s[i] == '\\' && i+1 < len(s) && !isWordByte(s[i+1]) {
					i++
				} else if s[i] == '$' && i+1 < len(s) && s[i+1] == s[1] {
					continue
				} else if strings.IndexByte(`*[]^$+?(){}|\`, s[i]) >= 0 {
					text = nil
					break
				}
				text = append(text, s[i])
			}
			if i < len(s) && s[i] == s[1] && len(text) >= shortest {
				out.Write(append(text, '\n'))
			}
		}
	}
	return out.String()
}

// isWordByte reports whether a byte is a letter or a digit.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
