package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"precis"
	"precis/wire/anthropic"
)

func (a *app) showCmd() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:   "show FILE [HANDLE]",
		Short: "Print original messages, hidden or not",
		Long: `Print original messages in full, hidden or not: m12, m12-m40, or one block such
as m12.b3. With --original, print the whole recording byte for byte as it was
before precis saw it. precis search finds handles by words; precis restore shows
what is hidden to the model again.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if whole {
				data, err := original(args[0])
				if err == nil {
					_, err = a.out.Write(data)
				}
				return err
			}
			if len(args) < 2 {
				return errors.New("show needs a handle such as m12, or --original")
			}
			return a.show(cmd.Context(), args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&whole, "original", false, "print the recording as it was")
	return cmd
}

func (a *app) show(ctx context.Context, path, handle string) error {
	h, err := precis.ParseHandle(handle)
	if err != nil {
		return err
	}
	rec, err := a.read(ctx, path)
	if err != nil {
		return err
	}
	msgs, err := precis.Show(rec.Conversation.Transcript, h)
	if err != nil {
		return err
	}
	if a.opts.json {
		_, err := a.out.Write(append(anthropic.AppendMessages(nil, msgs), '\n'))
		return err
	}
	for i, m := range msgs {
		at := precis.MessageHandle(h.From + i).String()
		a.term.Printf("%s %s\n", a.term.Style("dim", at), a.term.Style(string(m.Role), string(m.Role)))
		for _, b := range m.Content {
			a.term.Printf("%s\n", fullText(b))
		}
		a.term.Printf("\n")
	}
	return nil
}

// fullText writes a block out.
func fullText(b precis.Block) string {
	switch b := b.(type) {
	case precis.Text:
		return b.Text
	case precis.Thinking:
		return "[thinking]\n" + b.Text
	case precis.ToolUse:
		return "[tool use " + b.ID + ": " + b.Name + "]\n" + string(b.Input)
	case precis.ToolResult:
		out := "[tool result " + b.ToolUseID + "]"
		for _, c := range b.Content {
			out += "\n" + fullText(c)
		}
		return out
	case precis.Opaque:
		return "[" + b.Type + "]\n" + string(b.Raw)
	}
	return describe(b, 200)
}
