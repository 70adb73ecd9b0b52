package recording

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// taskKeeper keeps edits in a Roo task folder, as tags or in the sidecar. It keeps no undo edits,
// except for a run that replaces earlier ones: an undo removes the edits it names.
type taskKeeper struct {
	task  *roo.Task
	stale bool // the folder may have changed since the task was read
}

func (k *taskKeeper) where() string { return filepath.Dir(k.task.Path) }

func (k *taskKeeper) refresh() (*precis.Conversation, error) {
	if !k.stale {
		return nil, nil
	}
	task, err := roo.OpenTask(k.task.Path)
	if err != nil {
		return nil, err
	}
	k.task, k.stale = task, false
	return task.Conversation, nil
}

func (k *taskKeeper) record(ctx context.Context, made []precis.Edit) error {
	k.stale = true
	back := slices.IndexFunc(made,
		func(e precis.Edit) bool { return e.Kind == precis.KindUndo && e.Run != "" })
	if back >= 0 && len(made) > 1 { // a run that starts again from the originals
		return k.task.Replace(ctx, made[back], slices.Concat(made[:back], made[back+1:]), time.Now())
	}
	var edits []precis.Edit
	var undone []string
	for _, e := range made {
		if e.Kind == precis.KindUndo {
			undone = append(undone, e.Undoes...)
		} else {
			edits = append(edits, e)
		}
	}
	if len(undone) > 0 {
		if err := k.task.Undo(ctx, undone...); err != nil {
			return err
		}
	}
	if len(edits) == 0 {
		return nil
	}
	return k.task.Record(ctx, edits, time.Now())
}

// KeptInTask says which files of a task folder hold edits.
type KeptInTask struct {
	Files []string // the editor's own, which it reads
	// the path of [roo.StateName] if it holds the hidden range of a Cline task; "": it does not
	Range  string
	Hidden precis.Handle // with Range: the messages that Cline does not send
	Beside int           // edits that only precis shows, kept in [roo.SidecarName]
}

// KeptInTask returns the files that keep the edits of a task folder written in place; ok is false
// for other recordings.
func (f *File) KeptInTask(edits []precis.Edit) (k KeptInTask, ok bool) {
	keeper, ok := f.keep.(*taskKeeper)
	if !ok {
		return k, false
	}
	rows := false
	for _, e := range edits {
		tags, patches := keeper.task.Says(e)
		switch {
		case e.Kind == precis.KindUndo:
		case keeper.task.Ranged(e):
			k.Range, k.Hidden = keeper.task.StatePath(), precis.SpanHandle(e.Replace[0].From, e.Replace[0].To)
		case tags || patches:
			k.Files, rows = []string{filepath.Base(keeper.task.Path)}, rows || tags
		default:
			k.Beside++
		}
	}
	if rows && keeper.task.UI != nil {
		k.Files = append(k.Files, roo.UIName)
	}
	return k, true
}
