package main

import (
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/conversation"
)

// restore shows hidden content to the model again.
type restore struct {
	*command.Tools
	out string
}

func newRestore(t *command.Tools) *cobra.Command {
	c := &restore{Tools: t}
	cmd := &cobra.Command{
		Use:   "restore FILE HANDLE",
		Short: "Show hidden content to the model again",
		Long: `Show hidden content to the model again: messages such as m12 or m12-m40, with
the tool uses and results that belong to them, or one block such as m12.b3. This
is the way back for what was condensed, truncated or pruned; the other edits
stay.

  precis search run.precis connection refused   # finds it: m42.b0, hidden by condensation
  precis show run.precis m42.b0                 # prints it; the view stays as it is
  precis restore run.precis m42.b0              # from now on the model sees it again`,
		Args: command.Takes("FILE", "HANDLE"),
		RunE: c.run,
	}
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write precis's own `FILE` there")
	return cmd
}

func (c *restore) run(cmd *cobra.Command, args []string) error {
	h, err := precis.ParseHandle(args[1])
	if err != nil {
		return err
	}
	j, err := c.Jobs.Edit(cmd.Context(), args[0], c.out)
	if err != nil {
		return err
	}
	change, err := conversation.Restore(cmd.Context(), j.Home, j.Home.ID(), h)
	return c.Report.Changed(j, change, err, "restored", h)
}
