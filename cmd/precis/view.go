package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// view prints the messages to send now.
type view struct {
	*command.Tools
	dialect string
}

func newView(t *command.Tools) *cobra.Command {
	c := &view{Tools: t}
	cmd := &cobra.Command{
		Use:   "view FILE",
		Short: "Print the messages to send now",
		Long: `Print the messages that would be sent to the model now. Under the threshold
that is the whole conversation; over it, the conversation reduced as the preset
says. Nothing is written. With --json the output is one object:
{"view":{"system":…,"messages":[…]},"report":{…}}.`,
		Example: `  precis view run.jsonl
  precis view --json --window 64k --target 0.5 run.jsonl
  precis view --json --dialect chat @last`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.dialect, "dialect", anthropic.Format,
		"`DIALECT` of the messages: anthropic, chat or responses")
	return cmd
}

func (c *view) run(cmd *cobra.Command, args []string) error {
	appendMessages, ok := dialects[c.dialect]
	if !ok {
		return precis.Errorf(precis.CodeInvalid, "read flags",
			"--dialect is %q, want anthropic, chat or responses", c.dialect)
	}
	j, err := c.Jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	res, err := j.Manager.Manage(cmd.Context(), j.Request())
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.json(j, res, appendMessages)
	}
	return c.Report.View(cmd.Context(), j, res)
}

// dialects are the encoders of messages.
var dialects = map[string]func([]byte, []precis.Message) []byte{
	anthropic.Format: anthropic.AppendMessages,
	chat.Format:      chat.AppendMessages,
	responses.Format: responses.AppendMessages,
}

// json prints a view and its report as one object.
func (c *view) json(j *jobs.Job, res policy.Result,
	appendMessages func([]byte, []precis.Message) []byte) error {
	report, err := json.Marshal(res.Report)
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "write report", "%w", err)
	}
	out := []byte(`{"view":{"system":`)
	out = append(out, systemJSON(j.Conversation.System, c.dialect)...)
	out = appendMessages(append(out, `,"messages":`...), res.View)
	out = append(append(out, `},"report":`...), report...)
	_, err = c.Data().Write(append(out, "}\n"...))
	return err
}

// systemJSON writes the system prompt: with its original bytes if the dialect is the same, else as
// a string; null without a prompt.
func systemJSON(m precis.Message, dialect string) []byte {
	switch {
	case len(m.Content) == 0:
		return []byte("null")
	case m.Format == dialect && jsonspan.Clean(m.Raw):
		return m.Raw
	}
	return jsonspan.AppendString(nil, m.PlainText())
}
