// Package precisanthropic converts messages of Anthropic's Go SDK to messages of precis and
// back, for conversations that a program holds by name:
//
//	conv.Append(said...)                       // [Messages] of what was said
//	view, err := conv.View(ctx)
//	params.Messages, err = Params(view.Messages)
//	answer, err := client.Messages.New(ctx, params)
//	reply, err := Reply(answer)                // for conv.Append
//
// A program that gives [github.com/precis-dev/precis/keeper.Keeper.HTTPClient] to the SDK needs none of this.
package precisanthropic

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/precis-dev/precis"
	wire "github.com/precis-dev/precis/wire/anthropic"
)

// Messages converts messages of the SDK to messages of precis. What precis does not know is kept as
// it is. The error names the message.
func Messages(params []anthropic.MessageParam) ([]precis.Message, error) {
	out := make([]precis.Message, 0, len(params))
	for i, p := range params {
		data, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		m, err := wire.DecodeMessage(data)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// Params converts messages of precis to messages of the SDK. Those that came from [Messages] and
// were not changed are sent as they came, also what the SDK has no type for; such a message has no field set.
func Params(view []precis.Message) ([]anthropic.MessageParam, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(wire.AppendMessages(nil, view), &list); err != nil {
		return nil, err
	}
	out := make([]anthropic.MessageParam, len(list))
	for i, data := range list {
		if json.Unmarshal(data, &out[i]) != nil || !holds(out[i], data) {
			out[i] = param.Override[anthropic.MessageParam](data)
		}
	}
	return out, nil
}

// Reply turns an answer of the API into a message of precis.
func Reply(answer *anthropic.Message) (precis.Message, error) {
	msgs, err := Messages([]anthropic.MessageParam{answer.ToParam()})
	if err != nil {
		return precis.Message{}, err
	}
	return msgs[0], nil
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
