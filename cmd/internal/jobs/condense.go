package jobs

import (
	"context"
	"slices"
	"strings"

	"precis"
	"precis/preset"
	"precis/reduce"
)

// Condensing says how a recording is to be condensed.
type Condensing struct {
	Out        string // precis's own file to write; "": next to the recording
	Write      bool   // the task folder itself
	Sidecar    bool   // with Write: also edits that only precis understands
	DryRun     bool   // nothing is written
	Summarizer string // way of summarizing; "": as configured
	From       int    // the first message of the range that is to be condensed; 0: the first one, or no range
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
		if err := j.restrict(c); err != nil {
			return nil, err
		}
	}
	return j, j.manage()
}

// restrict prepares a job for a task folder: its condensations and truncations are Roo's, and
// without the sidecar only rungs that Roo's files can express are climbed. Truncation is for
// what does not fit otherwise, unless the user chose the rungs. Selective condensation, where
// it is chosen, becomes patches of the history file. A task of Cline can be told a range that it does not send, and no
// summary.
func (j *Job) restrict(c Condensing) (err error) {
	if j.leave, err = j.File.Task.History.Orphaned(); err != nil {
		return err
	}
	j.fromStart, j.Config.Settings.KeepHead = !c.Sidecar || c.From == 0, 0
	chosen := !strings.HasPrefix(j.Config.Origin("rungs"), "preset")
	j.toFit = !chosen
	if c.Sidecar {
		return nil
	}
	selective := j.models != nil && (j.models.Selective || j.Config.Settings.Preset == preset.Selective)
	rungs := []string{"condense", "digest", "truncate"}
	if j.File.Task.IsCline() {
		if rungs, err = j.cline(selective); err != nil {
			return err
		}
	}
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

// cline returns the rungs beside the selective one that the files of a Cline task can express: a range of messages is
// hidden. It is an error when they cannot say that, and results are not shortened either.
func (j *Job) cline(selective bool) ([]string, error) {
	from, ends, err := j.File.Task.ClineRange()
	switch {
	case err == nil:
		j.instead, j.toFit = []precis.Strategy{reduce.Range{From: from, Ends: ends}}, false
		return []string{"truncate"}, nil
	case selective:
		return nil, nil
	}
	return nil, err
}
