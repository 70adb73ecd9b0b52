package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/plain"
)

// pin marks messages and blocks so that they are never hidden.
type pin struct {
	*command.Tools
	out     string
	suggest bool
}

func newPin(t *command.Tools) *cobra.Command {
	c := &pin{Tools: t}
	cmd := &cobra.Command{
		Use:   "pin FILE [HANDLE...]",
		Short: "Mark messages or blocks as important: they are never hidden",
		Long: `Mark messages or blocks as important: from now on they are neither hidden nor
cut. What is hidden already comes back when the conversation is next condensed;
precis restore shows it at once.

  precis pin run.precis m0 m12-m14 m20.b1

--suggest pins nothing: it lists the sentences that you typed with words such as
never or must, which may be worth a pin.

  precis pin --suggest run.precis`,
		Args: command.Takes("FILE", "[HANDLE...]"),
		RunE: c.run,
	}
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write precis's own `FILE` there")
	cmd.Flags().BoolVar(&c.suggest, "suggest", false, "list sentences of yours that may be worth a pin")
	return cmd
}

func (c *pin) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	switch {
	case c.suggest && len(args) > 1:
		return fmt.Errorf("pin --suggest takes a FILE: %q is too many", args[1])
	case c.suggest:
		return c.list(ctx, args[0])
	case len(args) == 1:
		return fmt.Errorf("pin needs a HANDLE")
	}
	var handles []precis.Handle
	for _, s := range args[1:] {
		h, err := precis.ParseHandle(s)
		if err != nil {
			return err
		}
		handles = append(handles, h)
	}
	j, err := c.Jobs.Edit(ctx, args[0], c.out)
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
			c.Note("%s is %s now, by %s, and comes back when the conversation is next condensed; precis restore %s %s shows it at once", p.Handle, p.State, p.By, reports.ShellWord(j.File.EditsPath()), p.Handle)
		}
	}
	return c.Report.Changed(j, change, nil, "pinned", c.Words.Count(len(handles), "place"))
}

// list prints sentences that may be worth a pin, each with its handle.
func (c *pin) list(ctx context.Context, file string) error {
	j, err := c.Jobs.Open(ctx, file)
	if err != nil {
		return err
	}
	all, err := conversation.SuggestPins(ctx, j.Home, j.Home.ID())
	switch {
	case err != nil:
		return err
	case c.AsJSON:
		return c.JSON(map[string]any{"suggestions": all})
	case len(all) == 0:
		c.Line("There is no such sentence that is not pinned.")
	}
	for _, r := range all {
		fmt.Fprintf(c.Out, "%-8s %s\n", r.Handle, strings.ReplaceAll(plain.Text(r.Text), "\n", "\n         "))
	}
	return nil
}
