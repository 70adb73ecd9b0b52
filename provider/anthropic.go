package provider

import (
	"net/http"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
)

// anthropicAPI is the Messages API.
type anthropicAPI struct{}

func (anthropicAPI) path() string          { return "/v1/messages" }
func (anthropicAPI) dialect() wire.Dialect { return anthropic.Dialect{} }
func (anthropicAPI) stopIsEnd() bool       { return false }

// authorize sets the headers of the API; there is only one version.
func (anthropicAPI) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (anthropicAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, "max_tokens", o.limit)
	b = appendBool(b, "stream", true)
	room := anthropic.MaxBreakpoints
	if system := onlyTexts(o.System); len(system.Content) > 0 {
		blocks := anthropic.AppendContent(nil, system.Content, system.Format)
		b = append(jsonspan.AppendField(b, "system"), blocks...)
		room -= anthropic.CountBreakpoints(blocks)
	}
	messages := anthropic.AppendMessages(nil, o.Messages)
	b = append(jsonspan.AppendField(b, "messages"), anthropic.CapBreakpoints(messages, room)...)
	return append(b, '}')
}

func (anthropicAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "messages")
	if err != nil {
		return nil, err
	}
	room := anthropic.MaxBreakpoints - anthropic.CountBreakpoints(live.Get("tools")) - anthropic.CountBreakpoints(live.Get("system"))
	if live.Get(anthropic.Breakpoint) != nil {
		room--
	}
	messages := anthropic.AppendMessages(make([]byte, 0, len(o.Body)), o.Messages)
	live.Set("messages", anthropic.CapBreakpoints(messages, room))
	live.Set("stream", []byte("true"))
	// The API requires a limit above the budget for thinking.
	if o.limit > number(memberOf(live.Get("thinking"), "budget_tokens")) {
		live.Set("max_tokens", strconv.AppendInt(nil, int64(o.limit), 10))
	}
	return live.Bytes(), nil
}
