// Package precisopenai turns messages and items of OpenAI's Go SDK into messages of precis
// and back, for conversations that a program holds by name:
//
//	system, said, err := Messages(history)     // of a chat completion
//	conv.With(model, system, nil).Append(said...)
//	view, err := conv.View(ctx)
//	params.Messages, err = Params(system, view.Messages)
//
// [Items] and [ItemParams] do the same for the Responses API. A program that gives
// [github.com/precis-dev/precis/keeper.Keeper.HTTPClient] to the SDK needs none of this.
package precisopenai

import (
	"encoding/json"
	"reflect"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/wire/chat"
	wire "github.com/precis-dev/precis/wire/responses"
)

// Messages converts messages of a chat completion to messages of precis: the system prompt, which are the
// system and developer messages at the beginning, and the others. The error names the place.
func Messages(params []openai.ChatCompletionMessageParamUnion) (system string, msgs []precis.Message, err error) {
	data, err := json.Marshal(params)
	if err != nil {
		return "", nil, err
	}
	all, err := chat.DecodeMessages(data)
	if err != nil {
		return "", nil, err
	}
	prompt, msgs := chat.SplitSystem(all)
	return prompt.PlainText(), msgs, nil
}

// Params turns a system prompt, "" for none, and messages of precis into those of a chat completion.
func Params(system string, view []precis.Message) ([]openai.ChatCompletionMessageParamUnion, error) {
	if system != "" {
		view = append([]precis.Message{precis.NewText(precis.RoleSystem, system)}, view...)
	}
	return decoded[openai.ChatCompletionMessageParamUnion](chat.AppendMessages(nil, view))
}

// Items turns input items of the Responses API into messages of precis. What precis does not
// know is kept as it is. The error names the place.
func Items(items []responses.ResponseInputItemUnionParam) ([]precis.Message, error) {
	data, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	return wire.DecodeMessages(data)
}

// ItemParams turns messages of precis into input items of the Responses API.
func ItemParams(view []precis.Message) ([]responses.ResponseInputItemUnionParam, error) {
	return decoded[responses.ResponseInputItemUnionParam](wire.AppendMessages(nil, view))
}

// decoded reads a list, an element at a time. What the SDK has no type for is sent as it is,
// with no field set.
func decoded[T param.ParamStruct, P interface {
	*T
	param.InferPtr[T]
}](data []byte) ([]T, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	out := make([]T, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &out[i]) != nil || !holds(out[i], raw) {
			out[i] = param.Override[T, P](raw)
		}
	}
	return out, nil
}

// holds reports whether a parameter of the SDK says all that it was made of.
func holds(param any, raw []byte) bool {
	again, err := json.Marshal(param)
	if err != nil {
		return false
	}
	var was, is any
	return json.Unmarshal(raw, &was) == nil && json.Unmarshal(again, &is) == nil && reflect.DeepEqual(was, is)
}
