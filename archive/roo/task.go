package roo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"precis"
	"precis/archive"
	"precis/internal/atomicfile"
)

// BackupSuffix is added to the name of a file to keep its content before the
// last write.
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
	return t.write(ctx, func() error {
		if _, err := Rewind(t.History, t.UI, target); err != nil {
			return err
		}
		t.trim()
		return t.retireOutputs()
	})
}

// RewindToMessage keeps the first n messages of the conversation and the
// summaries and markers before the next; UI messages from its time on go.
func (t *Task) RewindToMessage(ctx context.Context, n int) error {
	r, err := t.History.read(t.UI)
	if err != nil {
		return err
	}
	if n < 0 || n >= len(r.entryOf) {
		return precis.Errorf(precis.CodeNotFound, "rewind", "message %d: the task has %d", n, len(r.entryOf))
	}
	cut := r.entryOf[n]
	ts := t.History.entries[cut].ts
	if t.UI != nil && ts > 0 {
		at := t.UI.Len()
		for i := range t.UI.Len() {
			if t.UI.msgs[i].ts >= ts {
				at = i
				break
			}
		}
		return t.Rewind(ctx, Target{ByIndex: true, Index: at, Now: ts})
	}
	return t.write(ctx, func() error {
		t.History.list.keep(func(i int) bool { return i < cut })
		t.History.scan()
		t.History.Clean()
		t.trim()
		return nil
	})
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

// write makes a change under Roo's lock: it checks that the history on disk is
// still the one that was read, lets change do its work in memory, and replaces
// the files. When anything fails nothing is written, or what was written stays
// complete: the history is replaced before the UI messages, which only show it.
func (t *Task) write(ctx context.Context, change func() error) error {
	unlock, err := lock(ctx, t.Path)
	if err != nil {
		return err
	}
	defer unlock()
	data, err := os.ReadFile(t.Path)
	if err != nil {
		return fileError("write", t.Path, err)
	}
	if !bytes.Equal(data, t.onDisk) {
		return &precis.Error{Code: precis.CodeConflict, Op: "write", Place: t.Path, Err: errors.New("the task has changed since it was read"), Hint: "try again"}
	}
	var ui []byte
	if t.UI != nil {
		ui = t.UI.Bytes()
	}
	if err := change(); err != nil {
		return err
	}
	if err := t.writeSidecar(); err != nil {
		return err
	}
	if err := replace(t.Path, data, t.History.Bytes()); err != nil {
		return err
	}
	t.onDisk = t.History.Bytes()
	if t.UI != nil {
		return replace(filepath.Join(t.dir(), UIName), ui, t.UI.Bytes())
	}
	return nil
}

// replace writes the new content of a file and keeps the old beside it.
func replace(path string, old, data []byte) error {
	if bytes.Equal(old, data) {
		return nil
	}
	if err := atomicfile.Write(path+BackupSuffix, old); err != nil {
		return err
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
