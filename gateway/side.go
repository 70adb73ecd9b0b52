package gateway

import (
	"regexp"

	"precis"
	"precis/gateway/lineage"
	"precis/internal/jsonspan"
	"precis/wire"
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

// side reports whether the request is no turn: one without tools and with few
// messages, or one that asks for a summary of what came before.
func (t *turn) side(b *wire.Body) bool {
	if t.work != workTurn {
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

// passing says why a request that was placed is passed through; "" when it is
// managed.
func (t *turn) passing() string {
	f := t.found
	switch {
	case f.Prompt.Stateful || refers(f.Messages):
		return passStateful
	case !f.Body.HasList() || f.Len == 0:
		return passEmpty
	case f.Line.ID == "" || f.Kind == lineage.First && t.work != workTurn:
		return passTitle
	}
	return ""
}

// refers reports whether a request refers to items that are not in it.
func refers(msgs []precis.Message) bool {
	for _, m := range msgs {
		for _, b := range m.Content {
			if o, ok := b.(precis.Opaque); ok && o.Type == "item_reference" {
				return true
			}
		}
	}
	return false
}
