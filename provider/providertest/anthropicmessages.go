package providertest

import (
	"encoding/json"
	"slices"
	"strings"
)

// anthropicTurn is messages of one role that follow each other, which the API
// treats as one.
type anthropicTurn struct {
	role   string
	param  string
	blocks []object
}

// messages checks the messages and how tool uses and results are paired.
func (c *anthropicChecker) messages(thinking bool) {
	var turns []anthropicTurn
	before, ends := "", "" // the role of the message before, and the type of its last block
	for i, raw := range c.list(c.fields["messages"], "messages", 1) {
		param := at("messages", i)
		m := c.object(raw, param)
		role := c.one(m, param, "role", "user", "assistant", "system")
		blocks := c.content(m["content"], param+".content", role)
		c.placed(param, before, ends, role)
		if before, ends = role, ""; len(blocks) > 0 {
			ends = text(blocks[len(blocks)-1]["type"])
		}
		if role == "system" {
			continue // instructions in the middle stand next to the turns
		}
		c.check(len(blocks) > 0, param, "all messages must have non-empty content")
		if n := len(turns); n > 0 && turns[n-1].role == role {
			turns[n-1].blocks = append(turns[n-1].blocks, blocks...)
		} else {
			turns = append(turns, anthropicTurn{role, param, blocks})
		}
	}
	if !c.check(len(turns) > 0 && turns[0].role == "user", "messages",
		"first message must use the \"user\" role") {
		return
	}
	c.check(turns[len(turns)-1].role == "user", "messages",
		"This model does not support assistant message prefill. The conversation must end with a user message.")
	for i, turn := range turns {
		var before, after anthropicTurn
		if i > 0 {
			before = turns[i-1]
		}
		if i+1 < len(turns) {
			after = turns[i+1]
		}
		c.pairs(before, turn, after)
	}
	c.openLoop(turns, thinking)
}

// placed checks that a system message follows a user message, or an assistant message
// that ends with the result of a server tool, and that none is followed by a user
// message or by another.
func (c *anthropicChecker) placed(param, before, ends, role string) {
	switch {
	case role == "system" && before == "":
		c.check(false, param, "a `system` message cannot be the first message")
	case role == "system" && before != "user":
		c.check(before == "assistant" && strings.HasSuffix(ends, "_tool_result"), param,
			"a `system` message must follow a `user` message")
	case role == "user" && before == "system":
		c.check(false, param, "a `system` message must be followed by an `assistant` message or be the last")
	}
}

// pairs checks that each tool use is answered in the next turn, first thing, and
// each result answers one.
func (c *anthropicChecker) pairs(before, turn, after anthropicTurn) {
	uses := ids(before, "tool_use", "id")
	other := false
	for _, b := range turn.blocks {
		if text(b["type"]) != "tool_result" {
			other = true
			continue
		}
		id := text(b["tool_use_id"])
		c.check(slices.Contains(uses, id), turn.param,
			"unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", id)
		c.check(!other, turn.param, "`tool_result` blocks must come first in the turn")
	}
	answers := ids(after, "tool_result", "tool_use_id")
	seen := map[string]bool{}
	for _, id := range ids(turn, "tool_use", "id") {
		c.check(!seen[id], turn.param, "`tool_use` ids must be unique")
		seen[id] = true
		n := 0
		for _, a := range answers {
			if a == id {
				n++
			}
		}
		c.check(n > 0, turn.param, "`tool_use` ids were found without `tool_result` blocks immediately after: %s", id)
		c.check(n < 2, turn.param, "each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", id)
	}
	if len(seen)+len(answers) > 0 {
		c.check(!absent(c.fields["tools"]), "tools",
			"Requests which include `tool_use` or `tool_result` blocks must define tools")
	}
}

// openLoop checks that the turn which made the calls now answered still begins
// with its thinking.
func (c *anthropicChecker) openLoop(turns []anthropicTurn, thinking bool) {
	if n := len(turns); thinking && n > 1 && len(ids(turns[n-1], "tool_result", "tool_use_id")) > 0 {
		kind := text(turns[n-2].blocks[0]["type"])
		if text(c.object(c.fields["thinking"], "thinking")["type"]) == "enabled" {
			c.check(strings.HasSuffix(kind, "thinking"), turns[n-2].param,
				"Expected `thinking` or `redacted_thinking`, but found `%s`", kind)
		}
	}
}

// ids returns a field of the blocks of one type.
func ids(t anthropicTurn, kind, field string) (out []string) {
	for _, b := range t.blocks {
		if text(b["type"]) == kind {
			out = append(out, text(b[field]))
		}
	}
	return out
}

// content checks a string or a list of blocks and returns the blocks.
func (c *anthropicChecker) content(raw json.RawMessage, param, role string) []object {
	if isString(raw) {
		c.check(strings.TrimSpace(text(raw)) != "", param, "text content blocks must be non-empty")
		return []object{{"type": json.RawMessage(`"text"`), "text": raw}}
	}
	var out []object
	for i, raw := range c.list(raw, param, 0) {
		b := c.object(raw, at(param, i))
		c.block(b, at(param, i), role)
		out = append(out, b)
	}
	return out
}

// opaqueBlocks are known by name and not looked into.
var opaqueBlocks = []string{
	"search_result", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
	"code_execution_tool_result",
	"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
	"advisor_tool_result", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "container_upload",
	"compaction",
	"tool_addition", "tool_removal", "fallback", "tool_reference", "browser_state",
}

func (c *anthropicChecker) block(b object, param, role string) {
	kind := text(b["type"])
	switch kind {
	case "text":
		c.check(strings.TrimSpace(text(b["text"])) != "", param+".text",
			"text content blocks must be non-empty")
	case "thinking":
		c.check(role == "assistant", param, "`thinking` blocks can only be in `assistant` messages")
		c.str(b, param, "thinking")
		c.word(b, param, "signature")
	case "redacted_thinking":
		c.check(role == "assistant", param, "`redacted_thinking` blocks can only be in `assistant` messages")
		c.word(b, param, "data")
	case "tool_use":
		c.check(role == "assistant", param, "`tool_use` blocks can only be in `assistant` messages")
		c.word(b, param, "id")
		c.word(b, param, "name")
		c.object(b["input"], param+".input")
	case "tool_result":
		c.check(role == "user", param, "`tool_result` blocks can only be in `user` messages")
		c.word(b, param, "tool_use_id")
		if content := b["content"]; !absent(content) && !isString(content) {
			c.content(content, param+".content", "tool_result")
		}
	case "image", "document":
		c.source(b, param)
	default:
		c.check(slices.Contains(opaqueBlocks, kind), param,
			"Input tag '%s' found using 'type' does not match any of the expected tags", kind)
	}
}

// source checks where an image or document comes from.
func (c *anthropicChecker) source(b object, param string) {
	param += ".source"
	s := c.object(b["source"], param)
	switch c.one(s, param, "type", "base64", "url", "text", "content", "file") {
	case "base64", "text":
		c.word(s, param, "media_type")
		c.word(s, param, "data")
	case "url":
		c.word(s, param, "url")
	}
}
