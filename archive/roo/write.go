package roo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"precis"
	"precis/internal/atomicfile"
)

// change is the new content of one file of a task.
type change struct {
	path      string // of the file itself, not of a link to it
	old, data []byte // nil: there is no such file
	backup    backup

	content func() ([]byte, error) // returns data
	read    *[]byte                // where a task notes what was read or written last
	kept    string                 // where the former content was put; "": nowhere, or it was there
}

// backup says when the former content of a file is kept next to it.
type backup int

const (
	backupNever backup = iota
	backupFirst        // before the first write
	backupEach         // before each write, under a new name
)

// writeAll writes the files in order. When one cannot be written those before get
// their former content back. New files get the owner of the file like.
func writeAll(all []change, like string) error {
	for i := range all {
		if err := all[i].write(like); err != nil {
			return revert(all[:i], like, err)
		}
	}
	return nil
}

func (c *change) same() bool {
	return bytes.Equal(c.old, c.data) && (c.old == nil) == (c.data == nil)
}

func (c *change) write(like string) error {
	if c.same() {
		return nil
	}
	if err := c.keep(like); err != nil {
		return err
	}
	if err := put(c.path, c.data, like); err != nil {
		c.forget()
		return err
	}
	return nil
}

// put writes a file, or removes it when data is nil.
func put(path string, data []byte, like string) error {
	if data != nil {
		return atomicfile.WriteAs(path, data, like)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError("write", path, err)
	}
	return nil
}

// keep puts the former content next to the file.
func (c *change) keep(like string) error {
	if c.backup == backupNever || c.old == nil {
		return nil
	}
	path := c.path + BackupSuffix
	_, err := os.Lstat(path)
	for n := 2; c.backup == backupEach && err == nil; n++ {
		path = fmt.Sprintf("%s%s-%d", c.path, BackupSuffix, n)
		_, err = os.Lstat(path)
	}
	if err == nil {
		return nil // the first content is there
	}
	if err := atomicfile.WriteAs(path, c.old, like); err != nil {
		return err
	}
	c.kept = path
	return nil
}

// forget removes the former content that was kept for a write that did not happen.
func (c *change) forget() {
	if c.kept != "" {
		_ = os.Remove(c.kept) // a file too many does no harm
		c.kept = ""
	}
}

// revert gives files their former content back after a later one could not be
// written. It returns the error of that one, and says what stays changed.
func revert(written []change, like string, cause error) error {
	for i := len(written) - 1; i >= 0; i-- {
		c := &written[i]
		if c.same() {
			continue
		}
		if err := put(c.path, c.old, like); err != nil {
			return changedAlready(c, cause)
		}
		c.forget()
	}
	return cause
}

func changedAlready(c *change, cause error) error {
	hint := c.path + " was changed already"
	if c.kept != "" {
		hint += "; its former content is in " + c.kept
	}
	return &precis.Error{Code: precis.CodeOf(cause), Op: "write", Err: cause, Hint: hint}
}

// target returns the file that the history's path, perhaps a link, leads to.
func (t *Task) target() string {
	if path, err := filepath.EvalSymlinks(t.Path); err == nil {
		return path
	}
	return t.Path
}

// uiTarget returns the file of the UI messages. A link to a file of another name is
// not followed: it is replaced, as it may lead anywhere.
func (t *Task) uiTarget() string {
	if path, err := filepath.EvalSymlinks(t.uiPath()); err == nil && filepath.Base(path) == UIName {
		return path
	}
	return t.uiPath()
}
