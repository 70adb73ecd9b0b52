package providertest

import (
	"cmp"
	"encoding/json"
)

var responsesDialect = dialect{
	name: "responses",
	path: "/responses",
	check: func(c *checker, fields object) {
		(&responsesChecker{checker: c, fields: fields}).request()
	},
	segments: func(f object) []segment { return segmentsOf(f, "tools", "instructions", "input") },
	failure: func(f *failure) (int, []byte) {
		g := *f
		g.message = responsesWords(f)
		g.fault = "" // the words are there
		return openaiFailure(&g)
	},
	fail:  responsesFail,
	begin: responsesBegin,
	piece: func(s *stream, text string) {
		s.responsesEvent("response.output_text.delta",
			made{"item_id": "msg_test", "output_index": s.textIndex(), "content_index": 0, "delta": text,
				"logprobs": []any{}})
	},
	end: responsesEnd,
	whole: func(s *stream) made {
		r := s.responsesObject(s.responsesStatus())
		r["output"] = s.responsesOutput()
		return r
	},
}

// responsesWords is the message of an error. One of an overflow has no numbers.
func responsesWords(f *failure) string {
	if f.fault == "overflow" {
		return "Your input exceeds the context window of this model. Please adjust your input and try again."
	}
	return f.message
}

func responsesFail(s *stream, f *failure) {
	if s.n == 0 {
		s.responsesEvent("response.created", made{"response": s.responsesObject("in_progress")})
	}
	r := s.responsesObject("failed")
	r["error"] = made{"code": f.code, "message": responsesWords(f)}
	s.responsesEvent("response.failed", made{"response": r})
}

func (s *stream) responsesEvent(name string, data made) {
	data["sequence_number"] = s.n
	s.event(name, data)
}

func (s *stream) responsesObject(status string) made {
	r := made{
		"id": "resp_test", "object": "response", "created_at": 1, "status": status, "model": s.model,
		"error": nil, "incomplete_details": nil, "instructions": nil, "output": []any{}, "usage": nil,
		"parallel_tool_calls": true, "tools": []any{}, "metadata": made{},
	}
	if status == "incomplete" {
		reason := "max_output_tokens"
		if s.reply.Refused {
			reason = "content_filter"
		}
		r["incomplete_details"] = made{"reason": reason}
	}
	if status != "in_progress" && !s.reply.NoUsage {
		u := s.used()
		r["usage"] = made{
			"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  made{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
			"output_tokens_details": made{"reasoning_tokens": tokens(len(s.reply.Reasoning))},
		}
	}
	return r
}

func (s *stream) responsesStatus() string {
	if s.reply.Truncated {
		return "incomplete"
	}
	return "completed"
}

func (s *stream) responsesReasoning() made {
	return made{"type": "reasoning", "id": "rs_test",
		"summary": []made{{"type": "summary_text", "text": s.reply.Reasoning}}}
}

func (s *stream) responsesMessage(status string, content []made) made {
	return made{"type": "message", "id": "msg_test", "role": "assistant", "status": status,
		"content": content}
}

func (s *stream) responsesPart() made {
	if s.reply.Refused {
		return made{"type": "refusal", "refusal": refusal}
	}
	return made{"type": "output_text", "text": s.reply.Text, "annotations": []any{}, "logprobs": []any{}}
}

func (s *stream) responsesCall() made {
	return made{"type": "function_call", "id": "fc_test", "call_id": "call_test", "name": s.reply.Tool,
		"arguments": "{}", "status": "completed"}
}

func (s *stream) responsesOutput() []made {
	output := []made{}
	if s.reply.Reasoning != "" {
		output = append(output, s.responsesReasoning())
	}
	if s.reply.Text != "" || s.reply.Refused {
		output = append(output, s.responsesMessage("completed", []made{s.responsesPart()}))
	}
	if s.reply.Tool != "" {
		output = append(output, s.responsesCall())
	}
	return output
}

func responsesBegin(s *stream) {
	s.responsesEvent("response.created", made{"response": s.responsesObject("in_progress")})
	s.responsesEvent("response.in_progress", made{"response": s.responsesObject("in_progress")})
	if s.reply.Reasoning != "" {
		s.responsesEvent("response.output_item.added",
			made{"output_index": 0, "item": made{"type": "reasoning", "id": "rs_test", "summary": []any{}}})
		s.responsesEvent("response.reasoning_summary_text.delta",
			made{"item_id": "rs_test", "output_index": 0, "summary_index": 0, "delta": s.reply.Reasoning})
		s.responsesEvent("response.output_item.done", made{"output_index": 0, "item": s.responsesReasoning()})
	}
	if s.reply.Text != "" || s.reply.Refused {
		at := s.textIndex()
		s.responsesEvent("response.output_item.added",
			made{"output_index": at, "item": s.responsesMessage("in_progress", []made{})})
		part := s.responsesPart()
		if part["text"] != nil {
			part["text"] = ""
		}
		s.responsesEvent("response.content_part.added",
			made{"item_id": "msg_test", "output_index": at, "content_index": 0, "part": part})
	}
}

func responsesEnd(s *stream) {
	at := s.textIndex()
	place := func(more made) made {
		out := made{"item_id": "msg_test", "output_index": at, "content_index": 0}
		for name, value := range more {
			out[name] = value
		}
		return out
	}
	if s.reply.Refused {
		s.responsesEvent("response.refusal.delta", place(made{"delta": refusal}))
		s.responsesEvent("response.refusal.done", place(made{"refusal": refusal}))
	} else if s.reply.Text != "" {
		s.responsesEvent("response.output_text.done", place(made{"text": s.reply.Text, "logprobs": []any{}}))
	}
	if s.reply.Text != "" || s.reply.Refused {
		s.responsesEvent("response.content_part.done", place(made{"part": s.responsesPart()}))
		item := s.responsesMessage("completed", []made{s.responsesPart()})
		s.responsesEvent("response.output_item.done", made{"output_index": at, "item": item})
		at++
	}
	if s.reply.Tool != "" {
		s.responsesEvent("response.output_item.added", made{"output_index": at, "item": s.responsesCall()})
		s.responsesEvent("response.output_item.done", made{"output_index": at, "item": s.responsesCall()})
	}
	if s.reply.WindowFull {
		responsesFail(s, failureOf(Overflow(0, 0)))
		return
	}
	status := s.responsesStatus()
	r := s.responsesObject(status)
	r["output"] = s.responsesOutput()
	s.responsesEvent("response."+status, made{"response": r})
}

// responsesChecker checks a request to the Responses API.
type responsesChecker struct {
	*checker
	fields object
}

func (c *responsesChecker) request() {
	f := c.fields
	c.word(f, "body", "model")
	c.streamOptions(f)
	c.number(f, "max_output_tokens", 16)
	c.check(absent(f["instructions"]) || isString(f["instructions"]), "instructions", "expected a string")
	c.check(absent(f["max_tokens"]) && absent(f["messages"]), "messages", "Unknown parameter")
	background, store := string(f["background"]) == "true", string(f["store"]) != "false"
	c.check(store || !background, "background", "background mode needs store")
	c.check(absent(f["conversation"]) || absent(f["previous_response_id"]), "conversation",
		"Mutually exclusive with previous_response_id")
	c.tools(f, func(tool object, param string) {
		switch c.word(tool, param, "type") {
		case "function", "custom":
			c.word(tool, param, "name")
		}
	})
	if isString(f["input"]) {
		c.check(text(f["input"]) != "", "input", "the input is empty")
		return
	}
	c.items(c.list(f["input"], "input", 1))
}

// items checks the items of the input and how calls and answers are paired.
func (c *responsesChecker) items(list []json.RawMessage) {
	open := map[string]bool{}
	reasoning := "" // an unfollowed item of reasoning
	follow := func() {
		c.check(reasoning == "", "input",
			"Item '%s' of type 'reasoning' was provided without its required following item.", reasoning)
		reasoning = ""
	}
	for i, raw := range list {
		param := at("input", i)
		item := c.object(raw, param)
		kind, answer := c.item(item, param)
		switch {
		case kind == "reasoning":
			follow()
			reasoning = cmp.Or(text(item["id"]), "without an ID")
			continue
		case answer:
			id := c.word(item, param, "call_id")
			c.check(open[id], param, "No tool call found for function call output with call_id %s.", id)
			delete(open, id)
		case kind == "function_call" || kind == "custom_tool_call":
			open[c.word(item, param, "call_id")] = true
		case kind == "message" && text(item["role"]) != "assistant":
			follow()
		}
		reasoning = ""
	}
	follow()
	for id := range open {
		c.check(false, "input", "No tool output found for function call %s.", id)
	}
}
