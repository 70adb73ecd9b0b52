package upstream

var responsesDialect = &dialect{
	name:     "responses",
	messages: "input",
	before:   []string{"tools", "instructions"},
	callID:   "call",
	blocks:   func(message any) []any { return []any{message} },
	tools: func(declared object) (tool, bool) {
		kind := str(declared, "type")
		schema, _ := declared["parameters"].(object)
		return tool{name: str(declared, "name"), schema: schema, free: kind == "custom"},
			kind == "function" || kind == "custom"
	},
	refuse: openaiError,
	overflow: func(int, int) object {
		return openaiError("context_length_exceeded",
			"Your input exceeds the context window of this model. Please adjust your input and try again.")
	},
	whole:  responsesWhole,
	stream: responsesStream,
}

// sealed begins the encrypted content of compaction items.
const sealed = "gAAAAA-sealed "

func responsesWhole(a *answer) object {
	out := a.responsesObject("completed")
	a.made = a.output()
	out["output"] = a.made
	if a.compacts {
		out["object"] = "response.compaction"
	}
	return out
}

func (a *answer) responsesObject(status string) object {
	out := object{
		"id": "resp_" + a.id, "object": "response", "created_at": 1, "status": status,
		"model": str(a.body, "model"),
		"error": nil, "incomplete_details": nil, "instructions": nil, "output": []any{}, "usage": nil,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "metadata": object{},
	}
	if status == "completed" {
		u := a.usage
		out["usage"] = object{
			"input_tokens": u.input, "output_tokens": u.output, "total_tokens": u.input + u.output,
			"input_tokens_details":  object{"cached_tokens": u.read},
			"output_tokens_details": object{"reasoning_tokens": len(a.thinking) / 4},
		}
	}
	return out
}

// output returns the items of the answer.
func (a *answer) output() (out []object) {
	if a.sealed != "" {
		return []object{{"type": "compaction", "id": "cmp_" + a.id, "encrypted_content": a.sealed}}
	}
	if a.signature != "" {
		item := object{"type": "reasoning", "id": "rs_" + a.id,
			"summary": []any{object{"type": "summary_text", "text": a.thinking}}}
		for _, included := range list(a.body["include"]) {
			if included == "reasoning.encrypted_content" {
				item["encrypted_content"] = a.signature
			}
		}
		out = append(out, item)
	}
	out = append(out, object{"type": "message", "id": "msg_" + a.id, "role": "assistant",
		"status": "completed", "content": []any{outputText(a.text)}})
	for i, c := range a.calls {
		item := object{"type": "function_call", "id": "fc_" + a.id + string(rune('a'+i)), "call_id": c.id,
			"name": c.tool.name, "arguments": string(encode(c.args)), "status": "completed"}
		if c.tool.free {
			item["type"], item["id"], item["input"] = "custom_tool_call", "ctc_"+a.id+
				string(rune('a'+i)), c.free
			delete(item, "arguments")
		}
		out = append(out, item)
	}
	return out
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

// numberedEvents adds sequence numbers to events.
func numberedEvents(w *events) func(name string, data object) {
	n := -1
	return func(name string, data object) {
		n++
		data["sequence_number"] = n
		w.send(name, data)
	}
}

func responsesStream(a *answer, w *events) {
	send := numberedEvents(w)
	send("response.created", object{"response": a.responsesObject("in_progress")})
	send("response.in_progress", object{"response": a.responsesObject("in_progress")})
	for i, item := range a.made {
		at := func(data object) object {
			data["output_index"], data["item_id"] = i, item["id"]
			return data
		}
		begun := object{}
		for name, value := range item {
			begun[name] = value
		}
		if begun["status"] != nil {
			begun["status"] = "in_progress"
		}
		sendItem(send, a, item, begun, at)
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	done := a.responsesObject("completed")
	done["output"] = a.made
	send("response.completed", object{"response": done})
}

// sendItem writes the events of an item.
func sendItem(send func(string, object), a *answer, item, begun object, at func(object) object) {
	added := func() {
		o := at(object{"item": begun})
		delete(o, "item_id")
		send("response.output_item.added", o)
	}
	// pieces streams a text in pieces and then as a whole.
	pieces := func(event, field, text string, more object) {
		for _, half := range splitInTwo(text) {
			send(event+".delta", at(with(more, "delta", half)))
		}
		send(event+".done", at(with(more, field, text)))
	}
	switch item["type"] {
	case "reasoning":
		begun["summary"] = []any{}
		added()
		send("response.reasoning_summary_part.added",
			at(object{"summary_index": 0, "part": object{"type": "summary_text", "text": ""}}))
		pieces("response.reasoning_summary_text", "text", a.thinking, object{"summary_index": 0})
		send("response.reasoning_summary_part.done",
			at(object{"summary_index": 0, "part": object{"type": "summary_text", "text": a.thinking}}))
	case "message":
		begun["content"] = []any{}
		added()
		send("response.content_part.added", at(object{"content_index": 0, "part": outputText("")}))
		pieces("response.output_text", "text", a.text, object{"content_index": 0, "logprobs": []any{}})
		send("response.content_part.done", at(object{"content_index": 0, "part": outputText(a.text)}))
	case "function_call":
		begun["arguments"] = ""
		added()
		pieces("response.function_call_arguments", "arguments", str(item, "arguments"), nil)
	case "custom_tool_call":
		begun["input"] = ""
		added()
		pieces("response.custom_tool_call_input", "input", str(item, "input"), nil)
	default:
		added()
	}
}

// with returns a copy of o with one more field.
func with(o object, name string, value any) object {
	out := object{name: value}
	for k, v := range o {
		out[k] = v
	}
	return out
}

// failedStream sends an error as a stream that fails at once.
func failedStream(w *events, body object) {
	send := numberedEvents(w)
	e, _ := body["error"].(object)
	response := object{"id": "resp_failed", "object": "response", "created_at": 1, "status": "in_progress",
		"output": []any{}}
	send("response.created", object{"response": response})
	failed := with(response, "error", object{"code": e["code"], "message": e["message"]})
	failed["status"] = "failed"
	send("response.failed", object{"response": failed})
}
