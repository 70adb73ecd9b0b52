package upstream

import (
	"slices"
	"strings"
	"testing"
)

// change makes a request that was sound wrong, or keeps it sound.
type change struct {
	name    string
	dialect *dialect
	make    func(c *talk)
	want    string // in the message of the refusal; "" when it is served
}

func user(text string) object { return object{"role": "user", "content": text} }
func cached(text string) object {
	return object{"type": "text", "text": text, "cache_control": object{"type": "ephemeral"}}
}
func (c *talk) at(i int) object    { return c.messages[i].(object) }
func (c *talk) cut(from, to int)   { c.messages = slices.Delete(slices.Clone(c.messages), from, to) }
func (c *talk) block(i, j int) any { return list(c.at(i)["content"])[j] }

// After two turns the messages are, in the Messages API: 0 user, 1 assistant,
// 2 result, 3 assistant, 4 result; in chat the same; in the Responses API:
// 0 user, 1 reasoning, 2 message, 3 call, 4 output, 5 reasoning and so on.
var changes = []change{
	{"a result without its use", anthropicDialect, func(c *talk) { c.cut(1, 2) }, "unexpected `tool_use_id`"},
	{"a use without its result", anthropicDialect, func(c *talk) { c.cut(2, 3) }, "without `tool_result` blocks immediately after"},
	{"a role that there is not", anthropicDialect, func(c *talk) { c.at(0)["role"] = "tool" }, "Invalid value"},
	{"empty text", anthropicDialect, func(c *talk) { c.at(0)["content"] = "" }, "non-empty"},
	{"no messages", anthropicDialect, func(c *talk) { c.messages = []any{} }, "messages"},
	{"the assistant first", anthropicDialect, func(c *talk) { c.cut(0, 1) }, "first message must use"},
	{"five breakpoints", anthropicDialect, func(c *talk) {
		c.at(0)["content"] = []any{cached("a"), cached("b"), cached("c"), cached("d"), cached("e")}
	}, "A maximum of 4 blocks"},
	{"no thinking in an open loop", anthropicDialect, func(c *talk) { c.at(3)["content"] = list(c.at(3)["content"])[1:] }, "Expected `thinking`"},
	{"no thinking in an open loop of an adaptive request", anthropicDialect, func(c *talk) {
		c.body["thinking"] = object{"type": "adaptive"}
		c.at(3)["content"] = list(c.at(3)["content"])[1:]
	}, ""},
	{"redacted thinking of another", anthropicDialect, func(c *talk) {
		c.at(1)["content"] = append([]any{object{"type": "redacted_thinking", "data": "x"}}, list(c.at(1)["content"])...)
	}, "redacted_thinking"},
	{"no version", anthropicDialect, func(c *talk) { c.header.Del("Anthropic-Version") }, "anthropic-version"},

	{"an answer without its call", chatDialect, func(c *talk) { c.cut(1, 2) }, "must be a response to a preceeding message"},
	{"a call without its answer", chatDialect, func(c *talk) { c.cut(2, 3) }, "must be followed by tool messages"},
	{"a role that there is not", chatDialect, func(c *talk) { c.at(0)["role"] = "human" }, "Invalid value"},
	{"no content", chatDialect, func(c *talk) { c.at(0)["content"] = nil }, "content"},
	{"no reasoning", chatDialect, func(c *talk) { delete(c.at(1), "reasoning_content") }, "`reasoning_content` in the thinking mode must be passed back"},

	{"an output without its call", responsesDialect, func(c *talk) { c.cut(1, 4) }, "No tool call found"},
	{"a call without its output", responsesDialect, func(c *talk) { c.cut(4, 5) }, "No tool output found"},
	{"reasoning without its item", responsesDialect, func(c *talk) { c.cut(2, 3) }, "without its required following item"},
	{"reasoning before the user", responsesDialect, func(c *talk) { c.cut(2, 5) }, "without its required following item"},
	{"reasoning at the end", responsesDialect, func(c *talk) { c.messages = c.messages[:2] }, "without its required following item"},
	{"an item without its reasoning", responsesDialect, func(c *talk) { c.cut(1, 2) }, "without its required 'reasoning' item"},
	{"a call without its reasoning", responsesDialect, func(c *talk) { c.cut(1, 3) }, "without its required 'reasoning' item"},
	{"items without IDs and reasoning", responsesDialect, func(c *talk) {
		c.cut(1, 2)
		delete(c.at(1), "id")
		delete(c.at(2), "id")
	}, ""},
	{"reasoning and items without IDs", responsesDialect, func(c *talk) {
		for i := range c.messages {
			delete(c.at(i), "id")
		}
	}, ""},
	{"reasoning that is not stored", responsesDialect, func(c *talk) { delete(c.at(1), "encrypted_content") }, "Items are not persisted"},
	{"reasoning that is stored", responsesDialect, func(c *talk) {
		delete(c.at(1), "encrypted_content")
		c.body["store"] = true
	}, ""},
	{"reasoning of another", responsesDialect, func(c *talk) { c.at(1)["encrypted_content"] = "x" }, "could not be verified"},
	{"a reference", responsesDialect, func(c *talk) { c.messages[0] = object{"type": "item_reference", "id": "msg_1"} }, "Items are not persisted"},
	{"a response before", responsesDialect, func(c *talk) { c.body["previous_response_id"] = "resp_1" }, "Previous response"},
	{"a compaction of another", responsesDialect, func(c *talk) {
		c.messages = slices.Insert(c.messages, 0, any(object{"type": "compaction", "encrypted_content": "x"}))
	}, "could not be verified"},
	{"a role that there is not", responsesDialect, func(c *talk) { c.at(0)["role"] = "tool" }, "Invalid value"},
}

// thinkingTalk is a conversation of two turns that thinks.
func thinkingTalk(t *testing.T, d *dialect, o Options) *talk {
	o.Files, o.Thinking = files(9), true
	c := newTalk(t, start(t, o), d)
	if d == anthropicDialect {
		c.body["thinking"] = object{"type": "enabled", "budget_tokens": 2000}
	}
	c.turn()
	c.turn()
	return c
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	for _, test := range changes {
		t.Run(test.dialect.name+" "+test.name, func(t *testing.T) {
			c := thinkingTalk(t, test.dialect, Options{ReasoningBack: true})
			test.make(c)
			status, out := c.send()
			message := str(out["error"], "message")
			if test.want == "" {
				if status != 200 {
					t.Errorf("status %d: %s", status, message)
				}
				return
			}
			if status != 400 || !strings.Contains(message, test.want) {
				t.Errorf("status %d, message %q, want %q", status, message, test.want)
			}
			if got := c.s.Stats().Refused; len(got) != 1 || got[0] != message {
				t.Errorf("recorded as %q", got)
			}
			if test.dialect == anthropicDialect != (out["type"] == "error") {
				t.Errorf("the error has the wrong shape: %v", out)
			}
		})
	}
}

func TestLenientServesThem(t *testing.T) {
	c := thinkingTalk(t, chatDialect, Options{Lenient: true})
	c.cut(1, 2)
	if status, out := c.send(); status != 200 {
		t.Errorf("status %d: %v", status, out)
	}
}

func TestInvalidJSONIsRefused(t *testing.T) {
	for _, d := range dialectsUnderTest {
		c := newTalk(t, start(t, Options{}), d)
		if status, out := c.post(c.path(), []byte(`{"model":`)); status != 400 || !strings.Contains(str(out["error"], "message"), "not valid JSON") {
			t.Errorf("%s: status %d: %v", d.name, status, out)
		}
	}
}

func TestOverflow(t *testing.T) {
	words := map[string]string{"anthropic": "prompt is too long: ", "chat": "maximum context length is 350 tokens", "responses": "exceeds the context window"}
	for _, d := range dialectsUnderTest {
		c := newTalk(t, start(t, Options{Files: files(9), Window: 350}), d)
		c.turn()
		status, out := c.send()
		if message := str(out["error"], "message"); status != 400 || !strings.Contains(message, words[d.name]) {
			t.Errorf("%s: status %d, %q", d.name, status, message)
		}
		if s := c.s.Stats(); s.Overflows != 1 || len(s.Refused) != 0 {
			t.Errorf("%s: %+v", d.name, s)
		}
	}
}

func TestOverflowInStream(t *testing.T) {
	c := newTalk(t, start(t, Options{Files: files(9), Window: 10, OverflowInStream: true}), responsesDialect)
	c.body["stream"] = true
	status, out := c.send()
	if status != 200 || out["status"] != "failed" || str(out["error"], "code") != "context_length_exceeded" {
		t.Errorf("status %d: %v", status, out)
	}
}
