package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/handoff"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/policy"
)

// prompt writes a user message to a model.
type prompt func(ctx context.Context, c *call, arguments map[string]string) (string, error)

func (s *server) addPrompts() {
	session := &mcp.PromptArgument{Name: "id", Description: "session; empty or @last: the newest"}
	s.AddPrompt(&mcp.Prompt{Name: "handoff", Title: "Go on with the work of another session",
		Description: "A brief of a session's work, with a goal",
		Arguments: []*mcp.PromptArgument{session, {Name: "goal", Description: "what is to be done next"},
			{Name: "format", Description: strings.Join(handoff.Formats(), ", ")}}}, s.prompt(handoffPrompt))
	s.AddPrompt(&mcp.Prompt{Name: "recover", Title: "Read what was lost and continue",
		Description: "Where a session stands, what its view has lost, and where to read it",
		Arguments:   []*mcp.PromptArgument{session}}, s.prompt(recoverPrompt))
}

func (s *server) prompt(write prompt) mcp.PromptHandler {
	return func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		home, ask, err := s.scope(r.ClientCapabilities(), r.Params.InputResponses)
		if err != nil {
			return nil, explain(err)
		}
		if ask != nil {
			return &mcp.GetPromptResult{InputRequests: ask}, nil
		}
		text, err := write(ctx, &call{home: home}, r.Params.Arguments)
		if err != nil {
			return nil, explain(err)
		}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user",
			Content: &mcp.TextContent{Text: visible(text)}}}}, nil
	}
}

func handoffPrompt(ctx context.Context, c *call, arguments map[string]string) (string, error) {
	w, err := c.which(ctx, arguments["id"])
	if err != nil {
		return "", err
	}
	b, err := handoff.Write(ctx, c.home, w.id,
		handoff.Options{Goal: arguments["goal"], Format: arguments["format"]})
	if err != nil {
		return "", err
	}
	return b.Text + "\n\nGo on with this work. Read originals before you rely on a detail that the brief does not have.", nil
}

// mostLost is how many lost facts the prompt recover lists.
const mostLost = 20

func recoverPrompt(ctx context.Context, c *call, arguments map[string]string) (string, error) {
	w, err := c.which(ctx, arguments["id"])
	if err != nil {
		return "", err
	}
	d, err := conversation.Digest(ctx, c.home, w.id, conversation.DigestOptions{Tokens: defaultDigest})
	if err != nil {
		return "", err
	}
	lost, err := conversation.Loss(ctx, c.home, w.id)
	if err != nil {
		return "", err
	}
	r := lost.Retention
	text := fmt.Sprintf("The context of session %s was condensed: %d of %d messages are hidden, %d shortened. Read what you need and continue.\n\n%s\n",
		preview.Line(w.id, 120), lost.Hidden, lost.Messages, lost.Shortened, d.Text)
	item := func(a policy.LostAnchor) string {
		return fmt.Sprintf("- %s: %s", a.Handle, preview.Line(a.Text, 200))
	}
	if len(r.RulesLost) > 0 {
		text += "\n## Rules of the user that are not in view\n" +
			lines(r.RulesLost[:min(len(r.RulesLost), mostLost)], item)
	}
	if len(r.Lost) > 0 {
		text += "\n## Lost from view, the likeliest to be needed first\n" +
			lines(r.Lost[:min(len(r.Lost), mostLost)], item)
	}
	return text + fmt.Sprintf("\nBefore you go on: read with the tool expand (id %q and a handle) what the current request needs, or find it with search. Then continue where the work stands.", preview.Line(w.id, 120)), nil
}
