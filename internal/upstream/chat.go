package upstream

import "fmt"

var chatDialect = &dialect{
	name:     "chat",
	messages: "messages",
	before:   []string{"tools"},
	callID:   "call",
	blocks:   func(message any) []any { return []any{message} },
	tools: func(declared object) (tool, bool) {
		kind := str(declared, "type")
		f, ok := declared[kind].(object)
		schema, _ := f["parameters"].(object)
		return tool{name: str(f, "name"), schema: schema, free: kind == "custom"}, ok
	},
	refuse:   openaiError,
	overflow: chatOverflow,
	whole:    chatWhole,
	stream:   chatStream,
}

// openaiError is an error of OpenAI's APIs.
func openaiError(code, message string) object {
	e := object{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	return object{"error": e}
}

func chatOverflow(used, limit int) object {
	return openaiError("context_length_exceeded",
		fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", limit, used))
}

func chatWhole(a *answer) object {
	m := object{"role": "assistant", "content": a.text, "refusal": nil}
	if a.thinking != "" {
		m["reasoning_content"] = a.thinking
	}
	if calls := a.chatCalls(); len(calls) > 0 {
		m["tool_calls"] = calls
	}
	out := a.chatObject("chat.completion")
	out["choices"] = []any{object{"index": 0, "message": m, "finish_reason": a.chatFinish(), "logprobs": nil}}
	out["usage"] = a.chatUsage()
	return out
}

func (a *answer) chatObject(kind string) object {
	return object{"id": "chatcmpl-" + a.id, "object": kind, "created": 1, "model": str(a.body, "model")}
}

func (a *answer) chatUsage() object {
	u := a.usage
	return object{
		"prompt_tokens": u.input, "completion_tokens": u.output, "total_tokens": u.input + u.output,
		"prompt_tokens_details": object{"cached_tokens": u.read},
	}
}

func (a *answer) chatFinish() string {
	if len(a.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (a *answer) chatCalls() (out []object) {
	for _, c := range a.calls {
		if c.tool.free {
			out = append(out, object{"id": c.id, "type": "custom",
				"custom": object{"name": c.tool.name, "input": c.free}})
			continue
		}
		out = append(out, object{"id": c.id, "type": "function",
			"function": object{"name": c.tool.name, "arguments": string(encode(c.args))}})
	}
	return out
}

func chatStream(a *answer, w *events) {
	chunk := func(delta object, finish any) {
		c := a.chatObject("chat.completion.chunk")
		c["choices"] = []any{object{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
		w.send("", c)
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if a.thinking != "" {
		chunk(object{"reasoning_content": a.thinking}, nil)
	}
	for _, half := range splitInTwo(a.text) {
		chunk(object{"content": half}, nil)
	}
	for i, c := range a.chatCalls() {
		c["index"] = i
		body, field := c[str(c, "type")].(object), "arguments"
		if c["type"] == "custom" {
			field = "input"
		}
		text := str(body, field)
		body[field] = ""
		chunk(object{"tool_calls": []any{c}}, nil)
		for _, half := range splitInTwo(text) {
			chunk(object{"tool_calls": []any{object{"index": i, str(c, "type"): object{field: half}}}}, nil)
		}
	}
	chunk(object{}, a.chatFinish())
	if options, _ := a.body["stream_options"].(object); options["include_usage"] == true {
		c := a.chatObject("chat.completion.chunk")
		c["choices"], c["usage"] = []any{}, a.chatUsage()
		w.send("", c)
	}
	w.raw("", "[DONE]")
}
