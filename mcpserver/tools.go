package mcpserver

import (
	"context"
	"reflect"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/precis-dev/precis/conversation"
)

// call is one call of a tool.
type call struct {
	home  conversation.Home // restricted to the conversations that the client may see
	edits bool
	// of [Options.Edited]
	onEdit   func(ctx context.Context, conversation string, edits []conversation.EditInfo)
	progress progress
}

// edited reports edits of a conversation.
func (c *call) edited(ctx context.Context, id string, edits ...conversation.EditInfo) {
	if c.onEdit != nil && len(edits) > 0 {
		c.onEdit(ctx, id, edits)
	}
}

// textOnly is the result type of a tool that returns only text. It has no structured content: some
// clients show a model both, so everything would be sent twice, and others show only the structured
// content, so the text would have to be repeated in it.
type textOnly = any

// tool is a tool with its arguments and its result.
type tool[In, Out any] struct {
	name, description string
	changes           bool // it may change what a model sees; false: it only reads
	idempotent        bool // with changes: the tool is idempotent
	// run returns the result, and a text of a few lines about it.
	run func(ctx context.Context, c *call, in In) (Out, string, error)
}

// add registers the tool with a server.
func (t tool[In, Out]) add(s *server) {
	notes := &mcp.ToolAnnotations{ReadOnlyHint: !t.changes || !s.o.Edits, OpenWorldHint: new(bool)}
	if notes.IdempotentHint = notes.ReadOnlyHint || t.idempotent; !notes.ReadOnlyHint {
		notes.DestructiveHint = new(bool) // every change can be undone
	}
	def := &mcp.Tool{Name: t.name, Description: t.description,
		InputSchema: s.schemas.in(reflect.TypeFor[In]()), Annotations: notes}
	if out := reflect.TypeFor[Out](); out != reflect.TypeFor[textOnly]() {
		def.OutputSchema = s.schemas.resultSchema(out)
	}
	mcp.AddTool(s.Server, def, func(ctx context.Context, r *mcp.CallToolRequest,
		in In) (*mcp.CallToolResult, Out, error) {
		var none Out
		home, ask, err := s.scope(r.ClientCapabilities(), r.Params.InputResponses)
		if err != nil {
			return nil, none, explain(err)
		}
		if ask != nil {
			return &mcp.CallToolResult{InputRequests: ask}, none, nil
		}
		out, text, err := t.run(ctx, &call{home: home, edits: s.o.Edits, onEdit: s.o.Edited,
			progress: progressOf(r)}, in)
		if err != nil {
			return nil, none, explain(err)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: visible(text)}}}, out, nil
	})
}

func (s *server) addTools() {
	sessions.add(s)
	search.add(s)
	expand.add(s)
	digests.add(s)
	status.add(s)
	condense.add(s)
	pin.add(s)
	verifyTool.add(s)
	handoffTool.add(s)
}
