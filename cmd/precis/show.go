package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/conversation/recording"
	"github.com/precis-dev/precis/wire/anthropic"
)

// show prints original messages.
type show struct {
	*command.Tools
	whole bool
}

func newShow(t *command.Tools) *cobra.Command {
	c := &show{Tools: t}
	cmd := &cobra.Command{
		Use:   "show FILE [HANDLE]",
		Short: "Print original messages, hidden or not",
		Long: `Print original messages in full, hidden or not: m12, m12-m40, or one block such
as m12.b3. With --original, print the whole recording byte for byte as it was
before precis saw it. precis search finds handles by words; precis restore shows
what is hidden to the model again.`,
		Example: `  precis show run.precis m42.b0
  precis show --original run.precis > run.jsonl`,
		Args: command.Takes("FILE", "[HANDLE]"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.whole, "original", false, "print the recording as it was")
	return cmd
}

func (c *show) run(cmd *cobra.Command, args []string) error {
	if c.whole {
		data, err := recording.Original(args[0])
		if err == nil {
			_, err = c.Text.Write(data)
		}
		return err
	}
	if len(args) < 2 {
		return errors.New("show needs a handle such as m12, or --original")
	}
	h, err := precis.ParseHandle(args[1])
	if err != nil {
		return err
	}
	f, err := c.Jobs.Read(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	msgs, err := f.Conversation.Transcript.Read(h)
	if err != nil {
		return err
	}
	if c.AsJSON {
		_, err := c.Data().Write(append(anthropic.AppendMessages(nil, msgs), '\n'))
		return err
	}
	c.Report.Messages(h.From, msgs)
	return nil
}
