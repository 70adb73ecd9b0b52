package preview

import "strings"

const firstNames = 20 // names of a listing that are always shown

// listing classifies names of files: directories, the first name of each directory and the first
// names of all are headlines; generated names are noise.
func (d *document) listing() string {
	w := listWalk{}
	for i := range d.lines {
		if l := &d.lines[i]; !l.frame {
			l.class = w.line(l.body)
		}
	}
	head := "listing: " + count(w.names, "name")
	if w.folders > 0 {
		head += " (" + count(w.folders, "directory") + ")"
	}
	if top := w.exts.top(1); len(top) == 1 && w.exts.names[top[0]] != "" &&
		w.exts.n[top[0]]*2 > w.names-w.folders {
		head += ", mostly " + w.exts.names[top[0]]
	}
	return head
}

// listWalk goes through a listing line by line.
type listWalk struct {
	names, folders int
	dirs, exts     tally
}

func (w *listWalk) line(s string) Class {
	if strings.HasSuffix(trimRight(s), "files") && strings.Contains(s, "director") {
		return Headline // the sum of a tree
	}
	name, isDir := listedName(s)
	if name == "" || separator(name) {
		return Noise
	}
	w.names++
	if isDir {
		w.folders++
	} else {
		w.exts.add(extension(name), 1)
	}
	if root := generatedRoot(name); root != "" {
		if w.dirs.add(root, 1) {
			return Detail
		}
		return Noise
	}
	if w.dirs.add(directory(name), 1) || isDir || w.names <= firstNames {
		return Headline
	}
	return Detail
}

// listedName returns the name in one line of a listing; "" for a line without
// one.
func listedName(s string) (name string, isDir bool) {
	s = trimRight(s)
	t, _ := trimLeft(s)
	if isMode(t) {
		return modeName(t), t[0] == 'd'
	}
	if strings.HasPrefix(t, "total ") {
		return "", false
	}
	if isTree(t) {
		t = strings.TrimLeft(strings.NewReplacer("├", "", "└", "", "│", "", "─", "", "\u00a0",
			" ").Replace(t), " |`-")
	}
	for _, mark := range []string{"[DIR] ", "[FILE] ", "- ", "./"} {
		t = strings.TrimPrefix(t, mark)
	}
	if t == "" || t == "." {
		return "", false
	}
	last := t[len(t)-1]
	return t, last == '/' || last == ':' && len(t) > 1
}

// modeName returns the name at the end of a row of ls -l: the text after the eighth column.
func modeName(t string) string {
	for range 8 {
		i := strings.IndexByte(t, ' ')
		if i < 0 {
			return t
		}
		t, _ = trimLeft(t[i:])
	}
	name, _, _ := strings.Cut(t, " -> ")
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// directory returns the path of name up to its last separator.
func directory(name string) string {
	i := len(name)
	for i > 0 && name[i-1] != '/' && name[i-1] != '\\' {
		i--
	}
	return name[:i]
}

func extension(name string) string {
	base := name[len(directory(name)):]
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 || len(base)-dot > 10 {
		return ""
	}
	return base[dot:]
}

// generatedRoot returns name up to and including the first directory with generated or downloaded
// content; "" for none.
func generatedRoot(name string) string {
	for at, end := 0, 0; at < len(name); at = end + 1 {
		for end = at; end < len(name) && name[end] != '/' && name[end] != '\\'; {
			end++
		}
		switch name[at:end] {
		case "node_modules", ".git", "__pycache__", ".venv", "venv", "site-packages", ".next", ".cache",
			".pytest_cache", ".mypy_cache", ".tox", ".gradle", ".idea", "bower_components":
			return name[:end]
		}
	}
	return ""
}
