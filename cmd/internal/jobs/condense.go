package jobs

import (
	"context"
	"slices"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/preset"
	"github.com/precis-dev/precis/reduce"
)

// Condensing selects how to condense a recording.
type Condensing struct {
	Out        string // path for precis's own file; "": next to the recording
	Write      bool   // write to the task folder itself
	Sidecar    bool   // with Write: also edits that only precis understands
	DryRun     bool   // write no file
	Summarizer string // [byModel], [byDigest], or "" as configured
	From       int    // first message of the range to condense; 0: the first of all, or no range
}

// Condense opens a recording for condensing with the options c.
func (o *Opener) Condense(ctx context.Context, path string, c Condensing) (*Job, error) {
	j, err := o.begin(ctx, path)
	if err != nil {
		return nil, err
	}
	err = o.selectOutput(j, c.Out, c.Write)
	if c.DryRun && (path == "-" || precis.CodeOf(err) == precis.CodeConflict) {
		err = nil // a dry run writes no file, so the conflict does not matter
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

// restrict prepares a job for a task folder. Its condensations and truncations become Roo's, so
// without the sidecar only rungs that Roo's files can express are used. Truncation is the last
// resort, unless the user chose the rungs. Selective condensation becomes patches of the history
// file. A task of Cline can store a range of hidden messages, but no summary.
func (j *Job) restrict(c Condensing) (err error) {
	if j.keepVisible, err = j.File.Task.History.Orphaned(); err != nil {
		return err
	}
	j.fromStart, j.Config.Settings.KeepHead = !c.Sidecar || c.From == 0, 0
	chosen := !strings.HasPrefix(j.Config.Origin("rungs"), "preset")
	j.toFit = !chosen
	if c.Sidecar {
		return nil
	}
	s := j.Config.Settings
	selective := j.models != nil &&
		(j.models.Selective || s.Preset == preset.Selective || slices.Contains(s.Rungs, preset.Selective))
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
		rungs = slices.DeleteFunc(slices.Clone(j.Config.Settings.Rungs),
			func(name string) bool { return !slices.Contains(rungs, name) })
	}
	j.Config.Settings.Rungs = rungs
	return nil
}

// cline returns the rungs, besides the selective one, that the files of a Cline task can express:
// hiding a range. It returns an error if the task cannot store a range either and selective is
// false.
func (j *Job) cline(selective bool) ([]string, error) {
	from, ends, err := j.File.Task.ClineRange()
	switch {
	case err == nil:
		j.instead, j.toFit = []policy.Strategy{reduce.Range{From: from, Ends: ends}}, false
		return []string{"truncate"}, nil
	case selective:
		return nil, nil
	}
	return nil, err
}
