package agents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/opencode/database"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/running"
	"github.com/precis-dev/precis/cmd/internal/statusline"
	"github.com/precis-dev/precis/host/hook"
)

// StatuslineHosts are the programs with a status line by precis. Claude Code and Qwen Code run the
// command themselves; in pi, precis's extension runs it.
var StatuslineHosts = []string{"claude-code", "opencode", "pi", "qwen"}

// NewStatusline makes the command statusline.
func NewStatusline(t *command.Tools) *cobra.Command {
	c := &status{Tools: t, format: "claude"}
	return &cobra.Command{
		Use:   "statusline AGENT [SESSION]",
		Short: "Serve an agent's status line; precis install sets this up",
		Long: `Serve the status line of an agent program (` + strings.Join(StatuslineHosts, ", ") + `):
it writes what it knows to standard input, and shows the line that is printed:
how full the window is, about how many turns are left, what was spent, and what
precis gave back in this session.

opencode has no such line. For that of a terminal, or of tmux, nothing is read
from standard input: the line is about SESSION, or the newest one of this
folder.

precis status says the same of any recording.`,
		Example: `  precis statusline claude-code < status.json
  precis statusline opencode`,
		Args: command.Takes("AGENT", "[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(StatuslineHosts, args[0]) {
				return &precis.Error{Code: precis.CodeNotFound, Op: "find agent", Place: args[0],
					Err:  errors.New("it has no status line that precis knows"),
					Hint: "one of " + strings.Join(StatuslineHosts, ", ")}
			}
			return c.line(cmd, args[0], args[1:])
		},
	}
}

// line prints the status line of an agent's session.
func (c *status) line(cmd *cobra.Command, agent string, session []string) error {
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	from := statusline.Sources{Threshold: cfg.Settings.Percent, Window: windowOf(cfg)}
	if os.Getenv(hook.SilenceEnv) != "" {
		from.Gateway, _ = running.Open(cfg.Gateway, "") // a status line does not show errors
	}
	if agent == "opencode" {
		from.Database = opencodeSession(cmd.Context(), session)
		from.Client.Session = from.Database.Session
	} else if len(session) > 0 {
		return precis.Errorf(precis.CodeInvalid, "read arguments", "%s names its session itself", agent)
	} else if err := c.client(cmd.Context(), &from); err != nil {
		return err
	}
	s := statusline.Read(cmd.Context(), from)
	if home, err := os.UserHomeDir(); err == nil && from.Client.Session != "" {
		s.Compactions = hook.Compactions(stateFolder(home), agent, from.Client.Session)
	}
	return c.print(s)
}

// opencodeSession returns the spending of a session of opencode, or of the newest one in this
// folder; the zero value if there is no such session.
func opencodeSession(ctx context.Context, named []string) database.Spending {
	home, err := os.UserHomeDir()
	if err != nil {
		return database.Spending{}
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(home, ".local", "share")
	}
	folder, _ := os.Getwd() // on an error no session matches
	id := strings.Join(named, "")
	out, err := database.ReadSpending(ctx, filepath.Join(data, "opencode", "opencode.db"), id, folder,
		statusline.MostRequests)
	if err != nil {
		return database.Spending{}
	}
	return out
}
