package agents

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/host/hook"
	"github.com/precis-dev/precis/sessions"
)

// hookCall answers one event of an agent program.
type hookCall struct{ *command.Tools }

// NewHook makes the command hook.
func NewHook(t *command.Tools) *cobra.Command {
	c := &hookCall{t}
	return &cobra.Command{
		Use:   "hook AGENT EVENT [ARGUMENT …]",
		Short: "Answer an event of an agent program; precis install sets this up",
		Long: `Answer an event of an agent program: what it says of the event comes on standard
input, and what it is told goes to standard output. Agents call this where
precis install put it; there is no need to call it yourself.

It always ends with exit code 0 within 5 seconds, a compaction of Claude Code
within 15: with nothing to say, or when something is wrong, it says nothing.
precis stats hosts shows what became of the calls. With PRECIS_GATEWAY set it is
silent: a gateway does the work then.`,
		Example:            `  precis hook claude-code session-start < event.json`,
		DisableFlagParsing: true,
		RunE:               c.run,
	}
}

func (c *hookCall) run(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		return cmd.Help()
	}
	home, err := os.UserHomeDir()
	if err != nil || len(args) < 2 {
		return nil
	}
	binary, err := binaryPath()
	if err != nil {
		binary = "precis"
	}
	out := hook.Run(cmd.Context(), hook.Options{
		State: stateFolder(home), Binary: binary, Env: os.Getenv, Window: c.window,
		Find: func(host, session string) string {
			return sessions.FileOf(sessions.Environment{Home: home, Env: os.Getenv}, host, session)
		},
	}, hook.Call{Host: args[0], Event: args[1], Args: args[2:], In: c.In})
	_, _ = c.Data().Write(out) // an error means that the agent no longer reads
	return nil
}

// window returns a model's window.
func (c *hookCall) window(model string) precis.Window {
	cfg, err := c.Jobs.Config()
	if err != nil { // an invalid configuration must not stop an agent
		cfg = &config.Config{}
	}
	return windowOf(cfg)(model)
}
