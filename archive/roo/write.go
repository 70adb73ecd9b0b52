package roo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/atomicfile"
)

// change is the new content of one file of a task.
type change struct {
	path      string // with links resolved
	old, data []byte // nil: the file does not exist
	backup    backup

	content func() ([]byte, error) // returns data
	read    *[]byte                // where to store the bytes read or written last
	kept    string                 // path of the backup that was made; "" if none
}

// backup says when the former content of a file is backed up next to it.
type backup int

const (
	backupNever backup = iota
	backupFirst        // before the first write
	backupEach         // before each write, under a new name
)

// writeAll writes the files in order. If one fails, it restores the former content of the files
// before it. New files get the owner of the file like.
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
	if err := c.backUp(like); err != nil {
		return err
	}
	if err := put(c.path, c.data, like); err != nil {
		c.removeBackup()
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

// backUp backs up the former content next to the file.
func (c *change) backUp(like string) error {
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

// removeBackup removes the backup made for a write that failed.
func (c *change) removeBackup() {
	if c.kept != "" {
		_ = os.Remove(c.kept) // a leftover file is harmless
		c.kept = ""
	}
}

// revert restores the former content of files after a later write failed. It returns the cause,
// and if a file cannot be restored, names it in the hint.
func revert(written []change, like string, cause error) error {
	for i := len(written) - 1; i >= 0; i-- {
		c := &written[i]
		if c.same() {
			continue
		}
		if err := put(c.path, c.old, like); err != nil {
			return changedAlready(c, cause)
		}
		c.removeBackup()
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

// target returns the path of the history file with links resolved.
func (t *Task) target() string {
	if path, err := filepath.EvalSymlinks(t.Path); err == nil {
		return path
	}
	return t.Path
}

// uiTarget returns the path of the UI messages with links resolved. A link to a file with another
// name is not followed but replaced, as it may lead anywhere.
func (t *Task) uiTarget() string {
	if path, err := filepath.EvalSymlinks(t.uiPath()); err == nil && filepath.Base(path) == UIName {
		return path
	}
	return t.uiPath()
}
