package gateway

import (
	"bytes"
	"regexp"

	"precis/gateway/lineage"
	"precis/internal/jsonspan"
	"precis/wire"
	"precis/wire/responses"
)

// Requests that are no turn of a conversation are passed through: titles, probes
// of what a server can do, a client's own compaction. Nothing is learned from
// them and nothing of them is condensed.

const (
	passCount    = "count_tokens"
	passTitle    = "side"
	passStateful = "stateful"
	passEmpty    = "empty"
)

const sideMessages = 3

// side reports whether the request is no turn that can be managed: one without
// tools and with few messages, or one that refers to messages that are not in
// it.
func (t *turn) side(b *wire.Body) bool {
	if t.work != workTurn {
		return true
	}
	if t.dialect.Name() == responses.Format && stateful(b) {
		return true
	}
	items := b.Items()
	return b.Get("tools") == nil && b.Get("functions") == nil && len(items) <= sideMessages
}

// compacts reports whether the request asks for a summary that is to take the
// place of the conversation it ends.
func (t *turn) compacts(b *wire.Body) bool {
	items := b.Items()
	return len(items) > 0 && asksForSummary(b.Item(len(items)-1))
}

// summaryRequest are words by which clients ask a model for a summary that is to
// take the place of a conversation.
var summaryRequest = regexp.MustCompile(`(?i)(create|write|provide|generate|produce|give me)\b[^.\n]{0,80}\bsummary\b[^\n]{0,80}\b(conversation|session|history|context|so far|above)|` +
	`summari[sz]e\b[^.\n]{0,60}\b(conversation|session|history)|context checkpoint|handoff summary|compact(ion|ing) (of )?(the|this) conversation|<?state_snapshot>?`)

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

// stateful reports whether a body of the Responses API refers to what the
// upstream has stored.
func stateful(b *wire.Body) bool {
	if b.Get("previous_response_id") != nil || b.Get("conversation") != nil {
		return true
	}
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

// passing says why a request that was placed is passed through; "" when it is
// managed.
func (t *turn) passing() string {
	f := t.found
	switch {
	case t.dialect.Name() == responses.Format && stateful(f.Body):
		return passStateful
	case !f.Body.HasList() || f.Len == 0:
		return passEmpty
	case f.Line.ID == "" || f.Kind == lineage.First && t.work != workTurn:
		return passTitle
	}
	return ""
}
