package roo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/filelock"
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

	// Patch makes [Task.Record] write edits that shorten single blocks into the history file, see
	// [CanPatch]. If false, they are only in the sidecar and only precis applies them.
	Patch bool

	Conversation *precis.Conversation
	Warnings     []archive.Warning

	item    item
	sidecar sidecar
	onDisk  []byte // the history as it was read

	uiOnDisk      []byte
	sidecarOnDisk []byte // nil if the file does not exist

	stateRange [2]int // the range read from [StateName]; 0, 0 if none
	stateNext  [2]int // the range to be written
}

// OpenTask reads a task folder, given the folder or its history file. It returns the errors of
// [archive.Open].
func OpenTask(path string) (*Task, error) {
	src, err := archive.Load(path, HistoryNames...)
	if err != nil {
		return nil, err
	}
	t, _, err := ReadTask(src)
	return t, err
}

// IsTask reports whether a file is the history of a task folder, by its name.
func IsTask(path string) bool { return slices.Contains(HistoryNames, filepath.Base(path)) }

// ReadTask reads a task folder from the source of its history file. It returns the task and the
// recording that [archive.Read] makes of it; both share the conversation.
func ReadTask(src archive.Source) (*Task, *archive.Recording, error) {
	t := &Task{onDisk: src.Data}
	rec, err := archive.Read(src, []archive.Format{taskFormat{task: t}})
	if err != nil {
		return nil, nil, err
	}
	t.Conversation, t.Warnings = rec.Conversation, rec.Warnings
	if t.UI != nil {
		t.uiOnDisk = t.UI.Bytes()
	}
	return t, rec, nil
}

// taskFormat is a [Format] that keeps the task it reads.
type taskFormat struct {
	Format
	task *Task
}

// Read reads the history in src.Data and the other files of its folder.
func (f taskFormat) Read(src archive.Source) (*archive.Recording, error) { return f.task.read(src) }

// Record writes edits that a Manager made on the task's conversation: as tags and UI events if
// Roo has them, as a range if Cline has one, else to the sidecar. If an edit was made on other
// messages than the task's, the error is [precis.CodeConflict] and no file is written.
func (t *Task) Record(ctx context.Context, edits []precis.Edit, now time.Time) error {
	if err := t.checkEdits(edits); err != nil {
		return err
	}
	return t.write(ctx, func() error { return t.record(edits, now) })
}

// checkEdits returns a conflict if an edit was made on messages that differ from the task's.
func (t *Task) checkEdits(edits []precis.Edit) error {
	for _, e := range edits {
		if said := t.Conversation.Transcript; e.Seen > said.Len() || said.Fingerprint(e.Seen) != e.At {
			return &precis.Error{Code: precis.CodeConflict, Op: "record edit", Place: t.Path,
				Err: errors.New("the task has changed since the edit was made"), Hint: "try again"}
		}
	}
	return nil
}

// record applies edits to the files in memory.
func (t *Task) record(edits []precis.Edit, now time.Time) error {
	ms := float64(now.UnixMilli())
	for _, e := range edits {
		if t.Ranged(e) { // Cline rewrites its last message when it resumes
			e.Seen, e.At = e.Replace[0].To, t.Conversation.Transcript.Fingerprint(e.Replace[0].To)
			t.sidecar.Ranged = append(t.sidecar.Ranged, e.ID)
		}
		bare, shown := splitTagged(t.Conversation.Transcript, e)
		if t.tags(bare) {
			if err := t.History.Apply(bare, ms); err != nil {
				return err
			}
			if t.UI != nil {
				t.UI.Record(bare, ms)
			}
			t.sidecar.tag(bare, shown)
		} else {
			t.sidecar.add(e)
		}
		if t.Patch && CanPatch(e) {
			t.sidecar.Patched = append(t.sidecar.Patched, e.ID)
		}
	}
	return nil
}

// Undo removes edits with their tags, messages and UI events, so that the files have their former
// bytes. Undoing a revoking edit, see [Task.Replace], restores the revoked edits. The error is
// [precis.CodeNotFound] for an unknown ID; no file is written then.
func (t *Task) Undo(ctx context.Context, ids ...string) error {
	return t.write(ctx, func() error {
		var edits []string
		var back []replaced
		for _, id := range ids {
			if was := t.sidecar.takeRevoked(id); was != nil {
				back = append(back, was...)
			} else {
				edits = append(edits, id)
			}
		}
		if err := t.remove(edits); err != nil {
			return err
		}
		return t.recordRevokedAgain(back, t.Conversation.Transcript.Len())
	})
}

// remove removes edits from the files in memory.
func (t *Task) remove(ids []string) error {
	for _, id := range t.History.byPlace(ids) {
		tagged := t.History.Remove(id)
		if whole := t.sidecar.remove(id); !tagged && !whole && id == clineEdit {
			return &precis.Error{Code: precis.CodeInvalid, Op: "undo", Place: t.Path,
				Err:  errors.New("these messages were hidden by Cline itself"),
				Hint: "restore a checkpoint of the task in the editor"}
		} else if !tagged && !whole {
			return precis.Errorf(precis.CodeNotFound, "undo", "the task has no edit %s", id)
		}
		if t.UI != nil {
			t.UI.Forget(id)
		}
	}
	return nil
}

// Rewind returns the task to a UI message, see [Rewind]. Command outputs that no remaining
// message references are moved to a backup folder.
func (t *Task) Rewind(ctx context.Context, target Target) error {
	if t.UI == nil {
		return precis.Errorf(precis.CodeNotFound, "rewind", "%s holds no %s; rewind by message instead",
			t.dir(), UIName)
	}
	err := t.writeKeeping(ctx, func() error {
		if _, err := Rewind(t.History, t.UI, target); err != nil {
			return err
		}
		return t.trim()
	})
	if err != nil {
		return err
	}
	return t.retireOutputs()
}

// RewindToMessage keeps the first n messages of the conversation and the summaries and markers
// stored between them. It removes the UI messages from the time of the next message on, and the
// summaries and markers that they record. The error is [precis.CodeNotFound] when there is no
// message n.
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
		return t.trim()
	})
	if err != nil || t.UI == nil {
		return err
	}
	return t.retireOutputs()
}

// trim removes data of the rewound messages from the sidecar, and restores the edits that removed
// runs had revoked.
func (t *Task) trim() error {
	said := t.History.Len() - len(t.History.entries.plan().shows)
	tags := map[string]bool{}
	for _, e := range t.History.entries {
		tags[e.condenseID], tags[e.truncationID] = true, true
	}
	t.sidecar.trim(said, tags)
	return t.recordRevokedAgain(t.sidecar.takeLaterThan(said), said)
}

// write makes a change under Roo's locks. It checks that the files on disk are still those it
// read, runs change in memory, and replaces the files: the history, then the UI messages, which
// only display it, then the sidecar. The sidecar goes first when it receives the originals of
// patches. If a write fails, all files get their former content back. The content before the
// first write is kept next to the files.
func (t *Task) write(ctx context.Context, change func() error) error {
	return t.change(ctx, change, backupFirst)
}

// writeKeeping is write for changes that cannot be undone: it keeps a backup each time.
func (t *Task) writeKeeping(ctx context.Context, change func() error) error {
	return t.change(ctx, change, backupEach)
}

func (t *Task) change(ctx context.Context, do func() error, b backup) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	files := t.files(b)
	for _, f := range files {
		if err := unchanged(f.path, f.old); err != nil {
			return err
		}
	}
	had := len(t.sidecar.Patches)
	if err := do(); err != nil {
		return err
	}
	state, unlockState, err := t.changeState(ctx)
	if err != nil {
		return err
	}
	defer unlockState()
	for i := range files {
		if files[i].data, err = files[i].content(); err != nil {
			return err
		}
	}
	last := len(files) - 1 // the sidecar
	first := len(t.sidecar.Patches) > had
	if state != nil {
		first = first || t.sidecar.Range != nil
		files = slices.Insert(files, last, *state)
		last++
	}
	if first { // save the originals before they are replaced
		files = append(files[last:], files[:last]...)
	}
	if err := writeAll(files, t.target()); err != nil {
		return err
	}
	for _, f := range files {
		*f.read = f.data
	}
	if state != nil {
		t.stateRange = t.stateNext
	}
	return nil
}

// files returns the files of the task in writing order, with the bytes that were read.
func (t *Task) files(b backup) []change {
	bytes := func(f func() []byte) func() ([]byte, error) {
		return func() ([]byte, error) { return f(), nil }
	}
	files := []change{{path: t.target(), old: t.onDisk, read: &t.onDisk, content: t.patched, backup: b}}
	if t.UI != nil {
		files = append(files, change{path: t.uiTarget(), old: t.uiOnDisk, read: &t.uiOnDisk,
			content: bytes(t.UI.Bytes), backup: b})
	}
	return append(files, change{path: t.sidecarPath(), old: t.sidecarOnDisk, read: &t.sidecarOnDisk,
		content: t.sidecar.bytes})
}

// lock locks the task's files, both under the paths that Roo uses and with links resolved.
func (t *Task) lock(ctx context.Context) (unlock func(), err error) {
	paths := []string{t.Path, t.target()}
	if t.UI != nil {
		paths = append(paths, t.uiPath(), t.uiTarget())
	}
	var held []func()
	unlock = func() {
		for _, f := range held {
			f()
		}
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue
		}
		f, err := filelock.Lock(ctx, path)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, f)
	}
	return unlock, nil
}

func (t *Task) uiPath() string { return filepath.Join(t.dir(), UIName) }

// unchanged returns a conflict if a file differs from the bytes read; nil means it did not exist.
func unchanged(path string, read []byte) error {
	data, err := archive.ReadFile(path)
	if err != nil && (read != nil || !errors.Is(err, os.ErrNotExist)) {
		return err
	}
	if !bytes.Equal(data, read) {
		return &precis.Error{Code: precis.CodeConflict, Op: "write", Place: path,
			Err: errors.New("the file has changed since it was read"), Hint: "try again"}
	}
	return nil
}

func (t *Task) sidecarPath() string { return filepath.Join(t.dir(), SidecarName) }

// retireOutputs moves the command outputs that no remaining message references to a backup
// folder.
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
