package sessions

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FileOf returns the path of the recording of a session, by the program's ID in the file name. If
// several match, it returns the one written last; "" if there is no match. It reads only names, in
// the program's folders.
func FileOf(e Environment, agent, id string) string {
	const shortest, longest = 8, 128
	if len(id) < shortest || len(id) > longest ||
		strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") != "" {
		return ""
	}
	path, newest := "", time.Time{}
	take := func(file string) {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() &&
			(path == "" || info.ModTime().After(newest)) {
			path, newest = file, info.ModTime()
		}
	}
	for _, p := range Places(e) {
		switch {
		case p.Agent != agent:
		case agent == "claude-code": // a folder for each project
			projects, _ := os.ReadDir(p.Root)
			for _, dir := range projects {
				take(filepath.Join(p.Root, dir.Name(), id+".jsonl"))
			}
		default:
			for _, file := range filesNamed(p.Root, id) {
				take(file)
			}
		}
	}
	return path
}

// filesNamed returns the files below a folder that have a text in their names. It visits at most the
// given number of entries.
func filesNamed(root, text string) (out []string) {
	const deepest, most = 6, 100_000
	seen := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > most {
			return fs.SkipAll
		}
		if rel, _ := filepath.Rel(root, path); d.IsDir() &&
			strings.Count(rel, string(filepath.Separator)) >= deepest {
			return fs.SkipDir
		}
		if ext := filepath.Ext(path); !d.IsDir() && (ext == ".jsonl" || ext == ".json") &&
			strings.Contains(filepath.Base(path), text) {
			out = append(out, path)
		}
		return nil
	})
	return out
}
