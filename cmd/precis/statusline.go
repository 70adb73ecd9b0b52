package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/statusline"
	"precis/host/hook"
)

// statuslineHosts are the programs that run a command for their status line.
var statuslineHosts = []string{"claude-code", "qwen"}

func newStatusline(t *tools) *cobra.Command {
	c := &status{tools: t, format: "claude"}
	return &cobra.Command{
		Use:   "statusline AGENT",
		Short: "Serve an agent's status line; precis install sets this up",
		Long: `Serve the status line of an agent program (` + strings.Join(statuslineHosts, " or ") + `): it writes what it knows to
standard input, and shows the line that is printed: how full the window is, about
how many turns are left, what was spent, and what precis gave back in this session.

precis status says the same of any recording.`,
		Example: `  precis statusline claude-code < status.json`,
		Args:    takes("AGENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(statuslineHosts, args[0]) {
				return &precis.Error{Code: precis.CodeNotFound, Op: "find agent", Place: args[0], Err: errors.New("it has no status line that precis knows"), Hint: "one of " + strings.Join(statuslineHosts, ", ")}
			}
			return c.line(cmd, args[0])
		},
	}
}

// line prints the status line of an agent's session.
func (c *status) line(cmd *cobra.Command, agent string) error {
	cfg, err := c.jobs.Config()
	if err != nil {
		return err
	}
	from := statusline.Sources{Threshold: cfg.Settings.Percent, Window: windowOf(cfg)}
	if os.Getenv(hook.Silent) != "" {
		from.Gateway = cfg.Gateway.Listen
	}
	if err := c.client(cmd.Context(), &from); err != nil {
		return err
	}
	s := statusline.Read(cmd.Context(), from)
	if home, err := os.UserHomeDir(); err == nil && from.Client.Session != "" {
		s.Compactions = hook.Compactions(stateFolder(home), agent, from.Client.Session)
	}
	return c.print(s)
}
