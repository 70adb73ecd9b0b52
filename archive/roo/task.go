package roo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/internal/atomicfile"
)

// BackupSuffix is added to the name of a file to keep its content before the
// first write, and, numbered, before each rewind.
const BackupSuffix = ".precis-backup"

// Task is a task folder that can be written to. It is not safe for concurrent
// use; across processes Roo's lock protects it.
type Task struct {
	Path    string // of the history file
	History *History
	UI      *UI // nil when there are no UI messages
	Files   []FileInContext

	Conversation *precis.Conversation
	Warnings     []archive.Warning

	item    item
	sidecar sidecar
	onDisk  []byte // the history as it was read

	uiOnDisk []byte
}

// OpenTask reads a task folder, given the folder or its history file. The
// errors are those of [archive.Open].
func OpenTask(path string) (*Task, error) {
	rec, err := archive.Open(path, []archive.Format{Format{}}, HistoryNames...)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(rec.Path)
	if err != nil {
		return nil, fileError("open", rec.Path, err)
	}
	t := &Task{Path: rec.Path, onDisk: data}
	if t.History, err = ParseHistory(data); err != nil {
		return nil, err
	}
	note := &archive.Recording{}
	t.readBeside(note)
	if t.UI != nil {
		t.uiOnDisk = t.UI.Bytes()
	}
	t.Conversation, err = t.conversation(note)
	t.Warnings = note.Warnings
	return t, err
}

// Record writes edits that a Manager made on the task's conversation: as tags
// and UI events where Roo has them, to the sidecar otherwise.
func (t *Task) Record(ctx context.Context, edits []precis.Edit, now time.Time) error {
	return t.write(ctx, func() error {
		ms := float64(now.UnixMilli())
		for _, e := range edits {
			if CanTag(e) {
				if err := t.History.Apply(e, ms); err != nil {
					return err
				}
				if t.UI != nil {
					t.UI.Record(e, ms)
				}
			}
			t.sidecar.add(e)
		}
		return nil
	})
}

// Undo takes edits back: their tags, messages and UI events go, and the files
// have the bytes they had before. The error is [precis.CodeNotFound] for an ID
// that is not there; nothing is written then.
func (t *Task) Undo(ctx context.Context, ids ...string) error {
	return t.write(ctx, func() error {
		for _, id := range ids {
			tagged := t.History.Remove(id)
			if whole := t.sidecar.remove(id); !tagged && !whole {
				return precis.Errorf(precis.CodeNotFound, "undo", "the task has no edit %s", id)
			}
			if t.UI != nil {
				t.UI.Forget(id)
			}
		}
		return nil
	})
}

// Rewind returns the task to a UI message, see [Rewind]. Command outputs that no
// remaining message names are moved to a backup folder.
func (t *Task) Rewind(ctx context.Context, target Target) error {
	if t.UI == nil {
		return precis.Errorf(precis.CodeNotFound, "rewind", "%s holds no %s; rewind by message instead", t.dir(), UIName)
	}
	err := t.writeKeeping(ctx, func() error {
		_, err := Rewind(t.History, t.UI, target)
		t.trim()
		return err
	})
	if err != nil {
		return err
	}
	return t.retireOutputs()
}

// RewindToMessage keeps the first n messages of the conversation and the
// summaries and markers stored between them. UI messages from the time of the
// next message on go, and with them what their events recorded. The error is
// [precis.CodeNotFound] when there is no message n.
func (t *Task) RewindToMessage(ctx context.Context, n int) error {
	r, err := t.History.read(t.UI)
	if err != nil {
		return err
	}
	if n < 0 || n >= len(r.entryOf) {
		return precis.Errorf(precis.CodeNotFound, "rewind", "message %d: the task has %d", n, len(r.entryOf))
	}
	cut := r.entryOf[n]
	err = t.writeKeeping(ctx, func() error {
		gone := t.UI.cutAt(t.History.entries[cut].ts)
		t.History.list.keep(func(i int) bool {
			e := t.History.entries[i]
			return i < cut && !(e.summary && gone[e.condenseID]) && !(e.marker && gone[e.truncationID])
		})
		t.History.scan()
		t.History.Clean()
		t.trim()
		return nil
	})
	if err != nil || t.UI == nil {
		return err
	}
	return t.retireOutputs()
}

// trim makes the sidecar forget what a rewind took away.
func (t *Task) trim() {
	said := t.History.Len() - len(t.History.plan().shows)
	tags := map[string]bool{}
	for _, e := range t.History.entries {
		tags[e.condenseID], tags[e.truncationID] = true, true
	}
	t.sidecar.trim(said, tags)
}

// write makes a change under Roo's locks: it checks that the files on disk are
// still those that were read, lets change do its work in memory, and replaces
// them. When anything fails nothing is written, or what was written stays
// complete: the history is replaced before the UI messages, which only show it.
// The content before the first write is kept beside the files.
func (t *Task) write(ctx context.Context, change func() error) error {
	return t.change(ctx, change, false)
}

// writeKeeping is write for changes that cannot be undone: it keeps the former
// content each time.
func (t *Task) writeKeeping(ctx context.Context, change func() error) error {
	return t.change(ctx, change, true)
}

func (t *Task) change(ctx context.Context, change func() error, always bool) error {
	files := []string{t.Path}
	if t.UI != nil {
		files = append(files, t.uiPath())
	}
	for _, path := range files {
		unlock, err := lock(ctx, path)
		if err != nil {
			return err
		}
		defer unlock()
	}
	for i, path := range files {
		if err := unchanged(path, [][]byte{t.onDisk, t.uiOnDisk}[i]); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	if err := t.writeSidecar(); err != nil {
		return err
	}
	if err := replace(t.Path, t.onDisk, t.History.Bytes(), always); err != nil {
		return err
	}
	t.onDisk = t.History.Bytes()
	if t.UI == nil {
		return nil
	}
	old := t.uiOnDisk
	t.uiOnDisk = t.UI.Bytes()
	return replace(t.uiPath(), old, t.uiOnDisk, always)
}

func (t *Task) uiPath() string { return filepath.Join(t.dir(), UIName) }

// unchanged returns a conflict when a file is not what was read.
func unchanged(path string, read []byte) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fileError("write", path, err)
	}
	if !bytes.Equal(data, read) {
		return &precis.Error{Code: precis.CodeConflict, Op: "write", Place: path, Err: errors.New("the file has changed since it was read"), Hint: "try again"}
	}
	return nil
}

// replace writes the new content of a file and keeps the old beside it: the
// first time, and each time when always is set, under a new name.
func replace(path string, old, data []byte, always bool) error {
	if bytes.Equal(old, data) {
		return nil
	}
	backup := path + BackupSuffix
	_, err := os.Stat(backup)
	for n := 2; always && err == nil; n++ {
		backup = fmt.Sprintf("%s%s-%d", path, BackupSuffix, n)
		_, err = os.Stat(backup)
	}
	if err != nil {
		if err := atomicfile.Write(backup, old); err != nil {
			return err
		}
	}
	return atomicfile.Write(path, data)
}

func (t *Task) writeSidecar() error {
	path := filepath.Join(t.dir(), SidecarName)
	if t.sidecar.empty() {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fileError("write", path, err)
		}
		return nil
	}
	data, err := json.MarshalIndent(t.sidecar, "", "  ")
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "write sidecar", "%w", err)
	}
	return atomicfile.Write(path, append(data, '\n'))
}

// retireOutputs moves the command outputs that no remaining message names to a
// backup folder.
func (t *Task) retireOutputs() error {
	dir := filepath.Join(t.dir(), OutputsName)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil // most tasks have none
	}
	alive := map[string]bool{}
	for _, id := range Artifacts(t.History, t.UI) {
		alive[id] = true
	}
	for _, f := range files {
		id := strings.TrimSuffix(strings.TrimPrefix(f.Name(), "cmd-"), filepath.Ext(f.Name()))
		if f.IsDir() || alive[id] || strings.Trim(id, "0123456789") != "" {
			continue
		}
		backup := dir + BackupSuffix
		if err := os.MkdirAll(backup, 0o755); err != nil {
			return fileError("rewind", backup, err)
		}
		if err := os.Rename(filepath.Join(dir, f.Name()), filepath.Join(backup, f.Name())); err != nil {
			return fileError("rewind", filepath.Join(dir, f.Name()), err)
		}
	}
	return nil
}

func fileError(op, path string, err error) error {
	return &precis.Error{Code: precis.CodeInternal, Op: op, Place: path, Err: err}
}
