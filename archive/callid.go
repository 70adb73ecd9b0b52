package archive

import (
	"fmt"

	"github.com/precis-dev/precis"
)

// itemFormat is the format of messages from items of the Responses API.
const itemFormat = "responses"

// CallIDs assigns an ID to each tool use without one, and the same ID to its result. Results
// without an ID are matched in the order of the calls. An item of the Responses API that follows no
// such call is not a result but text by the program. The zero value is ready. One CallNames serves
// one conversation, message by message.
type CallIDs struct {
	calls      int
	unanswered []string // assigned IDs without a result yet
}

// Assign returns m with IDs assigned to its calls and results. A message with all IDs is returned
// unchanged.
func (c *CallIDs) Assign(m precis.Message) precis.Message {
	named := false
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.ToolUse:
			named = named || b.ID == ""
		case precis.ToolResult:
			named = named || b.ToolUseID == "" && (m.Format != itemFormat || len(c.unanswered) > 0)
		}
	}
	if !named {
		return m
	}
	content := make([]precis.Block, len(m.Content))
	for i, b := range m.Content {
		content[i] = c.block(b)
	}
	m.Content, m.Raw = content, nil
	return m
}

func (c *CallIDs) block(b precis.Block) precis.Block {
	switch b := b.(type) {
	case precis.ToolUse:
		if b.ID == "" {
			b.ID, b.Raw = c.next(), nil
			c.unanswered = append(c.unanswered, b.ID)
		}
		return b
	case precis.ToolResult:
		if b.ToolUseID != "" {
			return b
		}
		b.Raw = nil
		if len(c.unanswered) == 0 {
			b.ToolUseID = c.next()
			return b
		}
		b.ToolUseID, c.unanswered = c.unanswered[0], c.unanswered[1:]
		return b
	}
	return b
}

func (c *CallIDs) next() string {
	c.calls++
	return fmt.Sprintf("precis_call_%d", c.calls)
}
