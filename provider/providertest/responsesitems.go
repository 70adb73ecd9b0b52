package providertest

import (
	"encoding/json"
	"slices"
)

// opaqueItems are known by name and not looked into.
var opaqueItems = []string{
	"local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call",
	"apply_patch_call_output", "web_search_call", "file_search_call", "computer_call", "computer_call_output",
	"code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request",
	"mcp_approval_response", "tool_search_call", "tool_search_output", "additional_tools",
	"configuration_update",
	"program", "program_output", "compaction", "compaction_trigger", "item_reference",
}

// item checks one item and returns its type, and whether it answers a call.
func (c *responsesChecker) item(item object, param string) (kind string, answer bool) {
	kind = text(item["type"])
	if kind == "" && item["role"] != nil {
		kind = "message"
	}
	switch kind {
	case "message":
		role := c.one(item, param, "role", "user", "assistant", "system", "developer")
		c.content(item["content"], param+".content", role)
	case "function_call":
		c.word(item, param, "name")
		c.str(item, param, "arguments")
	case "custom_tool_call":
		c.word(item, param, "name")
		c.str(item, param, "input")
	case "function_call_output", "custom_tool_call_output":
		if output := item["output"]; !isString(output) {
			c.parts(output, param+".output", "input_text", "input_image", "input_file")
		}
		return kind, true
	case "reasoning":
		for i, raw := range c.list(item["summary"], param+".summary", 0) {
			part := at(param+".summary", i)
			c.one(c.object(raw, part), part, "type", "summary_text")
		}
	default:
		c.check(slices.Contains(opaqueItems, kind), param+".type", "Invalid value: '%s'", kind)
	}
	return kind, false
}

func (c *responsesChecker) content(raw json.RawMessage, param, role string) {
	switch {
	case isString(raw):
	case role == "assistant":
		c.parts(raw, param, "output_text", "refusal")
	default:
		c.parts(raw, param, "input_text", "input_image", "input_file", "input_audio")
	}
}

func (c *responsesChecker) parts(raw json.RawMessage, param string, known ...string) {
	for i, raw := range c.list(raw, param, 1) {
		param := at(param, i)
		p := c.object(raw, param)
		switch kind := c.one(p, param, "type", known...); kind {
		case "input_text", "output_text":
			c.str(p, param, "text")
		case "refusal":
			c.str(p, param, "refusal")
		case "input_image":
			c.check(text(p["image_url"])+text(p["file_id"]) != "", param,
				"an image_url or file_id is required")
		case "input_file":
			c.check(text(p["file_data"])+text(p["file_url"])+text(p["file_id"]) != "", param,
				"a file is required")
		}
	}
}
