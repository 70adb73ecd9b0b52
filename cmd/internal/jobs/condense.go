package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"

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

// restrict prepares a job for a task folder: its condensations and truncations are Roo's, and
// without the sidecar only rungs that Roo's files can express are climbed. Truncation is for
// what does not fit otherwise, unless the user chose the rungs. Selective condensation, where
// it is chosen, becomes patches of the history file.
func (j *Job) restrict(sidecar bool) (err error) {
	if j.leave, err = j.File.Task.History.Orphaned(); err != nil {
		return err
	}
	j.fromStart, j.Config.Settings.KeepHead = true, 0
	chosen := !strings.HasPrefix(j.Config.Origin("rungs"), "preset")
	j.toFit = !chosen
	if sidecar {
		return nil
	}
	selective := j.models != nil && (j.models.Selective || j.Config.Settings.Preset == preset.Selective)
	if j.File.Task.IsCline() {
		if !selective {
			return &precis.Error{Code: precis.CodeInvalid, Op: "condense in place", Place: j.File.Path,
				Err:  errors.New("the files of a Cline task cannot say that messages are hidden: Cline keeps that in the state of the editor"),
				Hint: "use -o FILE, or --sidecar for precis alone; selective condensation (summarizer.selective with a model) shortens results in the task itself"}
		}
		j.Config.Settings.Rungs, j.File.Task.Patch = []string{"selective"}, true
		return nil
	}
	rungs := []string{"condense", "digest", "truncate"}
	if selective {
		rungs = append([]string{"selective"}, rungs...)
		j.File.Task.Patch = true
	}
	if chosen {
		rungs = slices.DeleteFunc(slices.Clone(j.Config.Settings.Rungs), func(name string) bool { return !slices.Contains(rungs, name) })
	}
	j.Config.Settings.Rungs = rungs
	return nil
}
