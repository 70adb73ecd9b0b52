package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
)

// condensation reduces a conversation to fit its window.
type condensation struct {
	*command.Tools
	jobs.Condensing
	full  bool
	force bool
	focus string
	only  string
}

func newCondense(t *command.Tools) *cobra.Command {
	c := &condensation{Tools: t}
	cmd := &cobra.Command{
		Use:   "condense FILE",
		Short: "Bring a conversation inside its window now",
		Long: `Bring a conversation inside its window now, whatever the threshold, and say
what was done and what was kept of the facts likely to be needed again. Every
original stays: precis search finds what is hidden, precis show prints it,
precis restore shows it to the model again, precis undo takes everything back.

A rule that the user set (never, always, must, only ...), the last thing the
user said, or nine tenths of the view with neither a summary nor a digest in
their place are lost only when nothing else is left to cut, and only with
--force.

With --dry-run nothing is written: it lists what would be lost and shows,
message by message, what the model would see instead.

The result goes to FILE's name with .precis in the current folder, or to -o; a
.precis file holds the original recording unchanged and the edits, and every
command reads it. Given again for the same recording, the command goes on from
that file. A Roo task folder can be condensed in place with --write, as Roo
does it: close the task in the editor first; it then opens, shows and rewinds
there. Selective condensation shortens results in its history, or that of a
Cline task, and undo gives them back. A Cline task can only be told which of
its oldest messages are not sent: --write writes that range, a truncation
without a summary, into Cline's list of tasks (state/taskHistory.json); close
that task first, too. What the files cannot express is left out there unless
--sidecar is given.`,
		Example: `  precis condense run.jsonl
  precis condense --dry-run --window 64k run.jsonl
  precis condense --set summarizer.model=claude-haiku-4-5 --focus "the parser" run.jsonl`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVarP(&c.Out, "out", "o", "", "write precis's own `FILE` there")
	cmd.Flags().BoolVar(&c.Write, "write", false,
		"change the task of Roo itself (of Cline: which messages are not sent, and results)")
	cmd.Flags().BoolVar(&c.Sidecar, "sidecar", false,
		"with --write: also make edits that only precis understands")
	cmd.Flags().BoolVar(&c.DryRun, "dry-run", false,
		"show what would be done, what would be lost and how the view changes; write nothing")
	cmd.Flags().BoolVar(&c.full, "full", false, "with --dry-run: print every line of what changes")
	cmd.Flags().BoolVar(&c.force, "force", false,
		"condense although the view would lose something altogether")
	cmd.Flags().StringVar(&c.Summarizer, "summarizer", "",
		"`WAY` of summarizing: model or digest (default model when summarizer.model is configured)")
	cmd.Flags().StringVar(&c.only, "range", "",
		"hide exactly these messages behind a digest or a summary: `HANDLE`, such as m0-m40")
	cmd.Flags().StringVar(&c.focus, "focus", "",
		"what a model's summary should pay attention to this time: `TEXT`")
	return cmd
}

func (c *condensation) run(cmd *cobra.Command, args []string) error {
	j, done, err := c.condense(cmd.Context(), args[0])
	switch {
	case err != nil:
		return err
	case c.DryRun:
		return c.Report.DryRun(cmd.Context(), j, done, c.full)
	case done.Changed:
		return c.Report.Condensed(cmd.Context(), j, done.Result, j.File.EditsPath())
	}
	return c.Report.Condensed(cmd.Context(), j, done.Result, "")
}

// condense opens a recording and condenses it, or previews that.
func (c *condensation) condense(ctx context.Context,
	path string) (j *jobs.Job, done conversation.Condensed, err error) {
	o := conversation.CondenseOptions{Focus: c.focus, Force: c.force}
	if c.only != "" {
		h, err := precis.ParseHandle(c.only)
		if err != nil {
			return nil, done, err
		}
		o.From, o.To = h.From, h.To
		c.From = h.From
	}
	defer c.Progress("reading " + path)()
	if j, err = c.Jobs.Condense(ctx, path, c.Condensing); err != nil {
		return nil, done, err
	}
	act := conversation.Condense
	if c.DryRun {
		act = conversation.Preview
	}
	done, err = act(ctx, j.Home, j.Home.ID(), o)
	return j, done, c.explain(err)
}

// explain adds a hint for the command line to an error.
func (c *condensation) explain(err error) error {
	var e *precis.Error
	loss, lost := errors.AsType[*conversation.LossError](err)
	switch {
	case !errors.As(err, &e):
	case lost:
		hint := "choose a larger --window or --target, or --force it; --dry-run lists what would be lost"
		if c.Write {
			hint = "use -o FILE without --write, which shortens what the task's own files can only hide; or --force it; --dry-run lists what would be lost"
		}
		return &precis.Error{Code: e.Code, Op: e.Op, Err: errors.New(loss.Quoted()), Hint: hint}
	case e.Code == precis.CodeInvalid && c.only != "" && c.Write && !c.Sidecar && e.Hint == "":
		e.Hint = "use -o FILE, or --sidecar for precis alone"
	case e.Code != precis.CodeOverBudget:
	case c.Write && !c.Sidecar:
		e.Hint = "the task's own files can only hide whole messages; use --sidecar, or -o FILE without --write, to shorten them, too"
	}
	return err
}
