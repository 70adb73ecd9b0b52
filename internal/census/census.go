// Package census says who uses a conversation's context: tokens by kind of
// content and by tool, and what is there more than once. Start with [Take].
package census

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"precis"
	"precis/internal/toolcall"
)

// Kind is a kind of content.
type Kind string

// The kinds, in the order they are shown.
const (
	System     Kind = "system"
	Tools      Kind = "tools"
	Digest     Kind = "digest" // what stands in the place of messages: a summary, a digest, a marker
	User       Kind = "user"
	Assistant  Kind = "assistant"
	Thinking   Kind = "thinking"
	ToolUse    Kind = "tool use"
	ToolResult Kind = "tool result"
	Media      Kind = "media"
	Other      Kind = "other"
)

// Kinds returns all kinds in order.
func Kinds() []Kind {
	return []Kind{System, Tools, Digest, User, Assistant, Thinking, ToolUse, ToolResult, Media, Other}
}

// Share is what one kind or tool uses.
type Share struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Blocks int    `json:"blocks"`
}

// Census is the result, for a list of messages.
type Census struct {
	Total      int     `json:"tokens"`
	Kinds      []Share `json:"kinds"`      // by kind, in order; those that occur
	Results    []Share `json:"results"`    // tool results by tool, largest first
	Duplicates Share   `json:"duplicates"` // long texts that come again word for word; their copies
}

// longText is the least length, in bytes, of a text that counts as repeated.
const longText = 200

// Take counts a conversation's system prompt and tools, and the messages of a view
// in pieces.
func Take(c *precis.Conversation, units []precis.Unit, m *precis.Meter) Census {
	t := taker{meter: m, kinds: map[Kind]*Share{}, tools: map[string]*Share{}, seen: map[[32]byte]bool{}}
	if c.HasSystem() {
		t.add(System, m.Message(c.System))
	}
	if len(c.Tools) > 0 {
		t.add(Tools, m.Block(precis.RoleSystem, precis.Text{Text: string(c.Tools)}))
	}
	msgs := make([]precis.Message, 0, len(units))
	for _, u := range units {
		msgs = append(msgs, u.Messages...)
	}
	t.results = resultTools(msgs)
	i := 0
	for _, u := range units {
		for _, msg := range u.Messages {
			for b, block := range msg.Content {
				t.block(precis.BlockHandle(i, b), msg.Role, block, !u.Original())
			}
			i++
		}
	}
	return t.census()
}

type taker struct {
	meter   *precis.Meter
	kinds   map[Kind]*Share
	tools   map[string]*Share
	results map[precis.Handle]string
	seen    map[[32]byte]bool
	copies  Share
}

// resultTools maps each block that holds a tool's result to the tool's name.
func resultTools(msgs []precis.Message) map[precis.Handle]string {
	out := map[precis.Handle]string{}
	for _, call := range toolcall.Find(msgs) {
		for _, h := range call.Results {
			out[h] = call.Name
		}
	}
	return out
}

func (t *taker) add(k Kind, tokens int) {
	s := t.kinds[k]
	if s == nil {
		s = &Share{Name: string(k)}
		t.kinds[k] = s
	}
	s.Tokens += tokens
	s.Blocks++
}

// block counts one block; instead says that it stands in the place of messages.
func (t *taker) block(h precis.Handle, role precis.Role, b precis.Block, instead bool) {
	tokens := t.meter.Block(role, b)
	tool, isResult := t.results[h]
	kind := kindOf(role, b)
	if _, text := b.(precis.Text); text && instead {
		kind = Digest
	}
	if isResult && kind == User {
		kind = ToolResult
	}
	t.add(kind, tokens)
	if kind == ToolResult {
		if tool == "" {
			tool = "(unknown)"
		}
		if t.tools[tool] == nil {
			t.tools[tool] = &Share{Name: tool}
		}
		t.tools[tool].Tokens += tokens
		t.tools[tool].Blocks++
	}
	t.repeat(b, tokens)
}

// repeat notes a long text that was there before.
func (t *taker) repeat(b precis.Block, tokens int) {
	text := ""
	switch b := b.(type) {
	case precis.Text:
		text = b.Text
	case precis.ToolResult:
		text = b.Text()
	}
	if len(text) < longText {
		return
	}
	key := sha256.Sum256([]byte(text))
	if t.seen[key] {
		t.copies.Tokens += tokens
		t.copies.Blocks++
	}
	t.seen[key] = true
}

func kindOf(role precis.Role, b precis.Block) Kind {
	switch b.(type) {
	case precis.ToolUse:
		return ToolUse
	case precis.ToolResult:
		return ToolResult
	case precis.Thinking, precis.RedactedThinking:
		return Thinking
	case precis.Image, precis.Document:
		return Media
	case precis.Text:
		switch role {
		case precis.RoleUser:
			return User
		case precis.RoleAssistant:
			return Assistant
		}
		return System
	}
	return Other
}

func (t *taker) census() Census {
	c := Census{Duplicates: t.copies}
	c.Duplicates.Name = "duplicates"
	for _, k := range Kinds() {
		if s := t.kinds[k]; s != nil {
			c.Kinds = append(c.Kinds, *s)
			c.Total += s.Tokens
		}
	}
	for _, s := range t.tools {
		c.Results = append(c.Results, *s)
	}
	slices.SortFunc(c.Results, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Name, b.Name))
	})
	return c
}
