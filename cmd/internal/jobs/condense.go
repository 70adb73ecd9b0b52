package jobs

import (
	"context"

	"precis"
	"precis/preset"
)

// Condensing says how a recording is to be condensed.
type Condensing struct {
	Out        string // precis's own file to write; "": next to the recording
	Write      bool   // the task folder itself
	Sidecar    bool   // with Write: also edits that only precis understands
	DryRun     bool   // nothing is written
	Summarizer string // way of summarizing; "": as configured
}

// Condense opens a recording with the way of summarizing that the user wants.
func (o *Opener) Condense(ctx context.Context, path string, c Condensing) (*Job, error) {
	j, err := o.begin(ctx, path)
	if err != nil {
		return nil, err
	}
	err = o.keep(j, c.Out, c.Write)
	if c.DryRun && (path == "-" || precis.CodeOf(err) == precis.CodeConflict) {
		err = nil // nothing is written
	}
	if err != nil {
		return nil, err
	}
	if j.models, err = o.condensing(ctx, j, c.Summarizer, c.DryRun); err != nil {
		return nil, err
	}
	if j.models != nil {
		j.alert = o.alert(j.Config.Hooks.Alert)
	}
	if c.Write {
		if err := j.restrict(c.Sidecar); err != nil {
			return nil, err
		}
	}
	return j, j.manage()
}

// restrict prepares a job for a task folder: its truncation is Roo's, and
// without the sidecar only rungs that Roo's files can express are climbed. Selective
// condensation, where it is chosen, becomes patches of the history file.
func (j *Job) restrict(sidecar bool) (err error) {
	if j.leave, err = j.File.Task.History.Orphaned(); err != nil {
		return err
	}
	if !sidecar {
		j.Config.Settings.Rungs = []string{"truncate"}
		if j.models != nil && (j.models.Selective || j.Config.Settings.Preset == preset.Selective) {
			j.Config.Settings.Rungs = []string{"selective", "truncate"}
			j.File.Task.Patch = true
		}
	}
	return nil
}
