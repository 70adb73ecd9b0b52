package digest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/precis-dev/precis/digest/effects"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/internal/prose"
)

// fileList writes the sections about files, written files first.
type fileList struct {
	*input
	files []effects.File
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
		if f.LastWrite < 0 {
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
	isScratch := effects.ScratchTest(l.files)
	for i, name := range names {
		if isScratch(l.files[i].Path) {
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
		case !f.Exists():
			name += " (" + string(f.State) + ")"
		case f.MovedFrom != "" && !f.Along:
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
func (l fileList) newestLine(f effects.File) string {
	calls := f.WritingCalls()
	if !f.Exists() || len(calls) == 0 {
		return ""
	}
	if line := mostTellingLine(l.work().Calls[calls[len(calls)-1]].Edited(f.Path)); line != "" {
		return "\n  + " + preview.Quote(line, changeLine)
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
		if f.LastWrite >= 0 {
			out = append(out, l.nameOf(f))
		}
	}
	return out
}

// describeFile describes what happened to a file.
func (l fileList) describeFile(f effects.File) string {
	var parts []string
	add := func(n int, what string) {
		switch {
		case n == 1:
			parts = append(parts, what)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s ×%d", what, n))
		}
	}
	writes := f.Writes - f.Wholes
	if f.Created {
		parts = append(parts, "created")
		writes--
	}
	if f.MovedFrom != "" && !f.Along && f.State != effects.FileDeleted {
		parts = append(parts, "moved from "+l.formerPath(f))
	}
	add(f.Reads, "read")
	add(f.Wholes, "overwritten")
	add(writes, "edited")
	switch {
	case f.State == effects.FileReverted:
		parts = append(parts, "reverted ("+f.GitCommand+")")
	case f.State == effects.FileUnknown && f.GitCommand != "":
		parts = append(parts, "not known what stands in it since ("+f.GitCommand+")")
	case f.State == effects.FileUnknown:
		parts = append(parts, "not known whether its newest change was made")
	case f.State == effects.FileDeleted && f.GitCommand != "":
		parts = append(parts, "DELETED since ("+f.GitCommand+")")
	case f.GitCommand != "":
		parts = append(parts, "later edits reverted ("+f.GitCommand+")")
	case f.State == effects.FileDeleted && f.Removed == 0:
		parts = append(parts, "gone since")
	case f.State == effects.FileDeleted:
		parts = append(parts, "DELETED since")
	default:
		add(f.Removed-f.TimesMoved, "deleted and made again")
	}
	at, failed := f.LastWrite, ""
	switch {
	case f.Failed > 0 && f.Exists() && f.At.From != f.FailedAt:
		at = f.At.From
		if failed = ", edit failed"; f.Failed > 1 {
			failed += fmt.Sprintf(" ×%d", f.Failed)
		}
		failed += " (" + l.handle(f.FailedAt) + ")"
	case f.Failed > 0:
		add(f.Failed, "edit failed")
		at = f.FailedAt
	}
	if f.State == effects.FileDeleted || f.State == effects.FileReverted || f.GitCommand != "" {
		at = f.At.From
	}
	if f.Refused != nil && f.Writes == 0 && !l.work().IsAllowed(f.Refused.Call) {
		parts, at = append(parts, "edit REFUSED by the user"), f.Refused.At.From
	}
	switch {
	case len(parts) > 0:
	case f.MovedFrom == "":
		parts = append(parts, "moved away and back")
	default:
		parts = append(parts, "moved with its folder")
	}
	return strings.Join(parts, ", ") + " (" + l.handle(at) + ")" + failed
}

// formerPath returns the former path of a moved file: only its name if the folder is the same.
func (l fileList) formerPath(f effects.File) string {
	if path.Dir(f.MovedFrom) == path.Dir(f.Path) {
		return preview.Quote(path.Base(f.MovedFrom), 200)
	}
	return preview.Quote(relative(f.MovedFrom, l.base), 200)
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
func (l fileList) nameOf(f effects.File) string {
	name := relative(f.Path, l.base)
	if l.base != "" && name != "" && !effects.IsAbsolute(f.Path) && !strings.ContainsAny(name[:1], ".~") {
		name = "./" + name
	}
	return preview.Quote(name, 400)
}

// native returns a root in the notation of its system.
func native(root string) string { return relative(root, "") }

// listedFiles returns the files that a digest lists; a moved file appears at its new path. Written
// files come first; of these, scratch files come last, and removed scratch files after them.
func (in *input) listedFiles(all []effects.File) []effects.File {
	var written, scratch, gone, read []effects.File
	isScratch := effects.ScratchTest(all)
	for _, f := range all {
		switch {
		case f.IsMoved():
		case f.LastWrite < 0:
			read = append(read, f)
		case !isScratch(f.Path):
			written = append(written, f)
		case f.Exists():
			scratch = append(scratch, f)
		default:
			gone = append(gone, f)
		}
	}
	return slices.Concat(written, scratch, gone, read)
}
