package provider

import (
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// newAPI returns the API of a complete configuration.
func newAPI(c Config) api {
	switch c.Dialect {
	case anthropic.Format:
		return anthropicAPI{}
	case responses.Format:
		return responsesAPI{}
	}
	return chatAPI{}
}

// withSystem returns messages preceded by the system messages of a live request, unless messages
// begin with system messages already: in the dialects of OpenAI the system prompt is one of the
// messages.
func withSystem(live []byte, messages []precis.Message,
	decode func([]byte) ([]precis.Message, error)) []precis.Message {
	if messages[0].Role == precis.RoleSystem {
		return messages
	}
	system := []byte("[")
	for m, err := range jsonspan.Array(live) {
		role := text(memberOf(m.Raw, "role"))
		if err != nil || role != "system" && role != "developer" {
			break
		}
		if len(system) > 1 {
			system = append(system, ',')
		}
		system = append(system, m.Raw...)
	}
	first, err := decode(append(system, ']'))
	if err != nil {
		return messages // a body that cannot be parsed has no system messages to keep
	}
	return append(first, messages...)
}

// parseLive parses the body of a live request that has its messages in the named field.
func parseLive(body []byte, messages string) (*wire.Draft, error) {
	o, err := parseObject(body)
	if err != nil {
		return nil, fmt.Errorf("read live request: %w", err)
	}
	if o.Get(messages) == nil {
		return nil, fmt.Errorf("read live request: it has no %s", messages)
	}
	return o, nil
}

// parseObject parses an object for editing.
func parseObject(raw []byte) (*wire.Draft, error) {
	b, err := wire.Parse(raw, "", nil)
	if err != nil {
		return nil, err
	}
	return b.Draft(), nil
}
