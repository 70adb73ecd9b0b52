package providertest

import (
	"encoding/json"
	"slices"
)

// chatChecker checks a request to the Chat Completions API.
type chatChecker struct {
	*checker
	fields object
}

func (c *chatChecker) request() {
	f := c.fields
	c.word(f, "body", "model")
	c.streamOptions(f)
	c.limits()
	if !absent(f["tools"]) {
		c.list(f["tools"], "tools", 1)
	}
	c.tools(f, func(tool object, param string) {
		if kind := c.one(tool, param, "type", "function", "custom"); kind != "" {
			c.word(c.object(tool[kind], at(param, 0)+"."+kind), param+"."+kind, "name")
		}
	})
	c.messages()
}

func (c *chatChecker) limits() {
	_, older := c.number(c.fields, "max_tokens", 1)
	_, newer := c.number(c.fields, "max_completion_tokens", 1)
	const unsupported = "Unsupported parameter: '%s' is not supported with this model. Use '%s' instead."
	switch known := c.options.ChatLimit; {
	case older && newer:
		c.check(false, "max_tokens", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported")
	case older && known == "max_completion_tokens":
		c.refuse("unsupported_parameter", "max_tokens", unsupported, "max_tokens", known)
	case newer && known == "max_tokens":
		c.refuse("unsupported_parameter", "max_completion_tokens", unsupported, "max_completion_tokens",
			known)
	}
}

// messages checks the messages and that calls are answered right after the
// message that made them.
func (c *chatChecker) messages() {
	var open []string
	for i, raw := range c.list(c.fields["messages"], "messages", 1) {
		param := at("messages", i)
		m := c.object(raw, param)
		role := c.one(m, param, "role", "system", "developer", "user", "assistant", "tool", "function")
		if role == "tool" {
			id := c.word(m, param, "tool_call_id")
			n := slices.Index(open, id)
			c.check(n >= 0, param, "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'")
			if n >= 0 {
				open = slices.Delete(open, n, n+1)
			}
		} else {
			c.unanswered(open, param)
			open = nil
		}
		switch {
		case role == "assistant":
			open = c.assistant(m, param)
		case role == "function" && absent(m["content"]):
		default:
			c.content(m["content"], param+".content", role)
		}
	}
	c.unanswered(open, "messages")
}

func (c *chatChecker) unanswered(open []string, param string) {
	c.check(len(open) == 0, param,
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %v", open)
}

// assistant checks a message of the assistant and returns the IDs of its calls.
func (c *chatChecker) assistant(m object, param string) (ids []string) {
	called := !absent(m["tool_calls"]) || !absent(m["function_call"])
	if !absent(m["content"]) {
		c.content(m["content"], param+".content", "assistant")
	} else {
		c.check(called || !absent(m["refusal"]) || !absent(m["audio"]), param+".content",
			"expected a string, got null")
	}
	if absent(m["tool_calls"]) {
		return nil
	}
	for i, raw := range c.list(m["tool_calls"], param+".tool_calls", 1) {
		param := at(param+".tool_calls", i)
		call := c.object(raw, param)
		id := c.word(call, param, "id")
		c.check(!slices.Contains(ids, id), param, "duplicate tool call ID")
		ids = append(ids, id)
		switch c.one(call, param, "type", "function", "custom") {
		case "function":
			f := c.object(call["function"], param+".function")
			c.word(f, param+".function", "name")
			c.str(f, param+".function", "arguments")
		case "custom":
			f := c.object(call["custom"], param+".custom")
			c.word(f, param+".custom", "name")
			c.str(f, param+".custom", "input")
		}
	}
	return ids
}

// chatParts are the types of parts that a role's content may have.
var chatParts = map[string][]string{
	"user":      {"text", "image_url", "input_audio", "file"},
	"assistant": {"text", "refusal"},
	"":          {"text"},
}

func (c *chatChecker) content(raw json.RawMessage, param, role string) {
	if isString(raw) {
		return
	}
	known := chatParts[role]
	if known == nil {
		known = chatParts[""]
	}
	for i, raw := range c.list(raw, param, 1) {
		param := at(param, i)
		p := c.object(raw, param)
		switch kind := c.one(p, param, "type", known...); kind {
		case "text", "refusal":
			c.str(p, param, kind)
		case "image_url":
			c.word(c.object(p["image_url"], param+".image_url"), param+".image_url", "url")
		case "":
		default:
			c.object(p[kind], param+"."+kind)
		}
	}
}
