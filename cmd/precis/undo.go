package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/conversation"
)

// undo takes edits back.
type undo struct {
	*command.Tools
	all bool
}

func newUndo(t *command.Tools) *cobra.Command {
	c := &undo{Tools: t}
	cmd := &cobra.Command{
		Use:   "undo FILE [EDIT...]",
		Short: "Take edits back: the last run, or those named",
		Long: `Take edits back. Without names that is everything the last run did. An edit is
named e1, e2 …, as precis inspect lists them, or by its ID. --all takes back
every edit precis has made or found, those too that a rewind took back. A task
folder has the bytes it had before, and what the editor itself condensed stays
unless it is named; in precis's own file the undo is recorded like any edit, and
can itself be undone.`,
		Example: `  precis undo run.precis
  precis undo run.precis e2 e3
  precis undo --all run.precis`,
		Args: command.Takes("FILE", "[EDIT...]"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.all, "all", false, "take back every edit in force")
	return cmd
}

func (c *undo) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	j, err := c.Jobs.Edit(ctx, args[0], "")
	if err != nil {
		return err
	}
	edits := j.Conversation.Edits
	if c.all {
		t, err := conversation.UndoAll(ctx, j.Home, j.Home.ID())
		if err != nil {
			return err
		}
		return c.Report.TookBack(j.File.EditsPath(), t.Edits, t.Status)
	}
	change, err := conversation.Undo(ctx, j.Home, j.Home.ID(), args[1:]...)
	if err != nil {
		return err
	}
	var back []conversation.EditInfo
	for _, e := range conversation.EditsOf(&precis.Conversation{Edits: edits}).Items {
		if slices.Contains(change.Edit.Undoes, e.ID) && e.Kind != precis.KindUndo {
			// leave out undo edits of the run: the edits they took back are in force again
			back = append(back, e)
		}
	}
	return c.Report.TookBack(j.File.EditsPath(), back, change.Status)
}
