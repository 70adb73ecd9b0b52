package effects

import (
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/internal/toolcall"
)

// mentionIndex maps the names of files that calls write to the results that mention them. A file that
// an earlier result mentions is not new.
type mentionIndex map[string][]mention

// mention is one occurrence of a file's name in the result of a call.
type mention struct {
	call int
	path string // as the result gives it
	line string // of the command
}

// mostMentions limits the mentions kept of one name; the first ones are kept.
const mostMentions = 16

// mentionsOf finds the names of files that calls may have created in all results, in a single pass.
func mentionsOf(calls []toolcall.Call) mentionIndex {
	m := mentionIndex{}
	for i := range calls {
		for _, e := range calls[i].Effects {
			if !e.Removed && (e.Whole || e.Touched || e.Added || calls[i].Kind == toolcall.Write) {
				m[path.Base(e.Path)] = nil
			}
		}
	}
	for i := range calls {
		if len(m) > 0 && len(calls[i].Results) > 0 {
			m.recordMentions(i, &calls[i])
		}
	}
	return m
}

// recordMentions records the first and last names in the lines that commands and searches print.
func (m mentionIndex) recordMentions(call int, c *toolcall.Call) {
	if c.Kind != toolcall.Command && !c.Searches() {
		return
	}
	for line := range strings.Lines(c.Output()) {
		words := strings.FieldsFunc(line, isBetween)
		for i, word := range words {
			p := strings.TrimPrefix(strings.ReplaceAll(strings.Trim(word, "()[]"), `\`, "/"), "./")
			name := p[strings.LastIndexByte(p, '/')+1:]
			ends := i == 0 || i == len(words)-1
			if known, ok := m[name]; ok && ends && len(known) < mostMentions && !saysMissing(line) {
				m[name] = append(known, mention{call, p, c.Line})
			}
		}
	}
}

// isBetween reports whether a character separates names in a line.
func isBetween(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;:{}<>|=*", r) }

// mentionedBefore reports whether results before a call mention the file of one of its effects. If a tool
// reports that it created the file, known returns false.
func (m mentionIndex) mentionedBefore(c *toolcall.Call, e toolcall.Effect, call int) bool {
	claims := c.Kind == toolcall.Write && !e.Added &&
		strings.Contains(strings.ToLower(c.Text[:min(len(c.Text), 300)]), "created")
	return !e.Below && !e.Removed && !claims && slices.ContainsFunc(m[path.Base(e.Path)],
		func(at mention) bool {
			return at.call < call && at.refersTo(e.Path)
		})
}

// refersTo reports whether a mention refers to the file at p. A name without a folder matches a path
// without a folder; for other paths the command must name the folder.
func (at mention) refersTo(p string) bool {
	if at.path == p || strings.HasSuffix(at.path, "/"+p) {
		return true
	}
	if strings.Contains(at.path, "/") {
		return strings.HasSuffix(p, "/"+at.path)
	}
	return !strings.Contains(p, "/") || strings.Contains(at.line, path.Base(path.Dir(p)))
}

// missing matches words that say that a file does not exist.
var missing = lazyregexp.New(`(?i)^ ?D |deleted:|no such file|not found|do(?:es not|esn't) exist|cannot access|enoent`)

// saysMissing reports whether the beginning of a text says that a file does not exist.
func saysMissing(text string) bool { return missing.MatchString(text[:min(len(text), 300)]) }
