package serving

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/jobs"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/mcpserver"
)

// serveMCP serves conversations to an agent.
type serveMCP struct {
	*command.Tools
	edits bool
}

// NewMCP makes the command mcp.
func NewMCP(t *command.Tools) *cobra.Command {
	c := &serveMCP{Tools: t}
	cmd := &cobra.Command{
		Use:   "mcp [FILE]",
		Short: "Serve conversations to an agent, over the Model Context Protocol",
		Long: `Serve the conversations that agents have recorded on this machine, or the one in
FILE, to an agent over the Model Context Protocol, on standard input and output:
search, originals by handle, digests, the composition of the window, previews of
condensing, and briefs for another agent. Add it to an agent's configuration,
for example:

  claude mcp add precis -- precis mcp
  codex mcp add precis -- precis mcp

A client that announces roots sees the sessions of projects below them. Nothing
can be changed unless --allow-edits is given with a FILE; edits are then kept as
precis condense keeps them, and precis undo takes them back. A gateway serves
its conversations at /precis/mcp.`,
		Args: command.Takes("[FILE]"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.edits, "allow-edits", false, "let the agent condense and pin")
	return cmd
}

func (c *serveMCP) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	home, err := c.home(ctx, args)
	if err != nil {
		return err
	}
	return mcpserver.Serve(ctx, mcpserver.Options{Home: home, Edits: c.edits, Version: c.Version}, c.In,
		c.Data())
}

// home opens the source of conversations: a recording, or all sessions of this machine.
func (c *serveMCP) home(ctx context.Context, args []string) (conversation.Home, error) {
	if len(args) == 0 {
		return c.sessions(ctx)
	}
	j, err := c.recording(ctx, args[0])
	if err != nil {
		return nil, err
	}
	return j.Home, nil
}

const opServe = "serve agent"

func (c *serveMCP) sessions(ctx context.Context) (conversation.Home, error) {
	if c.edits {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opServe,
			Err:  errors.New("the sessions of agents are only read"),
			Hint: "precis mcp --allow-edits FILE edits one recording"}
	}
	lib, err := c.Jobs.Sessions(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	return newLiving(lib, time.Now), nil
}

func (c *serveMCP) recording(ctx context.Context, path string) (*jobs.Job, error) {
	if path == "-" {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: opServe,
			Err: errors.New("standard input is for the agent"), Hint: "name a file"}
	}
	if c.edits {
		return c.Jobs.Condense(ctx, path, jobs.Condensing{})
	}
	return c.Jobs.Open(ctx, path)
}
