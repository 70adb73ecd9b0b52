package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
)

var (
	errUnknown  = errors.New("this program is not known")
	errReadOnly = errors.New("it is read-only")
)

// part is the wanted state of one file.
type part struct {
	path string
	// add returns the file with precis's parts added. Before is the file without them; empty: no
	// file. Nil: the program itself writes precis's parts.
	add func(before []byte) ([]byte, error)
	// remove returns the file without precis's parts, or the same bytes if it has none. Nil: the
	// file becomes empty. Was is the file before precis; nil: no file, or unknown.
	remove func(now, was []byte) ([]byte, error)
	folder string // created by the program for precis; removed when empty
}

// whole is a file that belongs to precis.
func whole(path string, content []byte) part {
	return part{
		path: path,
		add:  func([]byte) ([]byte, error) { return content, nil },
		remove: func(now, _ []byte) ([]byte, error) {
			if bytes.Contains(now, []byte("precis")) {
				return nil, nil
			}
			return now, nil // not by precis
		},
	}
}

// Change is the change to one file.
type Change struct {
	Path   string `json:"path"`   // with links resolved
	Before []byte `json:"before"` // nil: the file does not exist
	After  []byte `json:"after"`  // nil: the file is removed
	Saved  string `json:"saved"`  // copy of a precis file that the user has changed; "": no copy

	mode fs.FileMode // mode of the file when the plan is applied
}

// Plan holds the changes of an installation or removal.
type Plan struct {
	Host    Host
	Removes bool
	Changes []Change // without unchanged files

	machine Machine
	known   string   // hash of the manifest when the plan was made
	kept    manifest // to be stored after the changes
	folders []string // folders to remove, the deepest first
}

// manifest is the stored record of an installation.
type manifest struct {
	Version string   `json:"version"` // of precis
	Binary  string   `json:"binary"`
	Files   []file   `json:"files"`
	Folders []string `json:"folders"` // created folders, the deepest first

	hash string // of the manifest file; "": it does not exist
}

// file is one file of an installation.
type file struct {
	Path     string `json:"path"`
	Existed  bool   `json:"existed"`
	Original []byte `json:"original,omitempty"`
	Hash     string `json:"hash"` // of the content that was written
}

func (h Host) manifestPath(m Machine) string {
	return filepath.Join(m.Data, "installed", h.Name+".json")
}

// manifest reads the stored manifest; the zero value if there is no file.
func (h Host) manifest(m Machine) (out manifest, err error) {
	path := h.manifestPath(m)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return manifest{}, &precis.Error{Code: precis.CodeInvalid, Op: "read what was installed", Place: path,
			Err: err, Hint: "remove the file to begin anew"}
	}
	for i, f := range out.Files { // the user may have replaced it by a link
		out.Files[i].Path = resolveLinks(f.Path)
	}
	out.hash = hash(data)
	return out, nil
}

func (f manifest) find(path string) (file, bool) {
	i := slices.IndexFunc(f.Files, func(f file) bool { return f.Path == path })
	if i < 0 {
		return file{}, false
	}
	return f.Files[i], true
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Plan computes the changes of an installation. A second installation changes only outdated parts,
// such as the path of precis. If a file cannot be parsed, the error names it and no plan is made.
func (h Host) Plan(m Machine) (*Plan, error) {
	was, err := h.manifest(m)
	if err != nil {
		return nil, err
	}
	p := &Plan{Host: h, machine: m, known: was.hash,
		kept: manifest{Version: m.Version, Binary: m.Binary, Folders: was.Folders}}
	for _, part := range h.parts(m) {
		if part.add == nil {
			continue
		}
		path, now, err := look(part.path)
		if err != nil {
			return nil, err
		}
		base, err := part.base(now, path, was)
		if err != nil {
			return nil, fault(path, err)
		}
		after, err := part.add(base)
		if err != nil {
			return nil, fault(path, err)
		}
		p.kept.Files = append(p.kept.Files,
			file{Path: path, Existed: base != nil, Original: base, Hash: hash(after)})
		if now == nil || !bytes.Equal(now, after) {
			c := Change{Path: path, Before: now, After: after}
			if now != nil && base == nil {
				if f, ok := was.find(path); !ok || f.Hash != hash(now) {
					c.Saved = savedAs(path) // the user has changed precis's own file
				}
			}
			p.Changes = append(p.Changes, c)
		}
	}
	// Files that only an older version wrote.
	for _, f := range was.Files {
		if _, ok := p.kept.find(f.Path); ok {
			continue
		}
		if c, err := f.restoreChange(nil); err == nil && c != nil {
			p.Changes = append(p.Changes, *c)
		}
	}
	return p, nil
}

// base returns the file without precis's parts; nil: no file.
func (p part) base(now []byte, path string, was manifest) ([]byte, error) {
	f, known := was.find(path)
	switch {
	case now == nil:
		return nil, nil
	case known && f.Hash == hash(now):
		if !f.Existed {
			return nil, nil
		}
		return nonNil(f.Original), nil
	}
	return p.remove(now, f.Original)
}

func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// look resolves links and reads a file; nil data: no file.
func look(path string) (real string, data []byte, err error) {
	real = resolveLinks(path)
	data, err = os.ReadFile(real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return real, nil, nil
	case err != nil:
		return real, nil, fault(real, err)
	}
	return real, nonNil(data), nil
}

// resolveLinks resolves the links of a path. The target may not exist.
func resolveLinks(path string) string {
	for range 40 { // the usual limit of systems
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir := filepath.Dir(path)
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real // ".." refers to the real folder, not to a link
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return path
}

// savedAs returns an unused name for the copy of a changed file.
func savedAs(path string) string {
	name := path + ".saved"
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.saved%d", path, i)
	}
}

func fault(path string, err error) error {
	if _, ok := errors.AsType[*precis.Error](err); ok {
		return err
	}
	return &precis.Error{Code: precis.CodeInvalid, Op: "read settings", Place: path, Err: err,
		Hint: "nothing was changed; mend the file, or move it away"}
}

// Removal computes the changes that restore the original files. If the user has changed a file
// since, only precis's parts are removed.
func (h Host) Removal(m Machine) (*Plan, error) {
	was, err := h.manifest(m)
	if err != nil {
		return nil, err
	}
	p := &Plan{Host: h, Removes: true, machine: m, known: was.hash, folders: was.Folders}
	parts := h.parts(m)
	for _, f := range was.Files {
		var remove func(now, was []byte) ([]byte, error)
		for _, part := range parts {
			if path, _, err := look(part.path); err == nil && path == f.Path {
				remove = part.remove
			}
		}
		c, err := f.restoreChange(remove)
		if err != nil {
			return nil, fault(f.Path, err)
		}
		if c != nil {
			p.Changes = append(p.Changes, *c)
		}
	}
	// Without a manifest, precis's parts are recognized by content, as are parts by the program
	// itself.
	for _, part := range parts {
		if part.folder != "" {
			p.folders = append([]string{part.folder}, p.folders...)
		}
		path, now, err := look(part.path)
		if err != nil {
			return nil, err
		}
		if _, known := was.find(path); now == nil || known || len(was.Files) > 0 && part.add != nil {
			continue
		}
		rest, err := part.remove(now, nil)
		if err != nil {
			return nil, fault(path, err)
		}
		if rest == nil || !bytes.Equal(rest, now) {
			p.Changes = append(p.Changes, Change{Path: path, Before: now, After: rest})
		}
	}
	return p, nil
}

// restoreChange returns the change that restores a file; nil: no change is needed.
func (f file) restoreChange(remove func(now, was []byte) ([]byte, error)) (*Change, error) {
	_, now, err := look(f.Path)
	if err != nil || now == nil {
		return nil, err
	}
	c := &Change{Path: f.Path, Before: now}
	if hash(now) == f.Hash {
		if f.Existed {
			c.After = nonNil(f.Original)
		}
		return c, nil
	}
	if remove == nil { // a file that only an older version wrote: if changed, the user keeps it
		return nil, nil
	}
	rest, err := remove(now, f.Original)
	if err != nil {
		return nil, err
	}
	switch {
	case rest == nil:
		c.Saved = savedAs(f.Path)
		if f.Existed {
			c.After = nonNil(f.Original)
		}
	case bytes.Equal(rest, now):
		return nil, nil
	case f.Existed || !empty(rest):
		c.After = rest
	}
	return c, nil
}

// empty reports whether settings have no content, not even a comment.
func empty(settings []byte) bool {
	text := strings.Join(strings.Fields(strings.TrimPrefix(string(settings), "\ufeff")), "")
	return text == "" || text == "{}"
}

// Installed is the state of an installation.
type Installed struct {
	Version string `json:"version"` // of precis; "": not installed
	Binary  string `json:"binary"`
	Changed bool   `json:"changed"` // a file is missing or was changed since
}

// Installed reports whether precis is installed in the program.
func (h Host) Installed(m Machine) (Installed, error) {
	was, err := h.manifest(m)
	if err != nil || len(was.Files) == 0 {
		return Installed{}, err
	}
	out := Installed{Version: was.Version, Binary: was.Binary}
	for _, f := range was.Files {
		_, now, err := look(f.Path)
		if err != nil {
			return out, err
		}
		out.Changed = out.Changed || now == nil || hash(now) != f.Hash
	}
	return out, nil
}

// String describes a change in a word.
func (c Change) String() string {
	switch {
	case c.Before == nil:
		return fmt.Sprintf("new      %s", c.Path)
	case c.After == nil:
		return fmt.Sprintf("removed  %s", c.Path)
	}
	return fmt.Sprintf("changed  %s", c.Path)
}
