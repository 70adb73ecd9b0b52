package precis

import (
	"fmt"
	"sort"
)

// Breach is one way in which a list of messages would be refused by a model's
// API.
type Breach struct {
	Message int    `json:"message"` // index in the list; -1 when it concerns the whole
	Rule    string `json:"rule"`    // pairing, order, role, empty or duplicate
	Detail  string `json:"detail"`
}

// String returns "message 3: pairing: …".
func (b Breach) String() string {
	if b.Message < 0 {
		return b.Rule + ": " + b.Detail
	}
	return fmt.Sprintf("message %d: %s: %s", b.Message, b.Rule, b.Detail)
}

// Check returns every breach of the rules that all dialects share, in the
// strictest wording, that of the Anthropic Messages API. Consecutive messages of
// one role count as one turn. The rules: the first turn is the user's; no
// message and no text block is empty; tool uses stand in assistant turns and
// tool results in user turns; every tool use is answered in the very next turn,
// before anything else in it, exactly once; every answer has its tool use in
// the turn before; no two tool uses share an ID. System messages may stand
// anywhere and belong to no turn. An empty list has no breach. [Repair] mends
// them all.
func Check(view []Message) []Breach {
	c := checker{seen: map[string]bool{}}
	for i, m := range view {
		c.message(i, m)
	}
	c.close(len(view))
	sort.SliceStable(c.breaches, func(i, j int) bool {
		a, b := c.breaches[i], c.breaches[j]
		if a.Message != b.Message {
			return a.Message < b.Message
		}
		return a.Detail < b.Detail
	})
	return c.breaches
}

type checker struct {
	breaches []Breach
	role     Role            // of the current turn
	open     map[string]int  // tool uses of the last assistant turn not yet answered, with their message
	prev     map[string]bool // all tool uses of the last assistant turn
	uses     map[string]int  // tool uses of the current assistant turn
	seen     map[string]bool
	other    bool // the current user turn has content other than tool results
	turns    int
}

func (c *checker) add(i int, rule, format string, args ...any) {
	c.breaches = append(c.breaches, Breach{Message: i, Rule: rule, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) message(i int, m Message) {
	if m.Role != RoleUser && m.Role != RoleAssistant && m.Role != RoleSystem {
		c.add(i, "role", "unknown role %q", m.Role)
		return
	}
	if len(m.Content) == 0 {
		c.add(i, "empty", "the message has no content")
	}
	if m.Role != RoleSystem && (m.Role != c.role || c.turns == 0) {
		c.turn(i, m.Role)
	}
	for _, b := range m.Content {
		c.block(i, m.Role, b)
	}
}

// turn starts a new turn at message i.
func (c *checker) turn(i int, role Role) {
	if c.turns == 0 && role == RoleAssistant {
		c.add(i, "role", "the first turn is the assistant's")
	}
	c.unanswered(i)
	if role == RoleUser {
		c.open, c.prev, c.uses = c.uses, keys(c.uses), nil
	} else {
		c.open, c.prev, c.uses = nil, nil, map[string]int{}
	}
	c.role, c.other = role, false
	c.turns++
}

// unanswered reports the tool uses that the user turn now ending left open.
func (c *checker) unanswered(i int) {
	for id, at := range c.open {
		c.add(at, "pairing", "tool use %q has no result in the next turn", id)
	}
	c.open = nil
}

func (c *checker) close(n int) {
	if c.role == RoleAssistant {
		c.open = c.uses
	}
	c.unanswered(n)
}

func (c *checker) block(i int, role Role, b Block) {
	switch b := b.(type) {
	case Text:
		if blank(b.Text) {
			c.add(i, "empty", "a text block is blank")
		}
		c.other = c.other || role != RoleSystem
	case ToolUse:
		if role != RoleAssistant {
			c.add(i, "role", "tool use %q in a %s message", b.ID, role)
			return
		}
		if c.seen[b.ID] {
			c.add(i, "duplicate", "tool use ID %q is used twice", b.ID)
		}
		c.seen[b.ID] = true
		c.uses[b.ID] = i
	case ToolResult:
		c.result(i, role, b)
	default:
		c.other = c.other || role != RoleSystem
	}
}

func (c *checker) result(i int, role Role, b ToolResult) {
	if role != RoleUser {
		c.add(i, "role", "tool result %q in a %s message", b.ToolUseID, role)
		return
	}
	if _, open := c.open[b.ToolUseID]; !open {
		if c.prev[b.ToolUseID] {
			c.add(i, "duplicate", "tool use %q is answered twice", b.ToolUseID)
		} else {
			c.add(i, "pairing", "tool result %q has no tool use in the turn before", b.ToolUseID)
		}
	}
	delete(c.open, b.ToolUseID)
	if c.other {
		c.add(i, "order", "tool result %q comes after other content of its turn", b.ToolUseID)
	}
}

func keys(m map[string]int) map[string]bool {
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}
