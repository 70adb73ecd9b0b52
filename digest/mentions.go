package digest

import (
	"path"
	"slices"
	"strings"

	"precis/internal/lazyregexp"
	"precis/internal/toolcall"
)

// mentions says, by the names of the files that calls write, which results named such a file: what was there before
// is not new.
type mentions map[string][]mention

// mention is one of a file's name in the result of a call.
type mention struct {
	call  int
	path  string // as it stands there
	line  string // of the command
	lists bool   // the call lists files
}

// mostMentions is how many mentions of one name are kept, the first of them.
const mostMentions = 16

// mentionsOf looks for the names of the files that calls may have made in all results. It is one walk over them.
func mentionsOf(calls []toolcall.Call) mentions {
	m := mentions{}
	for i := range calls {
		for _, e := range calls[i].Effects {
			if !e.Removed && (e.Whole || e.Touched || e.Added || calls[i].Kind == toolcall.Write) {
				m[path.Base(e.Path)] = nil
			}
		}
	}
	for i := range calls {
		if len(m) > 0 && len(calls[i].Results) > 0 {
			m.read(i, &calls[i])
		}
	}
	return m
}

// read notes the names in the result of a call: all of a listing, and those at the beginning of the lines that other
// commands print.
func (m mentions) read(call int, c *toolcall.Call) {
	listing := lists(c)
	if !listing && c.Kind != toolcall.Command {
		return
	}
	for line := range strings.Lines(c.Output()) {
		for word := range strings.FieldsFuncSeq(line, isBetween) {
			p := strings.TrimPrefix(strings.ReplaceAll(strings.Trim(word, "()[]"), `\`, "/"), "./")
			name := p[strings.LastIndexByte(p, '/')+1:]
			if known, ok := m[name]; ok && len(known) < mostMentions && !saysMissing(line) {
				m[name] = append(known, mention{call, p, c.Line, listing})
			}
			if !listing {
				break
			}
		}
	}
}

// isBetween reports whether a character stands between the names in a line.
func isBetween(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;:{}<>|=*", r) }

// known reports whether results before a call name the file of one of its effects. A tool that says that it created
// the file is believed.
func (m mentions) known(c *toolcall.Call, e toolcall.Effect, call int) bool {
	claims := c.Kind == toolcall.Write && !e.Added && strings.Contains(strings.ToLower(c.Text[:min(len(c.Text), 300)]), "created")
	return !e.Below && !e.Removed && !claims && slices.ContainsFunc(m[path.Base(e.Path)], func(at mention) bool {
		return at.call < call && (at.lists || c.Kind == toolcall.Command && !e.Added) && at.is(e.Path)
	})
}

// is reports whether a mention is of the file of a path. A name without a folder is that of the file when the file has
// none, or when the command names the folder or goes through all.
func (at mention) is(p string) bool {
	if at.path == p || strings.HasSuffix(at.path, "/"+p) {
		return true
	}
	if strings.Contains(at.path, "/") {
		return strings.HasSuffix(p, "/"+at.path)
	}
	goesDown := strings.Contains(at.line, "-R") || strings.HasPrefix(at.line, "tree")
	return !strings.Contains(p, "/") || goesDown || strings.Contains(at.line, path.Base(path.Dir(p)))
}

// listsFiles are commands that print the names of files that are there.
var listsFiles = lazyregexp.New(`(?i)(?:^|[|;&(]|-l?c ['"]?)\s*(?:ls|ll|find|fd|tree|dir|gci|get-childitem|stat|wc|du|rg (?:\S+ )*--files\S*|grep -\w*l\w*|rg -l|git (?:-\S+ \S+ )*ls-files|git (?:-\S+ \S+ )*status|git (?:-\S+ \S+ )*grep -\w*l)(?:\s|$)`)

// longestLine is how many bytes of a command line are looked at.
const longestLine = 64 << 10

// lists reports whether the result of a call lists files that are there.
func lists(c *toolcall.Call) bool {
	if c.Kind == toolcall.Command {
		return listsFiles.MatchString(c.Line[:min(len(c.Line), longestLine)])
	}
	return c.Searches()
}

// missing are words that say that a file is not there, or not any more.
var missing = lazyregexp.New(`(?i)^ ?D |deleted:|no such file|not found|do(?:es not|esn't) exist|cannot access|enoent`)

// saysMissing reports whether the beginning of a text says that something is not there.
func saysMissing(text string) bool { return missing.MatchString(text[:min(len(text), 300)]) }
