package upstream

import (
	"slices"
	"strings"
	"testing"
)

const bindingError = "Invalid `signature` in `thinking` block"

func TestThinkingIsBoundToItsPrefix(t *testing.T) {
	tests := []struct {
		name  string
		make  func(c *talk)
		where string // of the block that is refused; "" when none is
	}{
		{"unchanged", func(*talk) {}, ""},
		{"cache_control moves", func(c *talk) { c.at(0)["content"] = []any{cached("Read the files.")} }, ""},
		{"a billing block comes", func(c *talk) {
			c.body["system"] = []any{object{"type": "text", "text": "x-anthropic-billing-header: cc=1;"}, object{"type": "text", "text": "Be brief."}}
		}, ""},
		{"the system prompt changes", func(c *talk) { c.body["system"] = "Be quick." }, "messages.1.content.0"},
		{"a tool changes", func(c *talk) { c.body["tools"].([]any)[0].(object)["description"] = "x" }, "messages.1.content.0"},
		{"the first message changes", func(c *talk) { c.messages[0] = user("Read them.") }, "messages.1.content.0"},
		{"a result changes", func(c *talk) { c.block(2, 0).(object)["content"] = "cleared" }, "messages.3.content.0"},
		{"earlier thinking is left out", func(c *talk) { c.at(1)["content"] = list(c.at(1)["content"])[1:] }, "messages.3.content.0"},
		{"earlier turns are left out", func(c *talk) { c.cut(1, 3) }, "messages.1.content.0"},
		{"the thinking changes", func(c *talk) { c.block(3, 0).(object)["thinking"] = "other" }, "messages.3.content.0"},
		{"the signature is made up", func(c *talk) { c.block(3, 0).(object)["signature"] = "c2ln" }, "messages.3.content.0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := thinkingTalk(t, anthropicDialect, Options{})
			test.make(c)
			status, out := c.send()
			message := str(out["error"], "message")
			if test.where == "" && status != 200 || test.where != "" && !strings.HasPrefix(message, test.where+": "+bindingError) {
				t.Errorf("status %d, %q, want one at %q", status, message, test.where)
			}
		})
	}
}

func TestBoundThinkingIsDroppedAsAsked(t *testing.T) {
	c := thinkingTalk(t, anthropicDialect, Options{})
	c.messages[0] = user("Condensed.")
	c.body["thinking"].(object)["block_binding"] = object{"prefix_mismatch_behavior": "drop_block"}
	if status, out := c.send(); status != 400 || !strings.Contains(str(out["error"], "message"), "block_binding: Extra inputs") {
		t.Errorf("without the beta: status %d: %v", status, out)
	}
	c.header.Set("Anthropic-Beta", "other, "+bindingBeta)
	status, out := c.send()
	dropped := list(out["input_transformations"])
	if status != 200 || len(dropped) != 2 || str(dropped[1], "path") != "messages.3.content.0" || str(dropped[1], "reason") != "prefix_binding_mismatch" {
		t.Fatalf("status %d: %v", status, out)
	}
	// Thinking after the splice stays valid while the prefix is unchanged.
	c.turn()
	_, out = c.send()
	if dropped := list(out["input_transformations"]); len(dropped) != 2 {
		t.Errorf("then dropped %v", dropped)
	}
	if s := c.s.Stats(); s.Dropped != 6 {
		t.Errorf("%d dropped in all, want 6", s.Dropped)
	}
}

func TestAllThinkingMayGo(t *testing.T) {
	c := thinkingTalk(t, anthropicDialect, Options{})
	c.body["thinking"] = object{"type": "adaptive"}
	c.messages[0] = user("Condensed.")
	for _, i := range []int{1, 3} {
		c.at(i)["content"] = list(c.at(i)["content"])[1:]
	}
	for c.turn() {
	}
	if !slices.Equal(c.read, files(9)) {
		t.Errorf("read %v", c.read)
	}
}

func TestLegacyThinkingMustBeOurs(t *testing.T) {
	c := thinkingTalk(t, anthropicDialect, Options{LegacyThinking: true})
	c.messages[0] = user("Condensed.")
	if status, out := c.send(); status != 200 {
		t.Errorf("behind another prefix: status %d: %v", status, out)
	}
	c.block(1, 0).(object)["signature"] = "c2ln"
	if status, out := c.send(); status != 400 || !strings.HasPrefix(str(out["error"], "message"), "messages.1.content.0: "+bindingError) {
		t.Errorf("made up: status %d: %v", status, out)
	}
}

func TestOmittedThinkingIsSigned(t *testing.T) {
	s := start(t, Options{Files: files(5), Thinking: true})
	for _, stream := range []bool{false, true} {
		c := newTalk(t, s, anthropicDialect)
		c.body["stream"] = stream
		c.body["thinking"] = object{"type": "adaptive", "display": "omitted"}
		for c.turn() {
		}
		if b := c.block(1, 0); str(b, "thinking") != "" || str(b, "signature") == "" {
			t.Errorf("the block is %v", b)
		}
		if !slices.Equal(c.read, files(5)) {
			t.Errorf("read %v", c.read)
		}
	}
}
