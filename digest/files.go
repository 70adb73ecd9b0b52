package digest

import (
	"fmt"
	"path"
	"strings"

	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
)

// fileList writes the sections about files, written files first.
type fileList struct {
	*input
	files []file
}

// Of files that were only read, the digest lists the newest and counts the others. It reserves a
// part of its size for them however many files were written.
const (
	mostNewestRead = 10
	leastRead      = 10 // percent
)

// section lists files written and then files read.
func (l fileList) section(d *draft) {
	var read []string
	for _, f := range l.files {
		if f.lastWrite < 0 {
			read = append(read, l.nameOf(f))
		}
	}
	newest := read[:min(len(read), mostNewestRead)]
	const title = "## Files only read, newest first"
	kept := 0
	if len(newest) > 0 {
		kept = min(d.count(title)+d.listed(newest)+8, l.tokens*leastRead/100, d.tokensLeft/3)
	}
	d.tokensLeft -= kept
	l.writtenSection(d, l.tokens/5)
	d.tokensLeft += kept
	if len(newest) > 0 {
		room := min((kept-d.count(title)-6)*4, len(strings.Join(newest, ", "))+len(", and 99,999 more"))
		d.section(title, []string{preview.List(read, ", ", room)}, kept)
	}
}

// writtenSection describes the files that were written, in at most the given number of tokens, and
// names the files that do not fit. It returns the number of files described.
func (l fileList) writtenSection(d *draft, most int) int {
	names := l.written()
	if len(names) == 0 {
		return 0
	}
	title := l.title()
	var lines []string
	all := d.count(title) + 1
	isScratch := scratchTest(l.files)
	for i, name := range names {
		if isScratch(l.files[i].path) {
			all += d.count(name + ", ") // listed last, by name only
			continue
		}
		text := "- " + name + " " + l.describeFile(l.files[i])
		if len(lines) < mostChanges && l.tokens >= roomForChanges && !l.onlyNew {
			text += l.newestLine(l.files[i])
		}
		lines = append(lines, text)
		all += d.count(text) + 1
	}
	if all > min(most, d.tokensLeft) {
		most = min(most, d.tokensLeft-d.listed(names)-2)
	}
	n := d.section(title, lines, most)
	head := ""
	if n == 0 {
		head = "\n" + title + "\n"
	}
	listed, room := d.String(), d.tokensLeft-d.count(head)-1
	var rest []string
	for i, name := range names {
		switch f := l.files[i]; {
		case !f.exists():
			name += " (" + string(f.state) + ")"
		case f.movedFrom != "" && !f.along:
			name += " (from " + l.formerPath(f) + ")"
		}
		if c := d.count(name + ", "); c <= room && !(i < len(lines) && strings.Contains(listed, lines[i])) {
			room -= c
			rest = append(rest, name)
		}
	}
	if len(rest) > 0 && d.add(head+strings.Join(rest, ", ")+"\n") {
		n += len(rest)
	}
	return n
}

// A digest that has the room shows the newest edit of the newest files; a summary says what was done.
const (
	mostChanges    = 6
	roomForChanges = 1500 // tokens
	changeLine     = 110  // bytes
)

// newestLine returns a line that the newest edit of a file adds; "" when it is unknown, the edit adds
// no line, or it wrote the whole file.
func (l fileList) newestLine(f file) string {
	calls := f.writingCalls()
	if !f.exists() || len(calls) == 0 {
		return ""
	}
	if line := mostTellingLine(l.work().calls[calls[len(calls)-1]].Edited(f.path)); line != "" {
		return "\n  + " + quoted(line, changeLine)
	}
	return ""
}

// mostTellingLine returns the line of text, not in other, with the most words absent from other; or "".
func mostTellingLine(text, other string) (out string) {
	const mostLines = 400
	isOld, known := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(other) {
		isOld[strings.TrimSpace(line)] = true
	}
	for _, w := range prose.Words(other) {
		known[w] = true
	}
	n, best := 0, 0
	for line := range strings.Lines(text) {
		if n++; n > mostLines {
			break
		}
		line = strings.TrimSpace(line)
		fresh := map[string]bool{}
		for _, w := range prose.Words(line[:min(len(line), changeLine)]) {
			if !known[w] {
				fresh[w] = true
			}
		}
		if len(fresh) > best && !isOld[line] {
			best, out = len(fresh), line
		}
	}
	return out
}

func (l fileList) title() string {
	const title = "## Files written"
	if l.base == "" {
		return title
	}
	return title + " (paths are under " + native(l.base) + ")"
}

// written returns the names of the files that were written: those that the section lists first.
func (l fileList) written() []string {
	var out []string
	for _, f := range l.files {
		if f.lastWrite >= 0 {
			out = append(out, l.nameOf(f))
		}
	}
	return out
}

// describeFile describes what happened to a file.
func (l fileList) describeFile(f file) string {
	var parts []string
	add := func(n int, what string) {
		switch {
		case n == 1:
			parts = append(parts, what)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s ×%d", what, n))
		}
	}
	writes := f.writes - f.wholes
	if f.created {
		parts = append(parts, "created")
		writes--
	}
	if f.movedFrom != "" && !f.along && f.state != FileDeleted {
		parts = append(parts, "moved from "+l.formerPath(f))
	}
	add(f.reads, "read")
	add(f.wholes, "overwritten")
	add(writes, "edited")
	switch {
	case f.state == FileReverted:
		parts = append(parts, "reverted ("+f.gitCommand+")")
	case f.state == FileUnknown && f.gitCommand != "":
		parts = append(parts, "not known what stands in it since ("+f.gitCommand+")")
	case f.state == FileUnknown:
		parts = append(parts, "not known whether its newest change was made")
	case f.state == FileDeleted && f.gitCommand != "":
		parts = append(parts, "DELETED since ("+f.gitCommand+")")
	case f.gitCommand != "":
		parts = append(parts, "later edits reverted ("+f.gitCommand+")")
	case f.state == FileDeleted && f.removed == 0:
		parts = append(parts, "gone since")
	case f.state == FileDeleted:
		parts = append(parts, "DELETED since")
	default:
		add(f.removed-f.timesMoved, "deleted and made again")
	}
	at, failed := f.lastWrite, ""
	switch {
	case f.failed > 0 && f.exists() && f.at.From != f.failedAt:
		at = f.at.From
		if failed = ", edit failed"; f.failed > 1 {
			failed += fmt.Sprintf(" ×%d", f.failed)
		}
		failed += " (" + l.handle(f.failedAt) + ")"
	case f.failed > 0:
		add(f.failed, "edit failed")
		at = f.failedAt
	}
	if f.state == FileDeleted || f.state == FileReverted || f.gitCommand != "" {
		at = f.at.From
	}
	if f.refused != nil && f.writes == 0 && !l.work().isAllowed(f.refused.call) {
		parts, at = append(parts, "edit REFUSED by the user"), f.refused.at.From
	}
	switch {
	case len(parts) > 0:
	case f.movedFrom == "":
		parts = append(parts, "moved away and back")
	default:
		parts = append(parts, "moved with its folder")
	}
	return strings.Join(parts, ", ") + " (" + l.handle(at) + ")" + failed
}

// formerPath returns the former path of a moved file: only its name if the folder is the same.
func (l fileList) formerPath(f file) string {
	if path.Dir(f.movedFrom) == path.Dir(f.path) {
		return quoted(path.Base(f.movedFrom), 200)
	}
	return quoted(relative(f.movedFrom, l.base), 200)
}

// rootOf returns the directory that contains most of the absolute paths.
func rootOf(files []file) string {
	const longest = 1000
	saves := map[string]int{}
	for _, f := range files {
		if !isAbsolute(f.path) || strings.ContainsAny(f.path, "\r\n") || len(f.path) > longest {
			continue
		}
		for dir := path.Dir(f.path); strings.Count(dir, "/") >= 2; dir = path.Dir(dir) {
			saves[dir] += len(dir)
		}
	}
	best := ""
	for dir, n := range saves {
		if n < 2*len(dir) {
			continue
		}
		if b := saves[best]; n > b || n == b && dir < best {
			best = dir
		}
	}
	if i := strings.LastIndexByte(best, '/'); i > 0 { // so that two components stay
		best = best[:i]
	}
	return best
}

// relative removes the root from a path, and writes Windows paths with
// backslashes.
func relative(path, root string) string {
	if root != "" {
		path = strings.TrimPrefix(path, root+"/")
	}
	if len(path) > 2 && path[1] == ':' || len(root) > 2 && root[1] == ':' {
		return strings.ReplaceAll(path, "/", `\`)
	}
	return path
}

// nameOf returns a file's path on one line, special characters escaped. If no call gives the full
// path while other files are listed relative to a folder, "./" precedes it: the file may be
// another.
func (l fileList) nameOf(f file) string {
	name := relative(f.path, l.base)
	if l.base != "" && name != "" && !isAbsolute(f.path) && !strings.ContainsAny(name[:1], ".~") {
		name = "./" + name
	}
	return quoted(name, 400)
}

// native returns a root in the notation of its system.
func native(root string) string { return relative(root, "") }
