package control

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

var dialects = []wire.Dialect{anthropic.Dialect{}, chat.Dialect{}, responses.Dialect{}}

// dialectOf returns the dialect of a request: the one it names, else the one that its fields belong
// to. A plain list of texts is the same in Anthropic's and OpenAI's dialect; then the model name
// decides.
func dialectOf(name string, b *wire.Body) (wire.Dialect, error) {
	if name != "" {
		i := slices.IndexFunc(dialects, func(d wire.Dialect) bool { return d.Name() == name })
		if i < 0 {
			return nil, invalid(opBody, "body: /dialect",
				fmt.Sprintf("dialect is %.40q, want %s, %s or %s", name, anthropic.Format, chat.Format,
					responses.Format), "leave it out and it is guessed")
		}
		return dialects[i], nil
	}
	switch {
	case b.Get("input") != nil && b.Get("messages") == nil:
		return responses.Dialect{}, nil
	case b.Get("system") != nil, b.Get("thinking") != nil:
		return anthropic.Dialect{}, nil
	}
	for tool, err := range jsonspan.Array(b.Get("tools")) {
		if d := markOf(tool.Raw, toolMarks); err == nil && d != nil {
			return d, nil
		}
	}
	for i := range b.Items() {
		if d := messageMark(b.Item(i)); d != nil {
			return d, nil
		}
	}
	if strings.Contains(strings.ToLower(b.String("model")), "claude") {
		return anthropic.Dialect{}, nil
	}
	return chat.Dialect{}, nil
}

// mark is a field that occurs only in one dialect.
type mark struct {
	field   string
	dialect wire.Dialect
}

var (
	toolMarks    = []mark{{"input_schema", anthropic.Dialect{}}, {"function", chat.Dialect{}}}
	messageMarks = []mark{{"tool_calls", chat.Dialect{}}, {"tool_call_id", chat.Dialect{}},
		{"function_call", chat.Dialect{}}}
	blockMarks = []mark{
		{"tool_use_id", anthropic.Dialect{}}, {"source", anthropic.Dialect{}},
		{"thinking", anthropic.Dialect{}}, {"cache_control", anthropic.Dialect{}},
		{"image_url", chat.Dialect{}}, {"input_audio", chat.Dialect{}}, {"file", chat.Dialect{}},
		{"refusal", chat.Dialect{}},
	}
)

func markOf(object []byte, marks []mark) wire.Dialect {
	for _, m := range marks {
		if v := jsonspan.Field(object, m.field); v != nil && jsonspan.Kind(v) != 'n' {
			return m.dialect
		}
	}
	return nil
}

// messageMark returns the only dialect that a message can have; nil: several are possible.
func messageMark(item []byte) wire.Dialect {
	switch role, _ := jsonspan.String(jsonspan.Field(item, "role")); role {
	case "system", "developer", "tool", "function":
		return chat.Dialect{}
	}
	if d := markOf(item, messageMarks); d != nil {
		return d
	}
	for block, err := range jsonspan.Array(jsonspan.Field(item, "content")) {
		if err != nil {
			return nil
		}
		if kind, _ := jsonspan.String(jsonspan.Field(block.Raw, "type")); kind == "tool_use" ||
			kind == "redacted_thinking" {
			return anthropic.Dialect{}
		}
		if d := markOf(block.Raw, blockMarks); d != nil {
			return d
		}
	}
	return nil
}
