package main

import (
	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
)

func (a *app) restoreCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "restore FILE HANDLE",
		Short: "Show hidden content to the model again",
		Long: `Show hidden content to the model again: messages such as m12 or m12-m40, with
the tool uses and results that belong to them, or one block such as m12.b3. This
is the way back for what was condensed, truncated or pruned; the other edits stay.

  precis search run.precis connection refused   # finds it: m42.b0, hidden by condensation
  precis show run.precis m42.b0                 # prints it; the view stays as it is
  precis restore run.precis m42.b0              # from now on the model sees it again`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd, args[0], out, func(j *job) (precis.Edit, error) {
				h, err := precis.ParseHandle(args[1])
				if err != nil {
					return precis.Edit{}, err
				}
				return j.manager.Restore(cmd.Context(), j.conv, j.whole(h))
			}, "restored %s", args[1])
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write precis's own `FILE` there")
	return cmd
}

// whole returns the message of a block when it is hidden as a whole: the block
// alone cannot be shown.
func (j *job) whole(h precis.Handle) precis.Handle {
	if h.Block < 0 || h.From >= j.conv.Transcript.Len() {
		return h
	}
	for _, u := range precis.Units(j.conv.Transcript, j.conv.Edits) {
		if u.From <= h.From && h.From < u.To && !u.Original() {
			return precis.MessageHandle(h.From)
		}
	}
	return h
}

func (a *app) pinCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "pin FILE HANDLE...",
		Short: "Mark messages or blocks as important: they are never hidden",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edit(cmd, args[0], out, func(j *job) (precis.Edit, error) {
				var handles []precis.Handle
				for _, s := range args[1:] {
					h, err := precis.ParseHandle(s)
					if err != nil {
						return precis.Edit{}, err
					}
					handles = append(handles, h)
				}
				return j.manager.Pin(cmd.Context(), j.conv, handles...)
			}, "pinned %s", term.Count(len(args)-1, "place"))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write precis's own `FILE` there")
	return cmd
}

// edit makes one edit and keeps it where the conversation lives: in the task
// folder's sidecar, or in precis's own file.
func (a *app) edit(cmd *cobra.Command, path, out string, make func(*job) (precis.Edit, error), format string, args ...any) error {
	j, err := a.open(cmd.Context(), path)
	if err != nil {
		return err
	}
	e, err := make(j)
	if err != nil {
		return err
	}
	where, err := j.record(cmd.Context(), j.isTask() && out == "", out, []precis.Edit{e})
	if err != nil {
		return err
	}
	return a.done(cmd.Context(), where, format, args...)
}
