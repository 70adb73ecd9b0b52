package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"precis"
	"precis/archive/roo"
	"precis/cmd/internal/term"
)

// condenseFlags are the flags of precis condense.
type condenseFlags struct {
	out     string
	write   bool
	sidecar bool
	dryRun  bool
}

func (a *app) condenseCmd() *cobra.Command {
	var f condenseFlags
	cmd := &cobra.Command{
		Use:   "condense FILE",
		Short: "Bring a conversation inside its window now",
		Long: `Bring a conversation inside its window now, whatever the threshold, and say
what was done. Every original is kept: precis undo takes it back, precis show
prints what is hidden.

The result goes to FILE's name with .precis in the current folder, or to -o; a
.precis file holds the original recording unchanged and the edits, and every
command reads it. A Roo or Cline task folder can be condensed in place with
--write: the task then opens, shows and rewinds in the editor. What its files
cannot express is left out there unless --sidecar is given.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.condense(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write precis's own `FILE` there")
	cmd.Flags().BoolVar(&f.write, "write", false, "change the Roo or Cline task folder itself")
	cmd.Flags().BoolVar(&f.sidecar, "sidecar", false, "with --write: also make edits that only precis understands")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done; write nothing")
	return cmd
}

func (a *app) condense(ctx context.Context, path string, f condenseFlags) error {
	done := a.progress("reading " + path)
	j, err := a.open(ctx, path)
	if err == nil {
		err = j.checkWrite(f.write)
	}
	if err == nil && f.write {
		err = j.restrict(a.logger(), f.sidecar)
	}
	if err != nil {
		done()
		return err
	}
	r := j.request(a)
	r.Manual, r.DryRun = true, true
	res, err := j.manager.Manage(ctx, r)
	done()
	if err != nil {
		return err
	}
	where := ""
	if len(res.Edits) > 0 && !f.dryRun {
		if where, err = j.record(ctx, f.write, f.out, res.Edits); err != nil {
			return err
		}
	}
	return a.printCondensed(j, res, where)
}

// restrict prepares a job for a task folder: its truncation is Roo's, and
// without the sidecar only rungs that Roo's files can express are climbed.
func (j *job) restrict(log *slog.Logger, sidecar bool) error {
	task, err := roo.OpenTask(j.rec.Path)
	if err != nil {
		return err
	}
	leave, err := task.History.Orphaned()
	if err != nil {
		return err
	}
	if !sidecar {
		j.cfg.Settings.Rungs = []string{"truncate"}
	}
	return j.manage(log, leave)
}

type condensed struct {
	Report  precis.Report `json:"report"`
	Written string        `json:"written,omitempty"`
}

func (a *app) printCondensed(j *job, res precis.Result, where string) error {
	if a.opts.json {
		return a.printJSON(condensed{res.Report, where})
	}
	w := a.term
	r := res.Report
	w.Title("%s", r.Outcome)
	total := max(r.Before.Tokens, r.Decision.Window.Tokens)
	w.Printf("\n")
	w.Printf("  before %s\n", sizeText(r.Before, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "bad", Value: r.Before.Tokens}})
	w.Printf("  after  %s\n", sizeText(r.After, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "good", Value: r.After.Tokens}})
	w.Printf("\n")
	w.Pairs(
		[2]string{"recording", fmt.Sprintf("%s, %s messages", j.rec.Format, term.Number(j.conv.Transcript.Len()))},
		[2]string{"window", r.Decision.Window.String()},
		[2]string{"decision", r.Arithmetic},
		[2]string{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
	)
	a.printEdits(r)
	w.Printf("\n")
	switch {
	case where != "":
		w.Printf("  %s %s\n", w.Style("good", "written to"), where)
		w.Printf("  %s precis undo %s\n", w.Style("dim", "take it back:"), where)
		if h, ok := firstHidden(res.Edits); ok {
			w.Printf("  %s precis show %s %s\n", w.Style("dim", "read what is hidden:"), where, h)
		}
	case len(res.Edits) > 0:
		w.Printf("  nothing was written (--dry-run)\n")
	default:
		w.Printf("  nothing was written: there is nothing to change\n")
	}
	return nil
}

// firstHidden returns a handle to something that the edits hide.
func firstHidden(edits []precis.Edit) (precis.Handle, bool) {
	for _, e := range slices.Backward(edits) {
		if len(e.Replace) == 0 {
			continue
		}
		r := e.Replace[0]
		if r.Block != nil {
			return precis.BlockHandle(r.From, r.Block.Index), true
		}
		return precis.SpanHandle(r.From, r.To), true
	}
	return precis.Handle{}, false
}
