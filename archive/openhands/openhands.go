// Package openhands reads the event logs of OpenHands, of both generations.
// Start with [Format].
//
//   - the events of its SDK, one JSON object a line, recognized by kind
//   - the events of OpenHands before 1.0, a JSON array, recognized by an action or an
//     observation
//   - output.jsonl of an evaluation: one conversation a line, its events under
//     history
//
// Each event visible to a model is one message, worded as OpenHands words it for the model. A
// condensation becomes an edit: the forgotten messages, and the summary at the position that
// OpenHands gave it.
package openhands

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of OpenHands's event logs.
type Format struct{}

// Name returns "openhands".
func (Format) Name() string { return "openhands" }

// Detect looks for an event among the first elements or lines.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) == '[' {
		return eventList(data)
	}
	for _, raw := range archive.FirstLines(data, 3) {
		f, err := jsonspan.Fields(raw)
		if err == nil && (isEvent(f) || eventList(f["history"])) {
			return true
		}
	}
	return false
}

// eventList reports whether raw is an array that begins with an event, or with
// an array that does.
func eventList(raw []byte) bool {
	if jsonspan.Kind(raw) != '[' {
		return false
	}
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return false
		}
		if jsonspan.Kind(span.Raw) == '[' {
			return eventList(span.Raw)
		}
		f, err := jsonspan.Fields(span.Raw)
		return err == nil && isEvent(f)
	}
	return false
}

// isEvent reports whether an object is an event of either generation.
func isEvent(f map[string]json.RawMessage) bool {
	if f["source"] == nil && f["cause"] == nil {
		return false
	}
	if kind := jsonspan.Text(f, "kind"); kind != "" {
		return sdkKinds[kind]
	}
	return jsonspan.Text(f, "action") != "" && f["args"] != nil ||
		jsonspan.Text(f, "observation") != "" && (f["content"] != nil || f["extras"] != nil)
}

// Read reads a log. Malformed lines are skipped; malformed events of an array
// are an error.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	rec := &archive.Recording{}
	if jsonspan.Kind(src.Data) == '[' {
		if err := jsonspan.Valid(src.Data); err != nil {
			return nil, archive.Invalid("", err)
		}
		b := newBuilder(rec)
		if err := b.list(src.Data); err != nil {
			return nil, err
		}
		rec.Conversation = b.Conv
		return rec, nil
	}
	readLines(src.Data, rec)
	return rec, nil
}

// readLines reads lines of events, which together are one conversation, and lines that each hold
// a conversation. The first conversation is the main one.
func readLines(data []byte, rec *archive.Recording) {
	loose := newBuilder(rec)
	var whole []*precis.Conversation
	for l := range archive.Lines(data, rec) {
		f, err := jsonspan.Fields(l.Raw)
		if err != nil {
			rec.Skip(l.Number, err)
			continue
		}
		place := fmt.Sprintf("line %d", l.Number)
		if jsonspan.Kind(f["history"]) != '[' {
			if err := loose.event(f, place); err != nil {
				rec.Skip(l.Number, err)
			}
			continue
		}
		c, err := instance(f, rec)
		if err == nil && c.Transcript.Len() == 0 {
			err = errors.New("the history holds no messages")
		}
		if err != nil {
			rec.Skip(l.Number, err)
			continue
		}
		whole = append(whole, c)
	}
	if loose.Conv.Transcript.Len() > 0 || len(whole) == 0 {
		whole = append([]*precis.Conversation{loose.Conv}, whole...)
	}
	rec.Conversation = whole[0]
	rec.Conversation.Branches = whole[1:]
}

// instance reads one line of an evaluation's output.
func instance(f map[string]json.RawMessage, rec *archive.Recording) (*precis.Conversation, error) {
	b := newBuilder(rec)
	if err := b.list(f["history"]); err != nil {
		return nil, err
	}
	b.Conv.ID = jsonspan.Text(f, "instance_id")
	if model := jsonspan.Text(jsonspan.Members(jsonspan.Members(f["metadata"])["llm_config"]),
		"model"); model != "" {
		b.Conv.Model = model
	}
	return b.Conv, nil
}

// list reads an array of events. The oldest logs pair each action with its
// observation in an array of two.
func (b *builder) list(raw []byte) error {
	n := 0
	for span, err := range jsonspan.Array(raw) {
		place := fmt.Sprintf("event %d at byte %d", n, span.Offset)
		if err != nil {
			return archive.Invalid(place, err)
		}
		if jsonspan.Kind(span.Raw) == '[' {
			err = b.pair(span.Raw, place)
		} else {
			err = b.object(span.Raw, place)
		}
		if err != nil {
			return archive.Invalid(place, err)
		}
		n++
	}
	return nil
}

func (b *builder) pair(raw []byte, place string) error {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return err
		}
		if err := b.object(span.Raw, place); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) object(raw []byte, place string) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return err
	}
	return b.event(f, place)
}
