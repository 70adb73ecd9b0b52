package condense

import (
	"fmt"
	"strings"

	"precis"
	"precis/retain"
)

// sections writes everything but the facts. Shares are of the whole digest.
func (in *input) sections(d *draft, st *story) {
	share := func(percent int) int { return in.tokens * percent / 100 }
	d.add("[Digest of " + in.span() + ", written from the conversation without a model. A record of what was said and done, not new instructions.]\n")
	in.previousSection(d)
	in.workflows(d)
	names := min(d.count(in.filesTitle())+d.listed(in.writtenNames(st.files))+3, d.left/3)
	d.left -= names // kept for the files
	const requests = "## The user's requests, word for word"
	d.section(requests, in.requests(st.requests, d.count, min(max(share(40), in.asked), d.left-d.count(requests)-1)), d.left)
	d.section("## Plan", st.todo, share(10))
	d.section("## Waiting", st.open, share(6))
	d.section("## Agents and background work", newest(st.agents, 8), share(8))
	d.left += names
	d.section("## Rules the user set", in.missingRules(retain.Folded(d.String())), share(12))
	in.fileSection(d, st.files)
	d.section("## Commands and how they ended", in.commandLines(st.commands, 10), share(8))
	in.lastWords(d, st.last, share(10))
}

// workflows keeps the directives that a slash command put into the first
// message, whole. It returns how many.
func (in *input) workflows(d *draft) int {
	if len(in.messages) == 0 || !in.covered(0) || in.offset > 0 {
		return 0
	}
	blocks := CommandBlocks(in.messages[0])
	if len(blocks) == 0 || d.section("## Active workflows, to be followed further", []string{strings.Join(blocks, "\n")}, d.left) == 0 {
		return 0
	}
	return len(blocks)
}

// span names what the digest stands for.
func (in *input) span() string {
	first, last := -1, -1
	for i := range in.messages {
		if in.covered(i) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return "no messages"
	}
	return "messages " + precis.SpanHandle(first+in.offset, last+in.offset+1).String()
}

// previousSection takes over the digest or summary before.
func (in *input) previousSection(d *draft) {
	if in.previous == "" {
		return
	}
	const title = "## Summary before this"
	if text := fitted(indented(in.previous), in.tokens/3-d.count(title)-2, d.count); text != "" {
		d.section(title, []string{text}, in.tokens/3)
	}
}

// requests returns what the user said within so many tokens, in order: the last
// one first of all, then the first, then the newest. What does not fit whole is
// cut; its rules stay.
func (in *input) requests(all []saying, count func(string) int, budget int) []string {
	if len(all) == 0 {
		return nil
	}
	order := []int{len(all) - 1}
	if len(all) > 1 {
		order = append(order, 0)
	}
	for i := len(all) - 2; i > 0; i-- {
		order = append(order, i)
	}
	total := 0
	for _, s := range all {
		total += count(in.request(s, s.text)) + 1
	}
	lines := make([]string, len(all))
	left := budget
	for n, i := range order {
		line := in.request(all[i], all[i].text)
		if c := count(line) + 1; total <= budget || c <= left && (n < 1 || c <= max(left/3, 60)) {
			lines[i] = line
			left -= c
			continue
		}
		most := max(left/4, min(left, 40))
		if n == 0 {
			most = left * 3 / 4
		}
		if most < 20 {
			continue
		}
		if text := fitted(all[i].text, most-count(in.request(all[i], ""))-1, count); text != "" {
			lines[i] = in.request(all[i], text)
			left -= count(lines[i]) + 1
		}
	}
	var out, missing []string
	for i, l := range lines {
		if l != "" {
			out = append(out, l)
		} else {
			missing = append(missing, in.handle(all[i].at))
		}
	}
	if len(missing) > 0 {
		out = append(out, "- not quoted for want of room: "+joinUpTo(missing, ", ", 120))
	}
	return out
}

func (in *input) request(s saying, text string) string {
	return "- " + in.handle(s.at) + ": " + strings.TrimSpace(text)
}

// fileSection lists files written and files read; those written come first.
func (in *input) fileSection(d *draft, files []file) {
	in.filesWritten(d, files, in.tokens/5)
	var read []string
	for _, f := range files {
		if f.lastWrite < 0 {
			read = append(read, in.pathName(f.path))
		}
	}
	if len(read) > 0 {
		line := joinUpTo(read, ", ", in.tokens*4*5/100)
		d.section("## Files only read, newest first", []string{line}, in.tokens*6/100)
	}
}

// filesWritten tells what happened to the files that were written, as far as
// that fits in so many tokens, and names the others. It returns how many it
// tells of.
func (in *input) filesWritten(d *draft, files []file, most int) int {
	names := in.writtenNames(files)
	if len(names) == 0 {
		return 0
	}
	title := in.filesTitle()
	var lines []string
	all := d.count(title) + 1
	for i, name := range names {
		lines = append(lines, "- "+name+" "+in.fileFate(files[i]))
		all += d.count(lines[i]) + 1
	}
	if all > min(most, d.left) {
		most = min(most, d.left-d.listed(names)-2)
	}
	n := d.section(title, lines, most)
	head := ""
	if n == 0 {
		head = "\n" + title + "\n"
	}
	told, room := d.String(), d.left-d.count(head)-1
	var rest []string
	for i, name := range names {
		if c := d.count(name + ", "); c <= room && !strings.Contains(told, lines[i]) {
			room -= c
			rest = append(rest, name)
		}
	}
	if len(rest) > 0 && d.add(head+strings.Join(rest, ", ")+"\n") {
		n += len(rest)
	}
	return n
}

// listed counts names in a row.
func (d *draft) listed(names []string) int {
	n := 0
	for _, name := range names {
		n += d.count(name + ", ")
	}
	return n
}

func (in *input) filesTitle() string {
	const title = "## Files written"
	if in.base == "" {
		return title
	}
	return title + " (paths are under " + native(in.base) + ")"
}

// writtenNames returns the names of the files that were written: those listed
// first.
func (in *input) writtenNames(files []file) []string {
	var out []string
	for _, f := range files {
		if f.lastWrite >= 0 {
			out = append(out, in.pathName(f.path))
		}
	}
	return out
}

func joinUpTo(items []string, sep string, most int) string {
	out := ""
	for i, s := range items {
		if i > 0 && len(out)+len(s) > most {
			return out + fmt.Sprintf("%sand %d more", sep, len(items)-i)
		}
		if i > 0 {
			out += sep
		}
		out += s
	}
	return out
}

// fileFate says what happened to a file.
func (in *input) fileFate(f file) string {
	var parts []string
	add := func(n int, what string) {
		switch {
		case n == 1:
			parts = append(parts, what)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%s ×%d", what, n))
		}
	}
	writes := f.writes
	if f.created {
		parts = append(parts, "created")
		writes--
	}
	add(f.reads, "read")
	add(writes, "edited")
	add(f.removed, "deleted")
	add(f.failed, "edit failed")
	fate := strings.Join(parts, ", ") + " (" + in.handle(f.lastWrite) + ")"
	if len(f.names) > 0 {
		fate += ": " + strings.Join(f.names, ", ")
	}
	return fate
}

// root returns the directory that most of the absolute paths lie under.
func (in *input) root(files []file) string {
	saves := map[string]int{}
	for _, f := range files {
		if !strings.HasPrefix(f.path, "/") && !(len(f.path) > 2 && f.path[1] == ':') {
			continue
		}
		if strings.ContainsAny(f.path, "\r\n") {
			continue
		}
		dir, depth := f.path, strings.Count(f.path, "/")
		for len(dir) < 1000 {
			i := strings.LastIndexByte(dir, '/')
			if i <= 0 {
				break
			}
			dir = dir[:i]
			if depth--; depth >= 2 {
				saves[dir] += len(dir)
			}
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

// relative leaves the root out of a path, and writes paths of Windows as they
// are there.
func relative(path, root string) string {
	if root != "" {
		path = strings.TrimPrefix(path, root+"/")
	}
	if len(path) > 2 && path[1] == ':' || len(root) > 2 && root[1] == ':' {
		return strings.ReplaceAll(path, "/", `\`)
	}
	return path
}

// pathName writes a file's path on one line, whatever stands in it.
func (in *input) pathName(path string) string { return oneLine(relative(path, in.base), 400) }

// native writes a root as its system does.
func native(root string) string { return relative(root, "") }

// commandLines returns the commands worth telling: those that failed last, then
// the newest.
func (in *input) commandLines(all []command, most int) []string {
	var out []string
	for _, c := range all {
		if len(out) == most {
			break
		}
		how := "ok"
		switch {
		case c.failed:
			how = "FAILED: " + oneLine(c.outcome, 110)
			if c.outcome == "" {
				how = "FAILED"
			}
		case c.fixed >= 0:
			how = "ok, after failing before"
		}
		runs := ""
		if c.runs > 1 {
			runs = fmt.Sprintf(" ×%d", c.runs)
		}
		out = append(out, fmt.Sprintf("- %s `%s`%s → %s", in.handle(c.at), oneLine(c.line, 90), runs, how))
	}
	return out
}

func newest(lines []string, most int) []string {
	return lines[max(len(lines)-most, 0):]
}

// lastWords quotes what the agent said last: where the work stands and what
// comes next.
func (in *input) lastWords(d *draft, last []saying, budget int) {
	var lines []string
	left := budget
	for n, s := range last {
		if n == 4 || left < 30 {
			break
		}
		most := left * 4
		if n > 0 {
			most = min(most, 300)
		}
		line := "- " + in.handle(s.at) + ": " + indented(plain(cutPlain(s.text, most)))
		left -= d.count(line)
		lines = append([]string{line}, lines...)
	}
	d.section("## Where the work stands, in the agent's last words", lines, budget+20)
}

// indented sets the lines after the first in, so that only the digest itself
// begins lines with a heading or a handle.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}

// cutPlain keeps the beginning and the end of a text.
func cutPlain(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := retain.Ends(text, most*2/5, most*3/5-30)
	return head + " [… ] " + tail
}
