package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/cmd/internal/statusline"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/internal/window"
	"github.com/precis-dev/precis/models"
)

// StatusFormats are the output formats of a status.
var StatusFormats = []string{"plain", "claude", "json"}

// status prints how full a window is, for status lines and prompts.
type status struct {
	*command.Tools
	format  string
	keyFile string
}

// NewStatus makes the command status.
func NewStatus(t *command.Tools) *cobra.Command {
	c := &status{Tools: t}
	cmd := &cobra.Command{
		Use:   "status [FILE]",
		Short: "Say in one line how full the window is, for status lines",
		Long: `Say in one line how full the window is, about how many turns are left, what was
spent, and what precis did: of FILE, or of the newest conversation of the
gateway that runs at gateway.listen.

With --format claude the command serves Claude Code's status line: it reads what
Claude Code writes to it. In ~/.claude/settings.json:

  {"statusLine": {"type": "command", "command": "precis status --format claude"}}

"turns left" counts requests until precis acts, by how the conversation grew
with the last ones; without a gateway until the agent compacts it, where the
agent has done so before.`,
		Example: `  precis status
  precis status @last
  precis status --format json run.jsonl`,
		Args: command.Takes("[FILE]"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.format, "format", "plain", "`FORMAT`: "+strings.Join(StatusFormats, ", "))
	cmd.Flags().StringVar(&c.keyFile, "key-file", "", "`FILE` with your key of a gateway that asks for keys")
	return cmd
}

func (c *status) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(StatusFormats, c.format) {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--format is %q, want %s", c.format,
			strings.Join(StatusFormats, ", "))
	}
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	from := statusline.Sources{Threshold: cfg.Settings.Percent, Window: windowOf(cfg)}
	if from.Gateway, err = running.Open(cfg.Gateway, c.keyFile); err != nil {
		return err
	}
	if c.format == "claude" && len(args) == 0 {
		if err := c.client(cmd.Context(), &from); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		s, err := c.counted(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return c.print(s)
	}
	s := statusline.Read(cmd.Context(), from)
	if c.format != "claude" && !s.Known() && s.Err != nil {
		return s.Err
	}
	return c.print(s)
}

// client reads the JSON that a client passes to the command of its status line.
func (c *status) client(ctx context.Context, from *statusline.Sources) error {
	data, err := c.ReadInput(ctx)
	if err != nil {
		return err
	}
	from.Client, _ = statusline.ParseClient(data)
	from.Transcript = from.Client.Transcript
	// a status line does not show errors
	_ = config.ReportWindow(from.Client.Model.ID, from.Client.Context.Size)
	return nil
}

// windowOf returns a function that finds a model's window. Status lines and hooks show no errors,
// so a models_file that cannot be read is ignored.
func windowOf(cfg *config.Config) func(string) precis.Window {
	table := func(model string) precis.Window {
		catalog, err := cfg.Catalog()
		if err != nil {
			catalog, _ = models.New(models.Options{}) // cannot fail without options
		}
		return catalog.Window(model)
	}
	return func(model string) precis.Window {
		return window.Known{Set: cfg.Window, By: cfg.Origin("window"), Model: model, Table: table}.Window()
	}
}

// counted computes the status of a recording.
func (c *status) counted(ctx context.Context, path string) (s statusline.Status, err error) {
	j, err := c.Jobs.Open(ctx, path)
	if err != nil {
		return s, err
	}
	d, err := conversation.Status(ctx, j.Home, j.Home.ID())
	if err != nil {
		return s, err
	}
	s = statusline.Status{Model: j.Model, Tokens: d.Status.Tokens, Window: d.Status.Window,
		Percent: d.Status.Percent, TurnsLeft: -1, Condensed: d.Edits.InForce, Saved: d.Edits.Saved}
	if d.Room.TurnsLeft != nil {
		s.TurnsLeft = *d.Room.TurnsLeft
	}
	return s, nil
}

func (c *status) print(s statusline.Status) error {
	switch {
	case c.AsJSON:
		return c.JSON(s)
	case c.format == "json":
		data, err := json.Marshal(s)
		if err != nil {
			return precis.Errorf(precis.CodeInternal, "write JSON", "%w", err)
		}
		_, err = fmt.Fprintf(c.Data(), "%s\n", data)
		return err
	case c.format == "claude" && s.Known():
		c.Text.Printf("%s %s\n", s.Bar(), s.Line(c.Words))
	default:
		c.Text.Printf("%s\n", s.Line(c.Words))
	}
	return nil
}
