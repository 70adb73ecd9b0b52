package provider

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/responses"
)

// responsesAPI is OpenAI's Responses API.
type responsesAPI struct{}

func (responsesAPI) path() string                        { return "/responses" }
func (responsesAPI) dialect() wire.Dialect               { return responses.Dialect{} }
func (responsesAPI) stopIsEnd() bool                     { return false }
func (responsesAPI) authorize(h http.Header, key string) { bearer(h, key) }

func (responsesAPI) fresh(o order) []byte {
	b := jsonspan.AppendStringField([]byte("{"), "model", o.model)
	b = appendNumber(b, "max_output_tokens", o.limit)
	if o.effort != "" {
		b = append(jsonspan.AppendField(b, "reasoning"), '{')
		b = append(jsonspan.AppendStringField(b, "effort", o.effort), '}')
	}
	b = appendBool(b, "store", false)
	b = appendBool(b, "stream", true)
	if system := onlyTexts(o.System).PlainText(); system != "" {
		b = jsonspan.AppendStringField(b, "instructions", system)
	}
	b = responses.AppendMessages(jsonspan.AppendField(b, "input"), o.Messages)
	return append(b, '}')
}

// errStateful reports that the live request continues a conversation that the
// server stores, so that its prefix is not in the request.
var errStateful = errors.New("the live request continues a conversation that the server keeps: nothing can ride on it")

func (responsesAPI) ride(o order) ([]byte, error) {
	live, err := parseLive(o.Body, "input")
	if err != nil {
		return nil, err
	}
	if live.Get("previous_response_id") != nil || live.Get("conversation") != nil {
		return nil, errStateful
	}
	messages := withSystem(live.Get("input"), o.Messages, responses.DecodeMessages)
	live.Set("input", responses.AppendMessages(make([]byte, 0, len(o.Body)), messages))
	live.Set("stream", []byte("true"))
	live.Set("store", []byte("false"))
	if live.Get("background") != nil {
		live.Set("background", []byte("false"))
	}
	if o.limit > 0 {
		live.Set("max_output_tokens", strconv.AppendInt(nil, int64(o.limit), 10))
	}
	return live.Bytes(), nil
}
