package overflow

import "strings"

// echoes are members that repeat the request or carry the answer. Their content does not come from
// the server's error.
var echoes = set(
	"input", "inputs", "messages", "prompt", "prompts", "content", "contents", "tools", "arguments",
	"delta_text", "thinking",
	"reasoning", "reasoning_content", "output", "output_text", "system", "instructions", "completion",
	"generated_text", "query",
	"headers", "logs", "documents", "request",
)

// messages are members of the outermost object that hold an error's text even without any other
// sign of an error.
var messages = set("message", "msg", "detail", "error_msg", "error_message", "type", "code")

// reasons are the members with the stop reason of an answer.
var reasons = set("stop_reason", "finish_reason", "stopreason", "finishreason", "native_finish_reason",
	"done_reason")

// failing reports whether all content of a member belongs to an error.
func failing(name string) bool {
	switch name {
	case "base_resp", "status_msg", "detail", "details", "fault", "failure", "header":
		return true
	}
	return strings.HasPrefix(name, "err") || strings.HasSuffix(name, "error") ||
		strings.HasSuffix(name, "errors") || strings.HasSuffix(name, "exception")
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
