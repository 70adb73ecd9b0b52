package preview

import "strings"

const (
	sampleHead = 200 // lines looked at from the beginning
	sampleRest = 100 // and from the rest, evenly
	sampleLine = 300 // bytes of each
)

// votes counts for each kind the sampled lines that look like it.
type votes struct {
	n                                        int
	search, listing, log, table, code, prose int
	brackets                                 int // lines that begin as JSON does
	names                                    int // lines that are one path
	places                                   int // lines that a search alone may have printed
	hunks, patch                             int // signs of a diff among the first lines
}

// detect determines the kind of the text. Parsable JSON is recognized before.
func (d *document) detect() Kind {
	v := d.sample()
	hint, strong := d.hint.hinted()
	isCode := d.numbered && (hint == Code || hint == "" && v.code*2 >= v.prose)
	switch {
	case v.patch > 0 && !isCode, hint == Diff && v.hunks > 0:
		return Diff
	case isCode:
		return Code
	case d.numbered && strong && hint != Listing && hint != Search && hint != Log:
		return hint
	case v.jsonish(d):
		return JSON
	case v.n == 0:
		return Prose
	case d.hint.IsError && v.n <= 5 && v.code*2 < v.n:
		return Log
	}
	return v.winner(hint, strong)
}

// winner returns the kind with the most votes. A hint counts as the given number of lines.
func (v *votes) winner(hint Kind, strong bool) Kind {
	bonus := v.n/4 + 1
	if strong {
		bonus = v.n/2 + 1
	}
	search, log, prose := v.search, v.log, v.prose
	switch hint {
	case Search:
		search += v.names + v.places
	case Log: // output of a command, whatever it looks like
		log, prose = log+prose, 0
	}
	best, most := Prose, -1
	for _, c := range []struct {
		kind Kind
		n    int
	}{
		{Search, search}, {Listing, v.listing}, {Table, v.table}, {Log, log}, {Code, v.code}, {Prose, prose},
	} {
		if c.kind == hint && (c.n > 0 || c.kind == Log || c.kind == Code) {
			c.n += bonus
		}
		if c.n > most {
			best, most = c.kind, c.n
		}
	}
	return best
}

// sample looks at a bounded number of lines.
func (d *document) sample() *votes {
	v := &votes{}
	stride := max(1, (len(d.lines)-sampleHead)/sampleRest)
	looker := lineVoter{votes: v}
	for i := 0; i < len(d.lines); {
		l := d.lines[i]
		if i < sampleHead {
			i++
		} else {
			i += stride
		}
		s := trimRight(l.body[:min(len(l.body), sampleLine)])
		if l.frame || s == "" {
			continue
		}
		v.n++
		looker.look(s)
	}
	return v
}

// lineVoter votes line by line.
type lineVoter struct {
	*votes
	tabs, commas int // of the line before
	oldFile      bool
}

func (k *lineVoter) look(s string) {
	if k.n < 40 {
		k.lookForPatch(s)
	}
	t, indent := trimLeft(s)
	tabs, commas := strings.Count(s, "\t"), strings.Count(s, ",")
	columns := tabs >= 2 && tabs == k.tabs ||
		commas >= 2 && commas == k.commas && !strings.ContainsAny(s, "(){};") && !strings.Contains(s, ", ")
	k.tabs, k.commas = tabs, commas
	hit, isHit := parseHit(s)
	switch {
	case columns && strings.IndexByte(s, ' ') < 0:
		k.table++
	case isHit && compilerRemark(hit.text):
		k.log++
	case isHit, heading(t), indent == 0 && contextPath(s) != "":
		k.search++
	case loggish(t, indent):
		k.log++
	case t[0] == '|' && t[len(t)-1] == '|' && !isTree(t), columns && indent == 0:
		k.table++
	case strings.HasPrefix(t, "│") && !strings.Contains(t, "─ "):
		k.places++ // a box around a match
	case listed(t):
		k.listing++
		if pathLike(t) {
			k.names++
		}
	case looksLikeCode(t, indent):
		k.code++
	case proseish(t):
		k.prose++
	}
	if !isHit && isPlaced(s) {
		k.places++
	}
	if c := t[0]; c == '"' || c == '{' || c == '}' || c == '[' || c == ']' {
		k.brackets++
	}
}

// lookForPatch counts signs that only a patch has.
func (k *lineVoter) lookForPatch(s string) {
	switch {
	case strings.HasPrefix(s, "diff --git "), strings.HasPrefix(s, "*** Begin Patch"),
		strings.HasPrefix(s, "<<<<<<< SEARCH"):
		k.patch++
	case strings.HasPrefix(s, "--- "):
		k.oldFile = true
		return
	case strings.HasPrefix(s, "+++ ") && k.oldFile:
		k.patch++
	case strings.HasPrefix(s, "@@ -"):
		k.hunks++
	}
	k.oldFile = false
}

// compilerRemark reports a remark of a compiler or a test after a place: a column, or a word of
// failure.
func compilerRemark(s string) bool {
	t, _ := trimLeft(s)
	i := 0
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	if i > 0 && i < len(t)-1 && t[i] == ':' && t[i+1] == ' ' {
		return true
	}
	return hasPrefix(t, "error", "warning", "note:", "fatal", "undefined", "cannot", "in function")
}

// heading reports the line before the matches of one file.
func heading(t string) bool {
	return hasPrefix(t, "Line ") && len(t) > 6 && isDigit(t[5])
}

// listed reports a line that is one name, or one row of ls -l.
func listed(t string) bool {
	if isTree(t) || isMode(t) {
		return true
	}
	i, letters := 0, false
	for ; i < len(t); i++ {
		c := t[i]
		letters = letters || isLetter(c)
		switch {
		case isWord(c), c >= 0x80, strings.IndexByte("./-@+~\\", c) >= 0:
		case strings.IndexByte("[]()$=%#", c) >= 0: // as routes have them
			if i == 0 || strings.IndexByte(t, '/') < 0 {
				return false
			}
		default:
			return c == ':' && i == len(t)-1 && strings.IndexByte(t, '/') >= 0
		}
	}
	return letters && t[0] != '-' && t[0] != '@' && !strings.HasPrefix(t, "//")
}

// isMode reports the file mode with which ls -l begins a line.
func isMode(t string) bool {
	if len(t) < 12 || strings.IndexByte("d-lcbps", t[0]) < 0 {
		return false
	}
	for i := 1; i < 10; i++ {
		if strings.IndexByte("rwxsStT-", t[i]) < 0 {
			return false
		}
	}
	return t[10] == ' ' || t[11] == ' '
}

// looksLikeCode reports a line that looks like source code.
func looksLikeCode(t string, indent int) bool {
	switch t[len(t)-1] {
	case '{', ';', '}':
		return true
	}
	if hasPrefix(t, "//", "/*", "*/", "#include", "#!", "@", "</", "<!") || strings.HasSuffix(t, "):") ||
		strings.HasSuffix(t, "=>") {
		return true
	}
	if t[0] == '<' && t[len(t)-1] == '>' {
		return true
	}
	if keyword(firstWord(t)) && strings.ContainsAny(t, "(){}=[]:.\"'") && t[len(t)-1] != '.' {
		return true
	}
	return strings.Contains(t, " = ") || strings.Contains(t, ":=") || strings.Contains(t, "()") ||
		indent > 0 && (t[len(t)-1] == ',' || t[len(t)-1] == ')' || t[len(t)-1] == '(')
}

// keyword knows words that begin lines of code.
func keyword(w string) bool {
	switch w {
	case "func", "def", "class", "import", "from", "return", "if", "for", "while", "const", "let", "var",
		"public", "private", "protected",
		"package", "use", "fn", "pub", "impl", "struct", "type", "export", "elif", "else", "try", "except",
		"catch", "case", "switch",
		"async", "await", "static", "enum", "interface", "namespace", "module", "require", "include", "match",
		"with", "defer", "go", "val":
		return true
	}
	return false
}

// proseish reports a line of words.
func proseish(t string) bool {
	if hasPrefix(t, "# ", "## ", "### ", "- ", "* ", "• ", "> ") || t[0] > 0x7f {
		return true
	}
	words := 0
	for i := 1; i < len(t) && words < 4; i++ {
		if t[i-1] == ' ' && isLetter(t[i]) {
			words++
		}
	}
	return words >= 3 || words > 0 && strings.IndexByte(".:!?", t[len(t)-1]) >= 0
}
