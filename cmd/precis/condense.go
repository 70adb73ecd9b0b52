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
	full    bool

	summarizer string
	focus      string
}

func (a *app) condenseCmd() *cobra.Command {
	var f condenseFlags
	cmd := &cobra.Command{
		Use:   "condense FILE",
		Short: "Bring a conversation inside its window now",
		Long: `Bring a conversation inside its window now, whatever the threshold, and say
what was done and what was kept of the facts likely to be needed again. Every
original stays: precis search finds what is hidden, precis show prints it,
precis restore shows it to the model again, precis undo takes everything back.

With --dry-run nothing is written: it lists what would be lost and shows, message
by message, what the model would see instead.

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
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, what would be lost and how the view changes; write nothing")
	cmd.Flags().BoolVar(&f.full, "full", false, "with --dry-run: print every line of what changes")
	cmd.Flags().StringVar(&f.summarizer, "summarizer", "", "`WAY` of summarizing: model or digest (default model when summarizer.model is configured)")
	cmd.Flags().StringVar(&f.focus, "focus", "", "what a model's summary should pay attention to this time: `TEXT`")
	return cmd
}

func (a *app) condense(ctx context.Context, path string, f condenseFlags) error {
	done := a.progress("reading " + path)
	j, err := a.open(ctx, path)
	if err == nil {
		err = j.checkWrite(f.write)
	}
	if err == nil {
		err = a.choose(ctx, j, f.summarizer)
	}
	if err == nil && f.write {
		err = j.restrict(a.logger(), f.sidecar)
	}
	if err != nil {
		done()
		return err
	}
	r := j.request(a)
	r.Manual, r.Focus, r.DryRun, r.Unrecorded = true, f.focus, f.dryRun, true
	before := slices.Clone(j.conv.Edits)
	res, err := j.manager.Manage(ctx, r)
	done()
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.dryRun(j, before, res, f.full)
	}
	where := ""
	if len(res.Edits) > 0 {
		if where, err = j.record(ctx, f.write, f.out, res.Edits); err != nil {
			return err
		}
	}
	return a.condensed(j, res, where)
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

// condensed is what was done, as JSON.
type condensed struct {
	Report  precis.Report `json:"report"`
	Written string        `json:"written,omitempty"`
	Diff    []change      `json:"diff,omitempty"` // with --dry-run
}

// dryRun prints what would be done.
func (a *app) dryRun(j *job, before []precis.Edit, res precis.Result, full bool) error {
	changes, err := j.diff(before, res.Edits, res.Report.Calibration)
	if err != nil {
		return err
	}
	if a.opts.json {
		return a.printJSON(condensed{Report: res.Report, Diff: changes})
	}
	a.printCondensed(j, res, "dry run: ")
	if len(res.Edits) > 0 {
		a.printLost(res.Report.Retention)
		a.printDiff(changes, full)
	}
	a.term.Printf("\n  nothing was written (--dry-run)\n")
	return nil
}

// condensed prints what was done, where it is, and how to get at what is hidden.
func (a *app) condensed(j *job, res precis.Result, where string) error {
	if a.opts.json {
		return a.printJSON(condensed{Report: res.Report, Written: where})
	}
	a.printCondensed(j, res, "")
	w := a.term
	if where == "" {
		w.Printf("\n  nothing was written: there is nothing to change\n")
		return nil
	}
	w.Printf("\n  %s %s\n", w.Style("good", "written to"), where)
	file := shellWord(where)
	next := [][2]string{{"find what is hidden", "precis search " + file + " WORD..."}}
	if h, ok := firstHidden(res.Edits); ok {
		next = append(next, [2]string{"read it", fmt.Sprintf("precis show %s %s", file, h)}, [2]string{"show it to the model", fmt.Sprintf("precis restore %s %s", file, h)})
	}
	w.Pairs(append(next, [2]string{"take all of it back", "precis undo " + file})...)
	return nil
}

func (a *app) printCondensed(j *job, res precis.Result, prefix string) {
	w := a.term
	r := res.Report
	w.Title("%s", prefix+r.Outcome)
	total := max(r.Before.Tokens, r.Decision.Window.Tokens)
	w.Printf("\n")
	w.Printf("  before %s\n", sizeText(r.Before, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "bad", Value: r.Before.Tokens}})
	w.Printf("  after  %s\n", sizeText(r.After, r.Decision.Window.Tokens))
	w.Bar(total, []term.Segment{{Name: "good", Value: r.After.Tokens}})
	w.Printf("\n")
	w.Pairs(append([][2]string{
		{"recording", fmt.Sprintf("%s, %s messages", j.rec.Format, term.Number(j.conv.Transcript.Len()))},
		{"window", r.Decision.Window.String()},
		{"decision", r.Arithmetic},
		{"counted", fmt.Sprintf("%s × %.2f", r.Counter, r.Calibration)},
		{"kept", keptText(r)},
	}, callPairs(r)...)...)
	a.printEdits(r)
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
