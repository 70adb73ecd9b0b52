package bridge

import (
	"precis"
	"precis/internal/jsonspan"
	"precis/internal/lazyregexp"
	"precis/wire"
)

// Asks reports whether a request asks for a summary that is to take the place of the
// conversation that its messages are.
func Asks(b *wire.Body) bool {
	items := b.Items()
	return len(items) > 0 && asksForSummary(b.Item(len(items)-1))
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

// AsksPlainly reports whether the last message of a request, or its system prompt, asks for a summary in the
// words of a program. Only then can it be answered without the model: a user may want a
// summary of the conversation in a file.
func AsksPlainly(system precis.Message, msgs []precis.Message) bool {
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

// AsksAside reports whether a request that is no turn asks for a summary of a
// conversation that it holds as text: in its system prompt, or where its last message
// begins or ends.
func AsksAside(system precis.Message, msgs []precis.Message) bool {
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
