package main

import (
	"context"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
)

func (a *app) undoCmd() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "undo FILE [EDIT...]",
		Short: "Take edits back: the last run, or those named",
		Long: `Take edits back. Without names that is everything the last run did; --all takes
back every edit precis has made or found. A task folder has the bytes it had
before; in precis's own file the undo is recorded like any edit, and can itself
be undone.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := a.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			ids := args[1:]
			if all {
				for _, e := range precis.Active(j.conv.Edits) {
					ids = append(ids, e.ID)
				}
			}
			if len(ids) == 0 {
				ids = precis.LastRun(j.conv.Edits)
			}
			if len(ids) == 0 {
				return precis.Errorf(precis.CodeNotFound, "undo", "no edit is in force")
			}
			where, err := j.undo(cmd.Context(), ids)
			if err != nil {
				return err
			}
			return a.done(cmd.Context(), where, "took back %s", term.Count(len(ids), "edit"))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "take back every edit in force")
	return cmd
}

// done reports a change and the state after it.
func (a *app) done(ctx context.Context, path, format string, args ...any) error {
	j, err := a.open(ctx, path)
	if err != nil {
		return err
	}
	s, err := j.manager.Status(j.request(a))
	if err != nil {
		return err
	}
	if a.opts.json {
		return a.printJSON(struct {
			Written string        `json:"written"`
			Status  precis.Status `json:"status"`
		}{path, s})
	}
	a.term.Title(format, args...)
	a.printStatus(s)
	a.term.Printf("  %s %s\n", a.term.Style("good", "written to"), path)
	return nil
}
