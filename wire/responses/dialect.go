package responses

import (
	"fmt"

	"precis"
)

// Dialect is the rules of the Responses API.
type Dialect struct{}

// Name returns [Format].
func (Dialect) Name() string { return Format }

// Check returns what the API would refuse. Items pair by ID alone: every call is
// answered once, somewhere after it, and every answer has its call before it.
// Reasoning stands right before what it led to, so never before the user's word
// and never last.
func (Dialect) Check(view []precis.Message) []precis.Breach {
	c := checker{open: map[string]int{}, seen: map[string]bool{}, reasoning: -1}
	for i, m := range view {
		c.message(i, m)
	}
	c.unfollowed()
	for i, m := range view {
		for _, b := range m.Content {
			if use, ok := b.(precis.ToolUse); ok && c.open[use.ID] == i+1 {
				c.add(i, "pairing", "tool use %q has no result", use.ID)
			}
		}
	}
	return c.breaches
}

type checker struct {
	breaches  []precis.Breach
	open      map[string]int // calls not yet answered: their message, counted from 1
	seen      map[string]bool
	reasoning int // message of reasoning that nothing has followed yet; -1: none
}

func (c *checker) add(i int, rule, format string, args ...any) {
	c.breaches = append(c.breaches, precis.Breach{Message: i, Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) unfollowed() {
	if c.reasoning >= 0 {
		c.add(c.reasoning, "order", "reasoning without the item it led to")
	}
	c.reasoning = -1
}

func (c *checker) message(i int, m precis.Message) {
	switch m.Role {
	case precis.RoleUser, precis.RoleSystem:
		c.unfollowed()
	case precis.RoleAssistant:
	default:
		c.add(i, "role", "unknown role %q", m.Role)
		return
	}
	for _, b := range m.Content {
		switch b := b.(type) {
		case precis.Thinking:
			if m.Format == Format {
				c.reasoning = i
			}
			continue
		case precis.ToolUse:
			c.use(i, m.Role, b.ID)
		case precis.ToolResult:
			c.result(i, m.Role, b.ToolUseID)
		}
		c.reasoning = -1
	}
}

func (c *checker) use(i int, role precis.Role, id string) {
	switch {
	case role != precis.RoleAssistant:
		c.add(i, "role", "tool use %q in a %s message", id, role)
	case c.seen[id]:
		c.add(i, "duplicate", "tool use ID %q is used twice", id)
	default:
		c.seen[id], c.open[id] = true, i+1
	}
}

func (c *checker) result(i int, role precis.Role, id string) {
	_, open := c.open[id]
	switch {
	case role != precis.RoleUser:
		c.add(i, "role", "tool result %q in a %s message", id, role)
	case !open && c.seen[id]:
		c.add(i, "duplicate", "tool use %q is answered twice", id)
	case !open:
		c.add(i, "pairing", "tool result %q has no tool use before it", id)
	}
	delete(c.open, id)
}
