// Package intent determines the purpose of a request to a model: whether it is a turn of a
// conversation, and whether it asks for a summary to replace a conversation. The gateway uses it
// once per request, before any lookup; no other code looks for the purpose of a request.
package intent

import (
	"bytes"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/internal/lazyregexp"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/responses"
)

// Work is what the path of a request asks an API to do.
type Work string

// The kinds of work.
const (
	Turn    Work = "turn"    // to answer a conversation
	Count   Work = "count"   // to count the tokens of a conversation
	Compact Work = "compact" // to compact a conversation
	Pass    Work = "pass"    // anything else
)

// Request is a request to classify. Its work is not Pass.
type Request struct {
	Work     Work
	Dialect  wire.Dialect
	Body     *wire.Body
	System   precis.Message // the system prompt
	Messages []precis.Message
}

// Intent is the purpose of a request.
type Intent struct {
	Work Work
	// Empty: the request has no list of messages, or an empty one.
	Empty bool
	// Turn: the request is a turn that can be managed. Other requests are for titles, probes of
	// server features, counts, and requests that refer to messages they do not contain.
	Turn bool
	// Stateful: the request belongs to a conversation that its upstream stores. Refers: it refers
	// to earlier messages that it does not contain.
	Stateful, Refers bool
	// Thread: the request is the next turn of a message thread of the Messages API, or the first
	// one; the upstream keeps the messages of a thread.
	Thread bool
	// Trigger: the request asks for a compaction by an item of the Responses API.
	Trigger bool
	// Summary: the request asks for a summary of the messages before the last one.
	Summary bool
	// SummaryOfText: the request is no turn, and asks for a summary of a conversation that its last
	// message contains as text.
	SummaryOfText bool
	// Program: a program worded the request for a summary. Only then can it be answered without the
	// model: a user may want a summary of the conversation in a file.
	Program bool
}

// asideMessages is how many messages a request without tools may have and still not be a turn.
const asideMessages = 3

// Of returns the purpose of a request.
func Of(r Request) Intent {
	in := Intent{Work: r.Work, Empty: !r.Body.HasList() || len(r.Messages) == 0}
	if r.Dialect.Name() == responses.Format {
		in.Refers = r.Body.Get("previous_response_id") != nil || hasReferences(r.Body)
		in.Stateful = in.Refers || r.Body.Get("conversation") != nil
	}
	turns := r.Work == Turn
	in.Thread = turns && r.Dialect.Name() == anthropic.Format && !isNull(r.Body.Get("thread"))
	items := r.Body.Items()
	aside := r.Body.Get("tools") == nil && r.Body.Get("functions") == nil && len(items) <= asideMessages
	in.Turn = turns && !in.Stateful && !in.Thread && !aside
	if len(items) > 0 {
		last := r.Body.Item(len(items) - 1)
		kind, _ := jsonspan.String(jsonspan.Field(last, "type"))
		in.Trigger = kind == "compaction_trigger"
		in.Summary = in.Trigger || asksForSummary(last)
	}
	in.SummaryOfText = turns && !in.Turn && asksForTextSummary(r.System, r.Messages)
	in.Program = (in.Summary || in.SummaryOfText) && asksInProgramWords(r.System, r.Messages)
	return in
}

// Why returns the reason why a request that is not managed is no turn, as unmanaged.Reason names
// it.
func (in Intent) Why() string {
	switch {
	case in.Stateful:
		return "stateful"
	case in.Empty:
		return "no_messages"
	case in.Work == Count, in.Work == Compact:
		return string(in.Work)
	case in.SummaryOfText:
		return "summary"
	}
	return "aside"
}

// isNull reports whether a value of a body is missing or null.
func isNull(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) == 0 || bytes.Equal(value, []byte("null"))
}

// hasReferences reports whether a body of the Responses API contains items that only refer to
// others.
func hasReferences(b *wire.Body) bool {
	const reference = "item_reference"
	if !bytes.Contains(b.Raw(), []byte(reference)) {
		return false
	}
	for i := range b.Items() {
		if kind, _ := jsonspan.String(jsonspan.Field(b.Item(i), "type")); kind == reference {
			return true
		}
	}
	return false
}

// summaryRequest matches the wording of clients that ask a model for a summary to replace a
// conversation.
var summaryRequest = lazyregexp.New(`(?i)(create|write|provide|generate|produce|construct|update|give me)\b[^.\n]{0,80}\bsummary\b[^\n]{0,80}\b(conversation|session|history|context|so far|above)|` +
	`summari[sz]e\b[^.\n]{0,60}\b(conversation|session|history)|(context|conversation) summari[sz]ation (agent|assistant)|new summary that combines|context checkpoint|handoff summary|compact(ion|ing) (of )?(the|this) conversation|<?state_snapshot>?`)

// asksForSummary reports whether an item is a client's request to condense the conversation. It
// ignores the output of tools.
func asksForSummary(item []byte) bool {
	if role, _ := jsonspan.String(jsonspan.Field(item, "role")); role != "user" && role != "system" &&
		role != "developer" {
		return false
	}
	content := jsonspan.Field(item, "content")
	if jsonspan.Kind(content) != '[' {
		return summaryWords(content)
	}
	for b, err := range jsonspan.Array(content) {
		if err != nil {
			return false
		}
		if summaryWords(jsonspan.Field(b.Raw, "text")) {
			return true
		}
	}
	return false
}

// summaryWords reports whether a text asks for a summary. Long texts never do.
func summaryWords(text []byte) bool {
	const most = 16 << 10
	return len(text) <= most && summaryRequest.Match(text)
}

// programRequest matches requests for a summary in the wording of programs, which users do not use.
var programRequest = lazyregexp.New(`(?i)<summary>|<state_snapshot>|context checkpoint|(context|conversation) summari[sz]ation (agent|assistant)|<(prior|previous)-summary>|handoff summary`)

// asksInProgramWords reports whether the last message or the system prompt of a request asks for a summary
// in the wording of a program.
func asksInProgramWords(system precis.Message, msgs []precis.Message) bool {
	const edge = 8 << 10
	if len(msgs) == 0 {
		return false
	}
	for _, text := range []string{system.PlainText(), msgs[len(msgs)-1].PlainText()} {
		if programRequest.MatchString(text[:min(len(text), edge)]) ||
			programRequest.MatchString(text[max(len(text)-edge, 0):]) {
			return true
		}
	}
	return false
}

// asksForTextSummary reports whether a request asks for a summary of a conversation that it contains as
// text. It checks the system prompt, and the beginning and end of the last message.
func asksForTextSummary(system precis.Message, msgs []precis.Message) bool {
	const edge = 4 << 10
	if len(msgs) == 0 {
		return false
	}
	text := system.PlainText()
	if summaryRequest.MatchString(text[:min(len(text), 4*edge)]) {
		return true
	}
	text = msgs[len(msgs)-1].PlainText()
	return summaryRequest.MatchString(text[:min(len(text), edge)]) ||
		summaryRequest.MatchString(text[max(len(text)-edge, 0):])
}
