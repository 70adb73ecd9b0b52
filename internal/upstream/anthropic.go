package upstream

import "fmt"

var anthropicDialect = &dialect{
	name:     "anthropic",
	messages: "messages",
	before:   []string{"tools", "system"},
	callID:   "toolu",
	blocks:   func(message any) []any { m, _ := message.(object); return elements(m["content"]) },
	tools: func(declared object) (tool, bool) {
		schema, ok := declared["input_schema"].(object)
		return tool{name: str(declared, "name"), schema: schema}, ok
	},
	refuse: func(_, message string) object { return anthropicError(message) },
	overflow: func(used, limit int) object {
		return anthropicError(fmt.Sprintf("prompt is too long: %d tokens > %d maximum", used, limit))
	},
	whole:  anthropicWhole,
	stream: anthropicStream,
}

func anthropicError(message string) object {
	return object{"type": "error", "error": object{"type": "invalid_request_error", "message": message},
		"request_id": "req_scripted"}
}

func anthropicWhole(a *answer) object {
	m := a.anthropicMessage()
	m["content"] = a.anthropicContent()
	m["stop_reason"] = a.anthropicStop()
	return m
}

func (a *answer) anthropicMessage() object {
	u := a.usage
	m := object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": str(a.body, "model"),
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{
			"input_tokens": u.input - u.read - u.written, "output_tokens": u.output,
			"cache_read_input_tokens": u.read, "cache_creation_input_tokens": u.written,
		},
	}
	if a.controls {
		m["input_transformations"] = transformations(a.dropped)
	}
	return m
}

func (a *answer) anthropicContent() (out []object) {
	if a.signature != "" {
		out = append(out, object{"type": "thinking", "thinking": a.thinking, "signature": a.signature})
	}
	out = append(out, object{"type": "text", "text": a.text})
	for _, c := range a.calls {
		out = append(out, object{"type": "tool_use", "id": c.id, "name": c.tool.name, "input": c.args})
	}
	return out
}

func (a *answer) anthropicStop() string {
	if len(a.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func anthropicStream(a *answer, w *events) {
	w.send("message_start", object{"message": a.anthropicMessage()})
	w.send("ping", object{})
	for i, b := range a.anthropicContent() {
		start := object{"type": b["type"]}
		var deltas []object
		switch b["type"] {
		case "thinking":
			start["thinking"], start["signature"] = "", ""
			if a.thinking != "" {
				deltas = append(deltas, object{"type": "thinking_delta", "thinking": a.thinking})
			}
			deltas = append(deltas, object{"type": "signature_delta", "signature": a.signature})
		case "text":
			start["text"] = ""
			for _, half := range splitInTwo(a.text) {
				deltas = append(deltas, object{"type": "text_delta", "text": half})
			}
		case "tool_use":
			start["id"], start["name"], start["input"] = b["id"], b["name"], object{}
			for _, half := range splitInTwo(string(encode(b["input"]))) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": half})
			}
		}
		w.send("content_block_start", object{"index": i, "content_block": start})
		for _, d := range deltas {
			w.send("content_block_delta", object{"index": i, "delta": d})
		}
		w.send("content_block_stop", object{"index": i})
	}
	w.send("message_delta", object{
		"delta": object{"stop_reason": a.anthropicStop(), "stop_sequence": nil},
		"usage": a.anthropicMessage()["usage"],
	})
	w.send("message_stop", object{})
}
