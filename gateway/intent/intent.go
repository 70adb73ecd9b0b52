// Package intent says what a request to a model is for: a turn of a conversation, or
// something beside one, and whether a summary is asked for that is to take the place of a
// conversation. The gateway asks once for each request, before it looks anything up with it.
package intent

import (
	"bytes"

	"precis"
	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/responses"
)

// Request is what is asked about.
type Request struct {
	Turns    bool // its path is that of turns; else it counts tokens, or asks for a compaction
	Dialect  wire.Dialect
	Body     *wire.Body
	System   precis.Message // the system prompt
	Messages []precis.Message
}

// Intent is what a request is for.
type Intent struct {
	// Turn: the request is a turn that can be managed. Others are titles, probes of what a
	// server can do, counts, and requests that refer to messages that are not in them.
	Turn bool
	// Stateful: the request belongs to a conversation that its upstream stores. Refers: it
	// says by reference what it goes on from, and its messages are not all.
	Stateful, Refers bool
	// Thread: the request creates or continues a message thread of the Messages API, whose
	// messages its upstream keeps.
	Thread bool
	// Summary: a summary is asked for of the messages before the last one.
	Summary bool
	// SummaryOfText: in a request that is no turn a summary is asked for of a conversation
	// that its last message holds as text.
	SummaryOfText bool
	// Program: the summary is asked for in the words of a program. Only then can it be answered
	// without the model: a user may want a summary of the conversation in a file.
	Program bool
}

// asideMessages is how many messages a request without tools has, at most, that is no turn.
const asideMessages = 3

// Of returns what a request is for.
func Of(r Request) Intent {
	var in Intent
	if r.Dialect.Name() == responses.Format {
		in.Refers = r.Body.Get("previous_response_id") != nil || hasReferences(r.Body)
		in.Stateful = in.Refers || r.Body.Get("conversation") != nil
	}
	in.Thread = r.Dialect.Name() == anthropic.Format && !isNull(r.Body.Get("thread"))
	items := r.Body.Items()
	aside := r.Body.Get("tools") == nil && r.Body.Get("functions") == nil && len(items) <= asideMessages
	in.Turn = r.Turns && !in.Stateful && !in.Thread && !aside
	in.Summary = len(items) > 0 && asksForSummary(r.Body.Item(len(items)-1))
	in.SummaryOfText = r.Turns && !in.Turn && asksAside(r.System, r.Messages)
	in.Program = (in.Summary || in.SummaryOfText) && asksPlainly(r.System, r.Messages)
	return in
}

// isNull reports whether a value of a body is missing, or says that there is none.
func isNull(value []byte) bool {
	value = bytes.TrimSpace(value)
	return len(value) == 0 || bytes.Equal(value, []byte("null"))
}

// hasReferences reports whether a body of the Responses API has items in it that only name
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

// summaryRequest are words by which clients ask a model for a summary that is to
// take the place of a conversation.
var summaryRequest = lazyregexp.New(`(?i)(create|write|provide|generate|produce|construct|update|give me)\b[^.\n]{0,80}\bsummary\b[^\n]{0,80}\b(conversation|session|history|context|so far|above)|` +
	`summari[sz]e\b[^.\n]{0,60}\b(conversation|session|history)|(context|conversation) summari[sz]ation (agent|assistant)|new summary that combines|context checkpoint|handoff summary|compact(ion|ing) (of )?(the|this) conversation|<?state_snapshot>?`)

// asksForSummary reports whether an item is a client's request to condense the
// conversation: words of its own, not what a tool returned.
func asksForSummary(item []byte) bool {
	if kind, _ := jsonspan.String(jsonspan.Field(item, "type")); kind == "compaction_trigger" {
		return true
	}
	if role, _ := jsonspan.String(jsonspan.Field(item, "role")); role != "user" && role != "system" && role != "developer" {
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

// summaryWords reports whether a text asks for a summary. Long ones hold other
// things.
func summaryWords(text []byte) bool {
	const most = 16 << 10
	return len(text) <= most && summaryRequest.Match(text)
}

// programRequest are words in which programs ask for a summary, and users do not.
var programRequest = lazyregexp.New(`(?i)<summary>|<state_snapshot>|context checkpoint|(context|conversation) summari[sz]ation (agent|assistant)|<(prior|previous)-summary>|handoff summary`)

// asksPlainly reports whether the last message of a request, or its system prompt, asks
// for a summary in the words of a program.
func asksPlainly(system precis.Message, msgs []precis.Message) bool {
	const edge = 8 << 10
	if len(msgs) == 0 {
		return false
	}
	for _, text := range []string{system.PlainText(), msgs[len(msgs)-1].PlainText()} {
		if programRequest.MatchString(text[:min(len(text), edge)]) || programRequest.MatchString(text[max(len(text)-edge, 0):]) {
			return true
		}
	}
	return false
}

// asksAside reports whether a request asks for a summary of a conversation that it holds
// as text: in its system prompt, or where its last message begins or ends.
func asksAside(system precis.Message, msgs []precis.Message) bool {
	const edge = 4 << 10
	if len(msgs) == 0 {
		return false
	}
	text := system.PlainText()
	if summaryRequest.MatchString(text[:min(len(text), 4*edge)]) {
		return true
	}
	text = msgs[len(msgs)-1].PlainText()
	return summaryRequest.MatchString(text[:min(len(text), edge)]) || summaryRequest.MatchString(text[max(len(text)-edge, 0):])
}
