package recording

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"precis"
	"precis/archive/roo"
)

// taskKeeper keeps edits in a Roo task folder, as tags or in the sidecar. An undo
// edit is not kept there, but for that of a run which replaces earlier ones: what it names
// is removed.
type taskKeeper struct {
	task  *roo.Task
	stale bool // the folder has changed since the task was read
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
	back := slices.IndexFunc(made, func(e precis.Edit) bool { return e.Kind == precis.KindUndo && e.Run != "" })
	if back >= 0 && len(made) > 1 { // a run that goes on from the originals
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
	Files  []string      // the editor's own, which it reads
	Range  string        // the path of [roo.StateName], where the range of a Cline task says it; "": nowhere
	Hidden precis.Handle // with Range: the messages that Cline does not send
	Beside int           // edits that only precis shows, in [roo.SidecarName]
}

// KeptInTask returns where edits of a task folder that is written in place are kept; not ok:
// it is none.
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
