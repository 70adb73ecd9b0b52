package formats

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/archive/claudecode"
)

const (
	mostSearched = 256 << 20 // bytes read of a folder to find what a session was forked from
	mostForks    = 16        // forks of forks; files that name each other as parents end here
)

// withParent returns a session of Claude Code that was forked after a compaction with what it was
// forked from before it. Its file begins with the boundary, which the file of the parent in the same
// folder holds, too. Without one it returns the session as it is.
func withParent(src archive.Source, forks int) archive.Source {
	id, at := claudecode.ForkedAt(src.Data)
	if at == "" || forks == 0 {
		return src
	}
	folder, own := filepath.Split(src.Path)
	entries, err := os.ReadDir(filepath.Dir(src.Path))
	if err != nil {
		return src
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".jsonl" && e.Name() != own {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	left := int64(mostSearched)
	for _, f := range files {
		if left -= f.Size(); left < 0 {
			break
		}
		parent := archive.Source{Path: folder + f.Name()}
		if parent.Data, err = archive.ReadFile(parent.Path); err != nil {
			continue
		}
		boundary := max(bytes.Index(parent.Data, []byte(`"uuid":"`+at+`"`)), 0)
		begin := bytes.LastIndexByte(parent.Data[:boundary], '\n') + 1
		if begin == 0 || begin+len(src.Data) > archive.MaxBytes {
			continue
		}
		parent.Data = parent.Data[:begin]
		named := func(session string) []byte { return []byte(`"sessionId":"` + session + `"`) }
		before := bytes.ReplaceAll(withParent(parent, forks-1).Data,
			named(strings.TrimSuffix(f.Name(), ".jsonl")), named(id))
		return archive.Source{Path: src.Path, Data: slices.Concat(before, src.Data)}
	}
	return src
}
