package reasoning

import "testing"

func TestBindingModels(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]bool{
		"claude-opus-5-5": true, "claude-sonnet-5-5": true, "claude-haiku-5-5-20261001": true, "claude-fable-5-1": true, "claude-mythos-5-2": true,
		"claude-sonnet-6": true, "claude-opus-5-10": true, "anthropic/claude-opus-5.5": true, "us.anthropic.claude-opus-5-5-v1:0": true, "some-new-model": true,
		"claude-3-7-sonnet-latest": false, "claude-sonnet-4-5": false, "claude-opus-4-6": false, "claude-haiku-4-5": false, "claude-opus-5-1": false, "claude-opus-4.1": false,
	} {
		if got := Binds(model); got != want {
			t.Errorf("%s: %v, want %v", model, got, want)
		}
	}
}

func TestErrorsAboutThinkingAreKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation": true,
		"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`":                   true,
		"prompt is too long: 5 tokens > 4 maximum":                                                                      false,
		"messages.0.content: Field required":                                                                            false,
	} {
		if got := IsReasoningError(400, []byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if !IsControlError(400, []byte("thinking.enabled.block_binding: Extra inputs are not permitted")) {
		t.Error("an unknown control is not known")
	}
	if IsReasoningError(500, []byte("Invalid `signature` in `thinking` block")) {
		t.Error("a server's fault is not about thinking")
	}
}
