package main

import (
	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/reports"
	"precis/conversation"
)

// pin marks what is never to be hidden.
type pin struct {
	*tools
	out string
}

func newPin(t *tools) *cobra.Command {
	c := &pin{tools: t}
	cmd := &cobra.Command{
		Use:   "pin FILE HANDLE...",
		Short: "Mark messages or blocks as important: they are never hidden",
		Long: `Mark messages or blocks as important: from now on they are neither hidden nor
cut. What is hidden already comes back when the conversation is next condensed;
precis restore shows it at once.

  precis pin run.precis m0 m12-m14 m20.b1`,
		Args: takes("FILE", "HANDLE..."),
		RunE: c.run,
	}
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write precis's own `FILE` there")
	return cmd
}

func (c *pin) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	var handles []precis.Handle
	for _, s := range args[1:] {
		h, err := precis.ParseHandle(s)
		if err != nil {
			return err
		}
		handles = append(handles, h)
	}
	j, err := c.jobs.Edit(ctx, args[0], c.out)
	if err != nil {
		return err
	}
	change, err := conversation.Pin(ctx, j.Home, j.Home.ID(), handles...)
	if err != nil {
		return err
	}
	hidden, err := conversation.HiddenParts(ctx, j.Home, j.Home.ID(), handles...)
	if err != nil {
		return err
	}
	if !c.Quiet {
		for _, p := range hidden {
			c.Note("%s is %s now, by %s, and comes back when the conversation is next condensed; precis restore %s %s shows it at once", p.Handle, p.State, p.By, reports.ShellWord(j.File.Where()), p.Handle)
		}
	}
	return c.report.Changed(j, change, nil, "pinned", c.Words.Count(len(handles), "place"))
}
