package providertest

import "strings"

var anthropicDialect = dialect{
	name: "anthropic",
	path: "/messages",
	check: func(c *checker, fields object) {
		(&anthropicChecker{checker: c, fields: fields}).request()
	},
	segments: func(f object) []segment {
		parts := segmentsOf(f, "tools", "system", "messages")
		if n := len(parts); n > 0 && !absent(f["cache_control"]) {
			parts[n-1].marked = true
		}
		return parts
	},
	failure: anthropicFailure,
	fail: func(s *stream, f *failure) {
		_, body := anthropicFailure(f)
		s.line("event: error")
		s.line("data: " + string(body))
		s.line("")
		s.flush()
	},
	begin: anthropicBegin,
	piece: func(s *stream, text string) {
		s.event("content_block_delta",
			made{"index": s.textIndex(), "delta": made{"type": "text_delta", "text": text}})
	},
	end: anthropicEnd,
	whole: func(s *stream) made {
		m := s.anthropicMessage()
		m["content"] = s.anthropicContent()
		m["stop_reason"] = s.anthropicStop()
		return m
	},
}

// anthropicFailure writes an error as the API does.
func anthropicFailure(f *failure) (int, []byte) {
	status, kind, message := f.status, "invalid_request_error", f.message
	switch f.fault {
	case "overflow":
		message = "prompt is too long: " + count(f.used) + " tokens > " + count(f.limit) + " maximum"
	case "rate_limit":
		kind = "rate_limit_error"
	case "overloaded":
		status, kind, message = 529, "overloaded_error", "Overloaded"
	case "auth":
		kind, message = "authentication_error", "invalid x-api-key"
	case "timeout":
		kind = "timeout_error"
	}
	return status, encode(made{"type": "error", "error": made{"type": kind, "message": message},
		"request_id": "req_test"})
}

func (s *stream) anthropicMessage() made {
	return made{
		"id": "msg_test", "type": "message", "role": "assistant", "model": s.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": s.anthropicUsage(),
	}
}

func (s *stream) anthropicUsage() made {
	if s.reply.NoUsage {
		return made{"input_tokens": 0, "output_tokens": 0}
	}
	u := s.used()
	return made{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func (s *stream) anthropicContent() []any {
	content := []any{}
	if s.reply.Reasoning != "" {
		content = append(content, made{"type": "thinking", "thinking": s.reply.Reasoning,
			"signature": "c2lnbmF0dXJl"})
	}
	if s.reply.Text != "" {
		content = append(content, made{"type": "text", "text": s.reply.Text})
	}
	if s.reply.Tool != "" {
		content = append(content, made{"type": "tool_use", "id": "toolu_test", "name": s.reply.Tool,
			"input": made{}})
	}
	return content
}

func (s *stream) anthropicStop() string {
	switch {
	case s.reply.Refused:
		return "refusal"
	case s.reply.Truncated:
		return "max_tokens"
	case s.reply.WindowFull:
		return "model_context_window_exceeded"
	case s.reply.Tool != "":
		return "tool_use"
	}
	return "end_turn"
}

// textIndex is the index of the block of text.
func (s *stream) textIndex() int {
	if s.reply.Reasoning != "" {
		return 1
	}
	return 0
}

func anthropicBegin(s *stream) {
	m := s.anthropicMessage()
	if usage := s.anthropicUsage(); !s.reply.NoUsage {
		usage["output_tokens"] = min(1, s.used().Output)
		m["usage"] = usage
	}
	s.event("message_start", made{"message": m})
	s.event("ping", made{})
	if s.reply.Reasoning != "" {
		s.event("content_block_start",
			made{"index": 0, "content_block": made{"type": "thinking", "thinking": "", "signature": ""}})
		s.event("content_block_delta",
			made{"index": 0, "delta": made{"type": "thinking_delta", "thinking": s.reply.Reasoning}})
		s.event("content_block_delta",
			made{"index": 0, "delta": made{"type": "signature_delta", "signature": "c2lnbmF0dXJl"}})
		s.event("content_block_stop", made{"index": 0})
	}
	if s.reply.Text != "" {
		s.event("content_block_start",
			made{"index": s.textIndex(), "content_block": made{"type": "text", "text": ""}})
	}
}

func anthropicEnd(s *stream) {
	next := s.textIndex()
	if s.reply.Text != "" {
		s.event("content_block_stop", made{"index": next})
		next++
	}
	if s.reply.Tool != "" {
		block := made{"type": "tool_use", "id": "toolu_test", "name": s.reply.Tool, "input": made{}}
		s.event("content_block_start", made{"index": next, "content_block": block})
		s.event("content_block_delta",
			made{"index": next, "delta": made{"type": "input_json_delta", "partial_json": "{}"}})
		s.event("content_block_stop", made{"index": next})
	}
	s.event("message_delta", made{
		"delta": made{"stop_reason": s.anthropicStop(), "stop_sequence": nil},
		"usage": made{"output_tokens": s.anthropicUsage()["output_tokens"]},
	})
	s.event("message_stop", made{})
}

// anthropicChecker checks a request to the Messages API.
type anthropicChecker struct {
	*checker
	fields object
}

func (c *anthropicChecker) request() {
	f := c.fields
	c.word(f, "body", "model")
	limit, ok := c.number(f, "max_tokens", 1)
	c.check(ok, "max_tokens", "Field required")
	c.streamFlag(f)
	c.system(f)
	c.tools(f, func(tool object, param string) {
		c.word(tool, param, "name")
		if kind := text(tool["type"]); kind == "" || kind == "custom" {
			c.object(tool["input_schema"], param+".input_schema")
		}
	})
	thinking := c.thinking(f, limit)
	marked := 0
	for _, s := range segmentsOf(f, "tools", "system", "messages") {
		marked += countMarks(s.raw)
	}
	if !absent(f["cache_control"]) {
		marked++
	}
	c.check(marked <= 4, "messages", "A maximum of 4 blocks with cache_control may be provided. Found %d.",
		marked)
	c.messages(thinking)
}

func (c *anthropicChecker) streamFlag(f object) {
	c.check(absent(f["stream_options"]), "stream_options", "Extra inputs are not permitted")
	c.streamOptions(f)
}

func (c *anthropicChecker) system(f object) {
	if absent(f["system"]) || isString(f["system"]) {
		return
	}
	for i, raw := range c.list(f["system"], "system", 0) {
		param := at("system", i)
		b := c.object(raw, param)
		c.one(b, param, "type", "text")
		c.check(strings.TrimSpace(text(b["text"])) != "", param+".text",
			"text content blocks must be non-empty")
	}
}

// thinking checks the room for thinking and reports whether the model thinks.
func (c *anthropicChecker) thinking(f object, limit int) bool {
	if absent(f["thinking"]) {
		return false
	}
	t := c.object(f["thinking"], "thinking")
	kind := c.one(t, "thinking", "type", "enabled", "adaptive", "disabled")
	if kind == "enabled" {
		budget, ok := c.number(t, "budget_tokens", 1024)
		c.check(ok, "thinking.budget_tokens", "Field required")
		c.check(budget < limit, "max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	return kind != "disabled"
}
