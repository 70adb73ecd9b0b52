package provider

import (
	"net/http"
	"strconv"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/chat"
)

// chatAPI is OpenAI's Chat Completions API, which many servers implement.
type chatAPI struct{}

func (chatAPI) path() string                        { return "/chat/completions" }
func (chatAPI) dialect() wire.Dialect               { return chat.Dialect{} }
func (chatAPI) authorize(h http.Header, key string) { bearer(h, key) }

// stopIsEnd is true because the usage comes after the end of the text, and not all servers send the
// end marker after it.
func (chatAPI) stopIsEnd() bool { return true }

// bearer sets the key as OpenAI's APIs require it.
func bearer(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (chatAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, o.chatLimit, o.limit)
	if o.effort != "" {
		b = jsonspan.AppendStringField(b, "reasoning_effort", o.effort)
	}
	b = appendBool(b, "stream", true)
	b = append(jsonspan.AppendField(b, "stream_options"), includeUsage...)
	messages := o.Messages
	if system := onlyTexts(o.System); len(system.Content) > 0 {
		messages = append([]precis.Message{system}, messages...)
	}
	b = chat.AppendMessages(jsonspan.AppendField(b, "messages"), messages)
	return append(b, '}')
}

const includeUsage = `{"include_usage":true}`

func (chatAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "messages")
	if err != nil {
		return nil, err
	}
	messages := withSystem(live.Get("messages"), o.Messages, chat.DecodeMessages)
	live.Set("messages", chat.AppendMessages(make([]byte, 0, len(o.Body)), messages))
	live.Set("stream", []byte("true"))
	options := []byte(includeUsage)
	if own := live.Get("stream_options"); jsonspan.Kind(own) == '{' {
		parsed, err := parseObject(own)
		if err != nil {
			return nil, err
		}
		parsed.Set("include_usage", []byte("true"))
		options = parsed.Bytes()
	}
	live.Set("stream_options", options)
	if o.limit > 0 {
		for _, name := range ownLimits(live, o.chatLimit) {
			live.Set(name, strconv.AppendInt(nil, int64(o.limit), 10))
		}
	}
	return live.Bytes(), nil
}

// ownLimits returns the names of the output limits in a live request, or the given one if it has
// none.
func ownLimits(live *wire.Draft, chosen string) (names []string) {
	for _, name := range []string{newerLimit, olderLimit} {
		if live.Get(name) != nil {
			names = append(names, name)
		}
	}
	if names == nil {
		names = []string{chosen}
	}
	return names
}
