package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/atomicfile"
	"github.com/precis-dev/precis/internal/filelock"
)

// Apply carries out a plan. If a file cannot be written, it undoes the changes made so far.
func (p *Plan) Apply(ctx context.Context) (err error) {
	manifest := p.Host.manifestPath(p.machine)
	if err := os.MkdirAll(filepath.Dir(manifest), 0o700); err != nil {
		return &precis.Error{Code: precis.CodeInternal, Op: "make folder", Place: filepath.Dir(manifest),
			Err: err}
	}
	unlock, err := filelock.Own(ctx, manifest)
	if err != nil {
		return err
	}
	defer unlock()
	if was, err := p.Host.manifest(p.machine); err != nil {
		return err
	} else if was.hash != p.known {
		return meanwhile(manifest)
	}
	for i := range p.Changes {
		if err := p.Changes[i].checkUnchanged(); err != nil {
			return err
		}
	}
	done, made := 0, []string{}
	defer func() {
		if err == nil {
			return
		}
		for _, c := range slices.Backward(p.Changes[:done]) {
			c.undo()
		}
		for _, dir := range made {
			_ = os.Remove(dir) // fails if the folder is not empty
		}
	}()
	for _, c := range p.Changes {
		done++ // counted first, because a failed change may be partly done
		if err := c.apply(&made); err != nil {
			return err
		}
	}
	if !p.Removes {
		p.kept.Folders = append(slices.Clone(made), p.kept.Folders...)
		data, err := json.MarshalIndent(p.kept, "", "  ")
		if err != nil {
			return precis.Errorf(precis.CodeInternal, "write JSON", "%w", err)
		}
		return atomicfile.Write(manifest, append(data, '\n'))
	}
	for _, dir := range p.folders {
		_ = os.Remove(dir) // fails if the folder is not empty
	}
	if err := os.Remove(manifest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &precis.Error{Code: precis.CodeInternal, Op: "forget what was installed", Place: manifest,
			Err: err}
	}
	return nil
}

// checkUnchanged returns an error if a file has changed since the plan was made, or may not be written.
func (c *Change) checkUnchanged() error {
	_, now, err := look(c.Path)
	if err != nil {
		return err
	}
	if (now == nil) != (c.Before == nil) || !bytes.Equal(now, c.Before) {
		return meanwhile(c.Path)
	}
	info, err := os.Stat(c.Path)
	if err != nil {
		return nil // a new file
	}
	if c.mode = info.Mode().Perm(); c.mode&0o200 == 0 {
		return &precis.Error{Code: precis.CodeInvalid, Op: "write settings", Place: c.Path, Err: errReadOnly,
			Hint: "nothing was changed; allow writing, or add what --dry-run shows where the file comes from"}
	}
	return nil
}

func meanwhile(path string) error {
	return &precis.Error{Code: precis.CodeConflict, Op: "write settings", Place: path,
		Err: errors.New("it was changed meanwhile"), Hint: "run the command again"}
}

// undo restores the file as far as possible.
func (c Change) undo() {
	if c.Saved != "" {
		_ = os.Remove(c.Saved)
	}
	if c.Before == nil {
		_ = os.Remove(c.Path)
		return
	}
	if _, now, err := look(c.Path); err == nil && now != nil && bytes.Equal(now, c.Before) {
		return
	}
	if atomicfile.Write(c.Path, c.Before) == nil {
		_ = os.Chmod(c.Path, c.mode)
	}
}

// apply writes or removes the file, and appends the folders it creates.
func (c Change) apply(made *[]string) error {
	if c.Saved != "" {
		if err := atomicfile.Write(c.Saved, c.Before); err != nil {
			return err
		}
	}
	if c.After == nil {
		if err := os.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &precis.Error{Code: precis.CodeInternal, Op: "remove", Place: c.Path, Err: err}
		}
		return nil
	}
	var missing []string
	for dir := filepath.Dir(c.Path); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		missing = append(missing, dir)
	}
	*made = append(missing, *made...)
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return &precis.Error{Code: precis.CodeInternal, Op: "make folder", Place: filepath.Dir(c.Path),
			Err: err}
	}
	return atomicfile.Write(c.Path, c.After)
}
