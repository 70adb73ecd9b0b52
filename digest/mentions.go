package digest

import (
	"path"
	"strings"

	"precis/internal/toolcall"
)

// mentions says where results named files that commands write later: a file that was listed
// before is not new. Keys are paths as the results write them.
type mentions map[string][]mention

// mention is one of a file's name in the result of a call.
type mention struct {
	call int
	path string // as it stands there
	line string // of the command
}

// mostMentions is how many mentions of one name are kept, the first of them.
const mostMentions = 16

// mentionsOf looks for the names of the files that commands may have made in the results before. It
// is one walk over the results.
func mentionsOf(calls []toolcall.Call) mentions {
	m := mentions{}
	for i := range calls {
		for _, e := range calls[i].Effects {
			if e.Whole || e.Touched {
				m[path.Base(e.Path)] = nil
			}
		}
	}
	if len(m) == 0 {
		return m
	}
	for i := range calls {
		if c := &calls[i]; len(c.Results) > 0 {
			for line := range strings.Lines(c.Text) {
				if !saysMissing(line) {
					m.line(line, i, c.Line)
				}
			}
		}
	}
	return m
}

// line notes the names in a line of a result.
func (m mentions) line(line string, call int, command string) {
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;:()[]{}<>|=*", r) }) {
		p := strings.TrimPrefix(strings.ReplaceAll(word, `\`, "/"), "./")
		name := p[strings.LastIndexByte(p, '/')+1:]
		if known, ok := m[name]; ok && len(known) < mostMentions {
			m[name] = append(known, mention{call, p, command})
		}
	}
}

// before reports whether a result of an earlier call names a file. A name without a folder is that of the file when the
// file has none, or when the command names the folder or goes through all.
func (m mentions) before(p string, call int) bool {
	for _, at := range m[path.Base(p)] {
		if at.call >= call {
			return false
		}
		if at.path == p || strings.HasSuffix(p, "/"+at.path) && strings.Contains(at.path, "/") || strings.HasSuffix(at.path, "/"+p) {
			return true
		}
		folder := path.Base(path.Dir(p))
		if !strings.Contains(at.path, "/") && (!strings.Contains(p, "/") || strings.Contains(at.line, folder) || strings.Contains(at.line, "-R") || strings.HasPrefix(at.line, "tree")) {
			return true
		}
	}
	return false
}

// saysMissing reports whether a line says that something is not there.
func saysMissing(line string) bool {
	low := strings.ToLower(line[:min(len(line), 300)])
	return strings.Contains(low, "no such file") || strings.Contains(low, "not found") || strings.Contains(low, "does not exist") || strings.Contains(low, "cannot access") || strings.Contains(low, "doesn't exist")
}
