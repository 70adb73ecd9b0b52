package main

import (
	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
)

// inspect shows how the context window is used.
type inspect struct{ *command.Tools }

func newInspect(t *command.Tools) *cobra.Command {
	c := &inspect{t}
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show who uses the context, and what would be done",
		Long: `Show who uses the context: the window as a bar, its tokens by kind and by tool,
what is free and what is reserved for the answer, the edits in force, and what
would be done. Nothing is written. With -v also the rungs that changed nothing
when the edits were made, and why.`,
		Example: `  precis inspect run.jsonl
  precis inspect @last
  precis inspect --window 64k run.precis`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
}

func (c *inspect) run(cmd *cobra.Command, args []string) error {
	v, err := c.look(cmd, args[0])
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.JSON(v)
	}
	c.Report.Inspection(v)
	return nil
}

func (c *inspect) look(cmd *cobra.Command, path string) (v reports.Inspection, err error) {
	defer c.Progress("reading " + path)()
	j, err := c.Jobs.Open(cmd.Context(), path)
	if err != nil {
		return v, err
	}
	return reports.Inspect(cmd.Context(), j)
}
