package effects

import (
	"path"
	"slices"
	"strings"
)

// RootOf returns the directory that contains most of the absolute paths.
func RootOf(files []File) string {
	const longest = 1000
	saves := map[string]int{}
	for _, f := range files {
		if !IsAbsolute(f.Path) || strings.ContainsAny(f.Path, "\r\n") || len(f.Path) > longest {
			continue
		}
		for dir := path.Dir(f.Path); strings.Count(dir, "/") >= 2; dir = path.Dir(dir) {
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

// ScratchTest returns a test for scratch files: those in temporary folders. It is always false if the
// work itself is in one, or if no file outside of them was written.
func ScratchTest(files []File) func(p string) bool {
	isKept := func(f File) bool { return f.LastWrite >= 0 && !isTemporary(f.Path) }
	if isTemporary(RootOf(files)+"/") || !slices.ContainsFunc(files, isKept) {
		return func(string) bool { return false }
	}
	return isTemporary
}

func IsAbsolute(p string) bool { return strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':' }

// isTemporary reports whether a path is a temporary folder of the system, or in one.
func isTemporary(p string) bool {
	p = strings.ToLower(strings.TrimPrefix(p, "/private")) + "/"
	for _, head := range []string{"/tmp/", "/var/tmp/", "/var/folders/", "/dev/shm/", "$tmp", "$env:temp/",
		"$(mktemp", "`mktemp"} {
		if strings.HasPrefix(p, head) {
			return true
		}
	}
	return strings.Contains(p, "/appdata/local/temp/")
}
