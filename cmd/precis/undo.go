package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
	"precis/conversation"
)

// undo takes edits back.
type undo struct {
	*tools
	all bool
}

func newUndo(t *tools) *cobra.Command {
	c := &undo{tools: t}
	cmd := &cobra.Command{
		Use:   "undo FILE [EDIT...]",
		Short: "Take edits back: the last run, or those named",
		Long: `Take edits back. Without names that is everything the last run did; --all takes
back every edit precis has made or found, those too that a rewind took back. A
task folder has the bytes it had before; in precis's own file the undo is recorded
like any edit, and can itself be undone.`,
		Args: cobra.MinimumNArgs(1),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.all, "all", false, "take back every edit in force")
	return cmd
}

func (c *undo) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	j, err := c.jobs.Edit(ctx, args[0], "")
	if err != nil {
		return err
	}
	if c.all {
		t, err := conversation.UndoAll(ctx, j.Home, j.Home.ID())
		if err != nil {
			return err
		}
		var kinds []precis.EditKind
		for _, e := range t.Edits {
			kinds = append(kinds, e.Kind)
		}
		return c.report.Edited(j.File.Where(), t.Status, "%s", undoneText(kinds))
	}
	edits := j.Conversation.Edits
	change, err := conversation.Undo(ctx, j.Home, j.Home.ID(), args[1:]...)
	var kinds []precis.EditKind
	for _, e := range edits {
		if slices.Contains(change.Edit.Undoes, e.ID) && e.Kind != precis.KindUndo { // what a run itself took back is in force again
			kinds = append(kinds, e.Kind)
		}
	}
	return c.report.Changed(j, change, err, "%s", undoneText(kinds))
}

// undoneText is "took back 3 edits: dedupe, pruning".
func undoneText(kinds []precis.EditKind) string {
	n := len(kinds)
	var names []string
	for _, k := range kinds {
		if !slices.Contains(names, string(k)) {
			names = append(names, string(k))
		}
	}
	return "took back " + term.Count(n, "edit") + ": " + strings.Join(names, ", ")
}
