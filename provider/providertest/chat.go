package providertest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

var chatDialect = dialect{
	name: "chat",
	path: "/chat/completions",
	check: func(c *checker, fields object) {
		(&chatChecker{checker: c, fields: fields}).request()
	},
	segments: func(f object) []segment { return segmentsOf(f, "tools", "messages") },
	failure:  openaiFailure,
	fail: func(s *stream, f *failure) {
		_, body := openaiFailure(f)
		s.line("data: " + string(body))
		s.line("")
		s.flush()
	},
	begin: func(s *stream) {
		s.chunk(made{"role": "assistant", "content": ""}, nil)
		if s.reply.Reasoning != "" {
			s.chunk(made{"reasoning_content": s.reply.Reasoning}, nil)
		}
	},
	piece: func(s *stream, text string) { s.chunk(made{"content": text}, nil) },
	end:   chatEnd,
	whole: func(s *stream) made {
		message := made{"role": "assistant", "content": s.reply.Text, "refusal": nil}
		if s.reply.Reasoning != "" {
			message["reasoning_content"] = s.reply.Reasoning
		}
		if s.reply.Refused {
			message["refusal"] = refusal
		}
		if s.reply.Tool != "" {
			message["tool_calls"] = []made{s.chatCall()}
		}
		m := s.chatObject("chat.completion")
		m["choices"] = []made{{"index": 0, "message": message, "finish_reason": s.chatFinish(),
			"logprobs": nil}}
		if !s.reply.NoUsage {
			m["usage"] = s.chatUsage()
		}
		return m
	},
}

// refusal is what a model says that refuses.
const refusal = "I can't help with that."

// openaiFailure writes an error as OpenAI's APIs do.
func openaiFailure(f *failure) (int, []byte) {
	message := f.message
	if f.fault == "overflow" {
		message = "This model's maximum context length is " + count(f.limit) +
			" tokens. However, your messages resulted in " +
			count(f.used) + " tokens. Please reduce the length of the messages."
	}
	var param any
	if f.param != "" {
		param = f.param
	}
	return f.status, encode(made{"error": made{"message": message, "type": f.kind, "param": param,
		"code": f.code}})
}

func count(n int) string { return strconv.Itoa(n) }

// encode writes strings, numbers and similar values as JSON.
func encode(v made) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // as the APIs write it
	_ = e.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

func (s *stream) chatObject(kind string) made {
	return made{"id": "chatcmpl-test", "object": kind, "created": time.Now().Unix(), "model": s.model}
}

// chunk writes a piece of the answer. finish is nil until the end.
func (s *stream) chunk(delta made, finish any) {
	m := s.chatObject("chat.completion.chunk")
	m["choices"] = []made{{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}}
	s.event("", m)
}

func (s *stream) chatCall() made {
	return made{"id": "call_test", "type": "function",
		"function": made{"name": s.reply.Tool, "arguments": "{}"}}
}

func (s *stream) chatFinish() string {
	switch {
	case s.reply.Truncated:
		return "length"
	case s.reply.WindowFull:
		return "model_context_window_exceeded"
	case s.reply.Tool != "":
		return "tool_calls"
	}
	return "stop"
}

func (s *stream) chatUsage() made {
	u := s.used()
	return made{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": made{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
	}
}

func chatEnd(s *stream) {
	if s.reply.Refused {
		s.chunk(made{"refusal": refusal}, nil)
	}
	if s.reply.Tool != "" {
		call := s.chatCall()
		call["index"] = 0
		s.chunk(made{"tool_calls": []made{call}}, nil)
	}
	s.chunk(made{}, s.chatFinish())
	var options struct {
		Usage bool `json:"include_usage"`
	}
	_ = json.Unmarshal(s.fields["stream_options"], &options) // absent: no usage
	if options.Usage && !s.reply.NoUsage {
		m := s.chatObject("chat.completion.chunk")
		m["choices"], m["usage"] = []made{}, s.chatUsage()
		s.event("", m)
	}
	s.line("data: [DONE]")
	s.line("")
	s.flush()
}
