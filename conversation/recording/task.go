package recording

import (
	"context"
	"path/filepath"
	"time"

	"precis"
	"precis/archive/roo"
)

// taskKeeper keeps edits in a Roo task folder, as tags or in the sidecar. An undo
// edit is not kept there: what it names is removed.
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
	var edits []precis.Edit
	var undone []string
	for _, e := range made {
		if e.Kind == precis.KindUndo {
			undone = append(undone, e.Undoes...)
		} else {
			edits = append(edits, e)
		}
	}
	if len(undone) > 0 { // a run that goes on from the originals takes back first
		if err := k.task.Undo(ctx, undone...); err != nil {
			return err
		}
	}
	if len(edits) == 0 {
		return nil
	}
	return k.task.Record(ctx, edits, time.Now())
}
