package digest

import (
	"path"
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// mentions says where results named files that commands write later: a file that was listed
// before is not new. Keys are paths as the results write them.
type mentions struct {
	of             map[string][]mention
	commits, added []int // of each call, how many calls before may have had git commit, or add, files; nil: not needed
}

// mention is one of a file's name in the result of a call.
type mention struct {
	call  int
	path  string // as it stands there
	line  string // of the command
	shows        // whether it is more than a name
}

// shows is what a mention of a file in a result shows.
type shows byte

// A listing shows that the file is there, git that it knows it: as one that was changed since the newest commit, or since it was
// added.
const (
	listing shows = 1 << iota
	sinceCommit
	sinceAdded
	leading // a line of what a command printed begins with it
)

// mostMentions is how many mentions of one name are kept, the first of them.
const mostMentions = 16

// mentionsOf looks for the names of the files that commands may have made in the results before. It
// is one walk over the results.
func mentionsOf(calls []toolcall.Call) mentions {
	m := mentions{of: map[string][]mention{}}
	for i := range calls {
		for _, e := range calls[i].Effects {
			if !e.Removed && (e.Whole || e.Touched || e.Added || calls[i].Kind == toolcall.Write) {
				m.of[path.Base(e.Path)] = nil
			}
		}
	}
	if len(m.of) == 0 {
		return m
	}
	told := false
	for i := range calls {
		if c := &calls[i]; len(c.Results) > 0 {
			s := status{lists: lists(c), git: c.Kind == toolcall.Command && strings.Contains(c.Line, "git ")}
			for line := range strings.Lines(c.Output()) {
				how := s.of(line)
				if old, ok := strings.CutPrefix(line, "--- a/"); ok && s.git {
					line, how = old, sinceAdded
				}
				if !m.line(line, i, c, how) {
					continue
				}
				told = told || how&(sinceCommit|sinceAdded) != 0
			}
		}
	}
	if told {
		m.commits, m.added = make([]int, len(calls)+1), make([]int, len(calls)+1)
		for i := range calls {
			m.commits[i+1], m.added[i+1] = m.commits[i], m.added[i]
			if c := &calls[i]; mayDo(c, "commit", "tree", "stash", "moved") {
				m.commits[i+1]++
				m.added[i+1]++
			} else if mayDo(c, "add", "index") {
				m.added[i+1]++
			}
		}
	}
	return m
}

// line notes the names in a line of a result. It reports whether there are any.
func (m mentions) line(line string, call int, c *toolcall.Call, how shows) (any bool) {
	n := 0
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;:{}<>|=*", r) }) {
		if n++; how&^leading == 0 && n > 1 {
			break // a name alone says nothing
		}
		if n == 1 && c.Kind == toolcall.Command {
			how |= leading
		} else {
			how &^= leading
		}
		if strings.ContainsAny(word, "()[]") && !strings.Contains(word, "/(") && !strings.Contains(word, "/[") {
			word = strings.Trim(word, "()[]")
			if i := strings.LastIndexAny(word, "()[]"); i >= 0 {
				word = word[i+1:]
			}
		}
		p := strings.TrimPrefix(strings.ReplaceAll(word, `\`, "/"), "./")
		name := p[strings.LastIndexByte(p, '/')+1:]
		if known, ok := m.of[name]; ok && how != 0 && (len(known) < mostMentions || how&(sinceCommit|sinceAdded) != 0 && len(known) < 2*mostMentions) {
			if !any && saysMissing(line) {
				return false
			}
			m.of[name] = append(known, mention{call, p, c.Line, how})
			any = true
		}
	}
	return any
}

// before reports whether a result of an earlier call lists a file, or begins a line with its name. A name without a folder is that of the file when the
// file has none, or when the command names the folder or goes through all.
func (m mentions) before(p string, call int) bool {
	for _, at := range m.of[path.Base(p)] {
		if at.call >= call {
			return false
		}
		if at.shows != 0 && at.is(p) {
			return true
		}
	}
	return false
}

// is reports whether a mention is of the file of a path.
func (at mention) is(p string) bool {
	if at.path == p || strings.HasSuffix(p, "/"+at.path) && strings.Contains(at.path, "/") || strings.HasSuffix(at.path, "/"+p) {
		return true
	}
	folder := path.Base(path.Dir(p))
	return !strings.Contains(at.path, "/") && (!strings.Contains(p, "/") || strings.Contains(at.line, folder) || strings.Contains(at.line, "-R") || strings.HasPrefix(at.line, "tree"))
}

// known reports whether results show that a file was there before a call made an effect on it: they listed it before, or they
// tell later that git knew it then. A tool that says that it created the file is believed.
func (m mentions) known(calls []toolcall.Call, e toolcall.Effect, call int) bool {
	c := &calls[call]
	if e.Below || e.Removed || c.Kind == toolcall.Write && !e.Added && strings.Contains(strings.ToLower(c.Text[:min(len(c.Text), 300)]), "created") {
		return false
	}
	if c.Kind == toolcall.Command && !e.Added && m.before(e.Path, call) {
		return true
	}
	for _, at := range m.of[path.Base(e.Path)] {
		switch {
		case at.shows&^leading == 0 || !at.is(e.Path):
		case at.call < call:
			return true
		case at.shows&(sinceCommit|sinceAdded) == 0 || at.path != e.Path && !strings.Contains(at.path, "/") && strings.Contains(e.Path, "/"):
		default:
			if m.commits[at.call+1] > m.commits[call] {
				return false
			}
			if at.shows&sinceCommit != 0 || m.added[at.call+1] == m.added[call] {
				return true
			}
		}
	}
	return false
}

// listsFiles are commands that print the names of files that are there.
var listsFiles = lazyregexp.New(`(?i)(?:^|[|;&(]|-l?c ['"]?)\s*(?:ls|ll|find|fd|tree|dir|gci|get-childitem|stat|wc|du|rg (?:\S+ )*--files\S*|grep -\w*l\w*|rg -l|git (?:-\S+ \S+ )*ls-files|git (?:-\S+ \S+ )*status|git (?:-\S+ \S+ )*grep -\w*l)(?:\s|$)`)

// mayDo reports whether a command has git change one of the things, or another program do what a word says.
func mayDo(c *toolcall.Call, word string, things ...string) bool {
	return strings.Contains(c.Line[:min(len(c.Line), longestLine)], word) ||
		slices.ContainsFunc(c.Git, func(g toolcall.Git) bool { return g.Changes(things...) })
}

// longestLine is how many bytes of a command line are looked at.
const longestLine = 64 << 10

// lists reports whether the result of a call lists files that are there.
func lists(c *toolcall.Call) bool {
	switch c.Kind {
	case toolcall.Command:
		return listsFiles.MatchString(c.Line[:min(len(c.Line), longestLine)])
	case toolcall.Other:
		name := strings.ToLower(c.Name)
		return name == "ls" || strings.Contains(name, "glob") || strings.Contains(name, "list_") && !strings.Contains(name, "code") || strings.Contains(name, "listdir") || strings.Contains(name, "find_file")
	}
	return false
}

// status reads the lines of a result: those of git say more than names.
type status struct {
	lists bool
	git   bool // a command of git may have printed it
}

// of returns what a line shows of the files in it.
func (s *status) of(line string) shows {
	var out shows
	if s.lists {
		out = listing
	}
	switch {
	case strings.HasPrefix(line, " D ") || strings.HasPrefix(line, "D ") || strings.Contains(line, "deleted:"):
		return 0
	case len(line) > 3 && line[0] == 'M' && (line[1] == ' ' || line[1] == 'M') && line[2] == ' ' && s.lists:
		return sinceCommit | sinceAdded
	case strings.HasPrefix(line, " M ") && s.lists, strings.HasPrefix(strings.TrimLeft(line, " \t"), "modified:   ") && s.git:
		return sinceAdded
	}
	return out
}

// missing are words that say that a file is not there.
var missing = lazyregexp.New(`(?i)no such file|not found|do(?:es not|esn't) exist|cannot access|enoent`)

// saysMissing reports whether the beginning of a text says that something is not there.
func saysMissing(text string) bool { return missing.MatchString(text[:min(len(text), 300)]) }
