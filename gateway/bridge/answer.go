package bridge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
)

// Reply is an answer to a request for a summary in place of the model's.
type Reply struct {
	Dialect string
	ID      string // without the prefix of the dialect
	Model   string
	Text    string
	Created int64 // in seconds since 1970
}

// WrapSummary returns a summary in the form that the request asks for: in a <summary> element if the
// request mentions one.
func WrapSummary(text string, item []byte) string {
	if strings.Contains(string(item), "<summary>") || strings.Contains(string(item), `\u003csummary\u003e`) {
		return "<summary>\n" + text + "\n</summary>"
	}
	return text
}

// Body returns the whole answer.
func (r Reply) Body() []byte {
	switch r.Dialect {
	case anthropic.Format:
		return r.message(r.block(r.Text), `"end_turn"`, r.tokens())
	case chat.Format:
		return r.completion("chat.completion",
			`"message":{"role":"assistant","content":`+r.quoted()+`,"refusal":null}`, `"stop"`, true)
	}
	return r.response(true)
}

// Events returns the answer as a stream.
func (r Reply) Events() []byte {
	var out []byte
	switch r.Dialect {
	case anthropic.Format:
		event := func(kind, rest string) {
			out = wire.AppendEvent(out, kind, []byte(`{"type":"`+kind+`"`+rest+`}`))
		}
		event("message_start", `,"message":`+string(r.message("", "null", 0)))
		event("content_block_start", `,"index":0,"content_block":`+r.block(""))
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+r.quoted()+`}`)
		event("content_block_stop", `,"index":0`)
		event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":%d}`, r.tokens()))
		event("message_stop", "")
	case chat.Format:
		out = wire.AppendEvent(out, "",
			r.completion("chat.completion.chunk", `"delta":{"role":"assistant","content":`+r.quoted()+`}`,
				"null", false))
		out = wire.AppendEvent(out, "", r.completion("chat.completion.chunk", `"delta":{}`, `"stop"`, true))
		out = append(out, "data: [DONE]\n\n"...)
	default:
		number := 0
		event := func(kind, rest string) {
			out = wire.AppendEvent(out, kind,
				[]byte(`{"type":"`+kind+`","sequence_number":`+strconv.Itoa(number)+rest+`}`))
			number++
		}
		at := `,"item_id":"msg_` + r.ID + `","output_index":0,"content_index":0`
		event("response.created", `,"response":`+string(r.response(false)))
		event("response.in_progress", `,"response":`+string(r.response(false)))
		event("response.output_item.added", `,"output_index":0,"item":`+r.item("in_progress", ""))
		event("response.content_part.added", at+`,"part":`+part(`""`))
		event("response.output_text.delta", at+`,"delta":`+r.quoted()+`,"logprobs":[]`)
		event("response.output_text.done", at+`,"text":`+r.quoted()+`,"logprobs":[]`)
		event("response.content_part.done", at+`,"part":`+part(r.quoted()))
		event("response.output_item.done", `,"output_index":0,"item":`+r.item("completed", part(r.quoted())))
		event("response.completed", `,"response":`+string(r.response(true)))
	}
	return out
}

func (r Reply) quoted() string { return string(jsonspan.AppendString(nil, r.Text)) }

// tokens returns the size of the answer.
func (r Reply) tokens() int { return digest.EstimateTokens(r.Text) }

func (r Reply) block(text string) string {
	return `{"type":"text","text":` + string(jsonspan.AppendString(nil, text)) + `}`
}

func (r Reply) message(content, stop string, output int) []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "id", "msg_"+r.ID)
	dst = append(dst, `,"type":"message","role":"assistant"`...)
	dst = jsonspan.AppendStringField(dst, "model", r.Model)
	return fmt.Appendf(dst, `,"content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":%d}}`, content, stop, output)
}

func (r Reply) completion(object, said, finish string, usage bool) []byte {
	dst := jsonspan.AppendStringField([]byte("{"), "id", "chatcmpl-"+r.ID)
	dst = jsonspan.AppendStringField(dst, "object", object)
	dst = fmt.Appendf(dst, `,"created":%d`, r.Created)
	dst = jsonspan.AppendStringField(dst, "model", r.Model)
	dst = fmt.Appendf(dst, `,"choices":[{"index":0,%s,"logprobs":null,"finish_reason":%s}]`, said, finish)
	if usage {
		dst = fmt.Appendf(dst, `,"usage":{"prompt_tokens":0,"completion_tokens":%d,"total_tokens":%[1]d}`,
			r.tokens())
	}
	return append(dst, '}')
}

// part is a piece of an item's content with a quoted text.
func part(text string) string { return `{"type":"output_text","text":` + text + `,"annotations":[]}` }

func (r Reply) item(status, content string) string {
	return `{"type":"message","id":"msg_` + r.ID + `","status":"` + status +
		`","role":"assistant","content":[` + content + `]}`
}

func (r Reply) response(done bool) []byte {
	status, output, usage := "in_progress", "", "null"
	if done {
		status, output = "completed", r.item("completed", part(r.quoted()))
		usage = fmt.Sprintf(`{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%[1]d}`, r.tokens())
	}
	dst := jsonspan.AppendStringField([]byte("{"), "id", "resp_"+r.ID)
	dst = fmt.Appendf(dst, `,"object":"response","created_at":%d,"status":"%s"`, r.Created, status)
	dst = jsonspan.AppendStringField(dst, "model", r.Model)
	return fmt.Appendf(dst, `,"output":[%s],"error":null,"incomplete_details":null,"instructions":null,"metadata":{},"parallel_tool_calls":true,"tool_choice":"auto","tools":[],"usage":%s}`, output, usage)
}
