package digest

import (
	"path"
	"strings"

	"precis/internal/toolcall"
)

// sweepLike notes that a call removed the files that a pattern names: those of a folder, or, as in "tmp/**/*.log", those at any
// depth below it.
func (w *work) sweepLike(c *toolcall.Call, pattern string) {
	folder, name := path.Dir(pattern), path.Base(pattern)
	above, deep := strings.CutSuffix(folder, "**")
	if deep {
		folder = strings.TrimSuffix(above, "/")
	}
	if strings.ContainsAny(folder, "*?[") {
		return
	}
	w.removeIn(c, folder, func(rest string) bool {
		if deep {
			rest = path.Base(rest)
		}
		ok, _ := path.Match(name, rest)
		return ok
	}, false)
}

// removeIn notes that a call removed files in a folder, or moved it. Of files that may stand in another folder of the same name,
// and of those that are moved, it is not known any more what stands there.
func (w *work) removeIn(c *toolcall.Call, folder string, is func(rest string) bool, moved bool) {
	folder = strings.TrimSuffix(folder, "/")
	if w.swept += len(w.files.all); w.swept > mostLooked {
		return
	}
	for _, f := range w.files.all {
		rest, sure, in := w.inFolder(f.path, folder)
		if !in || !f.exists() && f.state != FileReverted || !is(rest) {
			continue
		}
		if w.git.changed[f] = true; sure && !moved {
			f.removed++
			f.state, f.at, f.by = FileDeleted, c.Use, ""
			continue
		}
		f.state, f.at, f.by = FileUnknown, c.Use, "rm "+folder
		if moved {
			f.by = "mv " + folder
		}
	}
}

// inFolder returns the path of a file within a folder. Where one of them is absolute and the other is not, it is sure that the
// folder holds the file when all that is known to be absolute stands beside it.
func (w *work) inFolder(p, folder string) (rest string, sure, in bool) {
	if folder == "." || folder == "" {
		if !isAbsolute(p) {
			return p, true, true
		}
		root, more := w.absoluteRoot()
		rest, in = strings.CutPrefix(p, root+"/")
		return rest, more, in && root != ""
	}
	if rest, ok := strings.CutPrefix(p, folder+"/"); ok {
		return rest, true, true
	}
	if isAbsolute(folder) || !isAbsolute(p) {
		return "", false, false
	}
	root, rest, ok := strings.Cut(p, "/"+folder+"/")
	if !ok {
		return "", false, false
	}
	if w.swept += len(w.files.all); w.swept > mostLooked {
		return rest, false, true
	}
	for _, f := range w.files.all {
		if isAbsolute(f.path) && !strings.HasPrefix(f.path, root+"/") {
			return rest, false, true
		}
	}
	return rest, true, true
}

// absoluteRoot returns the folder that all files are in whose paths are absolute, and whether these are more than one: most likely
// the one that commands run in.
func (w *work) absoluteRoot() (root string, more bool) {
	n := 0
	for _, f := range w.files.all {
		if !isAbsolute(f.path) || isTemporary(f.path) {
			continue
		}
		if n++; n == 1 {
			root = path.Dir(f.path)
		}
		for root != "/" && root != "." && !strings.HasPrefix(f.path, root+"/") {
			root = path.Dir(root)
		}
	}
	w.swept += len(w.files.all)
	if root == "/" || root == "." {
		return "", false
	}
	return root, n > 1
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':' }

// isTemporary reports whether a path is, or is in, a folder that a system has for what is not to stay.
func isTemporary(p string) bool {
	p = strings.ToLower(strings.TrimPrefix(p, "/private")) + "/"
	for _, head := range []string{"/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/", "$tmp", "$env:temp/", "$(mktemp", "`mktemp"} {
		if strings.HasPrefix(p, head) {
			return true
		}
	}
	return strings.Contains(p, "/appdata/local/temp/")
}
