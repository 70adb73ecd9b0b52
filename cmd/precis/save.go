package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/archive/roo"
	"precis/internal/atomicfile"
)

// containerSuffix is the end of the names of precis's own files.
const containerSuffix = ".precis"

// save keeps edits: in the file at path, precis's own. An empty path means the
// recording itself when it is such a file, else NAME.precis in the current
// folder. It returns where they are.
func (j *job) save(path string, edits []precis.Edit) (string, error) {
	data, err := os.ReadFile(j.rec.Path)
	if err != nil {
		return "", &precis.Error{Code: precis.CodeNotFound, Op: "save", Place: j.rec.Path, Err: err}
	}
	var c *archive.Container
	if archive.IsContainer(data) {
		if c, err = archive.ParseContainer(data); err != nil {
			return "", err
		}
		if path == "" {
			path = j.rec.Path
		}
	} else {
		c = archive.NewContainer(j.rec.Format, j.rec.Path, data)
	}
	if path == "" {
		path = strings.TrimSuffix(filepath.Base(j.rec.Path), filepath.Ext(j.rec.Path)) + containerSuffix
	}
	if err := mayReplace(path, j.rec.Path, archive.IsContainer(data), c); err != nil {
		return "", err
	}
	c.Edits = append(c.Edits, edits...)
	out, err := c.Bytes()
	if err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, out)
}

// mayReplace refuses to write over anything but precis's own file: the one that
// was read, or one of the same conversation without edits.
func mayReplace(path, source string, own bool, c *archive.Container) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || own && filepath.Clean(path) == filepath.Clean(source) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return &precis.Error{Code: precis.CodeInvalid, Op: "save", Place: path, Err: errors.New("this is no regular file"), Hint: "precis view prints the messages"}
	}
	old, err := os.ReadFile(path)
	refuse := func(why string) error {
		return &precis.Error{Code: precis.CodeConflict, Op: "save", Place: path, Err: errors.New(why), Hint: "name another file with -o, or work on " + path + " itself"}
	}
	if err != nil || !archive.IsContainer(old) {
		return refuse("the file exists and is not precis's own")
	}
	o, err := archive.ParseContainer(old)
	if err != nil || o.SHA256 != c.SHA256 {
		return refuse("the file exists and holds another conversation")
	}
	if len(o.Edits) > 0 {
		return refuse("the file exists and holds edits of this conversation")
	}
	return nil
}

// record keeps edits where the conversation lives: in a Roo task folder when
// write is set, else in precis's own file. It returns where they are.
func (j *job) record(ctx context.Context, write bool, path string, edits []precis.Edit) (string, error) {
	if j.rec.Path == "" {
		return "", &precis.Error{Code: precis.CodeInvalid, Op: "save", Err: errors.New("the recording came from standard input"), Hint: "use precis view for the messages, or name a file"}
	}
	if !write {
		return j.save(path, edits)
	}
	task, err := roo.OpenTask(j.rec.Path)
	if err != nil {
		return "", err
	}
	return filepath.Dir(j.rec.Path), task.Record(ctx, edits, time.Now())
}

// checkWrite refuses --write for what is no task folder.
func (j *job) checkWrite(write bool) error {
	if write && !j.isTask() {
		return &precis.Error{Code: precis.CodeInvalid, Op: "write", Place: j.rec.Path, Err: errors.New("only Roo and Cline task folders can be written in place"), Hint: "use -o FILE; precis keeps the original and its edits there"}
	}
	return nil
}

// undo takes edits back where they are recorded.
func (j *job) undo(ctx context.Context, ids []string) (string, error) {
	if j.isTask() {
		task, err := roo.OpenTask(j.rec.Path)
		if err != nil {
			return "", err
		}
		return filepath.Dir(j.rec.Path), task.Undo(ctx, ids...)
	}
	e, err := j.manager.Undo(ctx, j.conv, ids...)
	if err != nil {
		return "", err
	}
	return j.save("", []precis.Edit{e})
}

// original returns the recording's own bytes.
func original(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: "read", Place: path, Err: err}
	}
	if !archive.IsContainer(data) {
		return data, nil
	}
	c, err := archive.ParseContainer(data)
	if err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: path, Err: err}
	}
	return c.Original, nil
}
