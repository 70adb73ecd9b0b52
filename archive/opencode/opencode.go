// Package opencode reads the sessions that "opencode export" writes: {info,
// messages: [{info, parts}]}. Start with [Format].
//
// opencode stores a tool's result in the part of its call; here it becomes a message after the step
// with the call. Text that opencode added in the user's role (synthetic) was sent to the model and
// is kept; text shown only to the user (ignored) is not. A compaction becomes an edit, as does the
// clearing of old tool results.
package opencode

import (
	"fmt"
	"strconv"
	"time"

	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of opencode's sessions.
type Format struct{}

// Name returns "opencode".
func (Format) Name() string { return "opencode" }

// Detect looks for a first message with info and parts. If data ends before the list, the session's
// info suffices.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	session := false
	for m, err := range jsonspan.Object(data) {
		switch {
		case err != nil:
			return session && m.Name == "messages"
		case m.Name == "info":
			info := jsonspan.Members(m.Raw)
			session = jsonspan.Text(info, "id") != "" && jsonspan.Kind(info["time"]) == '{'
		case m.Name == "messages":
			return jsonspan.Kind(m.Raw) == '[' && firstMessage(m.Raw)
		}
	}
	return false
}

func firstMessage(raw []byte) bool {
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return false
		}
		f := jsonspan.Members(span.Raw)
		return jsonspan.Text(jsonspan.Members(f["info"]), "role") != "" && jsonspan.Kind(f["parts"]) == '['
	}
	return false
}

// Read reads a session. The error names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	if err := jsonspan.Valid(src.Data); err != nil {
		return nil, archive.Invalid("", err)
	}
	b := newBuilder()
	var messages jsonspan.Span
	for m, err := range jsonspan.Object(src.Data) {
		if err != nil {
			return nil, archive.Invalid("", err)
		}
		switch m.Name {
		case "info":
			info := jsonspan.Members(m.Raw)
			b.conv.ID, b.conv.Title = jsonspan.Text(info, "id"), jsonspan.Text(info, "title")
			o := &b.rec.Origin
			o.Project, o.Parent, o.Begun = jsonspan.Text(info, "directory"), jsonspan.Text(info,
				"parentID"), parseMillis(jsonspan.Members(info["time"])["created"])
		case "messages":
			messages = m.Span
		}
	}
	n := 0
	for span, err := range jsonspan.Array(messages.Raw) {
		place := fmt.Sprintf("message %d at byte %d", n, messages.Offset+span.Offset)
		if err == nil {
			err = b.message(span.Raw, place)
		}
		if err != nil {
			return nil, archive.Invalid(place, err)
		}
		n++
	}
	b.finish()
	return b.rec, nil
}

func isTrue(raw []byte) bool { return jsonspan.Kind(raw) == 't' }

// parseMillis reads a time in milliseconds.
func parseMillis(raw []byte) time.Time {
	ms, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || ms <= 0 || ms > 1<<53 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}
