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
// tools and with few messages, one that asks for a summary of what came before,
// or one that refers to messages that are not in it.
func (t *turn) side(b *wire.Body) bool {
	if t.work != workTurn {
		return true
	}
	if t.dialect.Name() == responses.Format && stateful(b) {
		return true
	}
	items := b.Items()
	if b.Get("tools") == nil && b.Get("functions") == nil && len(items) <= sideMessages {
		return true
	}
	return len(items) > 0 && asksForSummary(b.Item(len(items)-1))
}

// summaryRequest are words by which clients ask a model for a summary that is to
// take the place of a conversation.
var summaryRequest = regexp.MustCompile(`(?i)(create|write|provide|generate|produce|give me)\b[^.\n]{0,80}\bsummary\b[^\n]{0,80}\b(conversation|session|history|context|so far|above)|` +
	`summari[sz]e\b[^.\n]{0,60}\b(conversation|session|history)|context checkpoint|handoff summary|compact(ion|ing) (of )?(the|this) conversation|<?state_snapshot>?`)

// asksForSummary reports whether an item is a client's request to condense the
// conversation. Only short messages and the ends of long ones are looked at.
func asksForSummary(item []byte) bool {
	if kind, _ := jsonspan.String(jsonspan.Field(item, "type")); kind == "compaction_trigger" {
		return true
	}
	if role, _ := jsonspan.String(jsonspan.Field(item, "role")); role != "user" && role != "system" && role != "developer" {
		return false
	}
	const most = 16 << 10
	if len(item) > most {
		return false
	}
	return summaryRequest.Match(item)
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
