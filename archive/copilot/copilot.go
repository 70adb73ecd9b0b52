// Package copilot reads the chats of VS Code's Copilot: the session files that the editor keeps,
// and the replays that the extension exports. Start with [Format].
//
//   - {version, sessionId, requests: […]}, a session of one JSON document
//   - JSON lines that change such a document step by step
//   - {prompts: [{prompt, logs: […]}]}, an exported replay (.chatreplay.json)
//
// A request holds the user's message and, if an agent worked, the rounds of its work: the model's
// texts, its calls, and their results. If a session has no rounds, the displayed parts are read
// instead. A summary that the extension made of its conversation becomes an edit.
package copilot

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of Copilot's chats.
type Format struct{}

// Name returns "copilot".
func (Format) Name() string { return "copilot" }

// Detect looks for a session's requests, for the first line of a log of changes, or for
// a replay's prompts.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	if isLog(data) {
		return true
	}
	f := map[string]json.RawMessage{}
	for m, err := range jsonspan.Object(data) {
		if err != nil && m.Name == "" {
			break
		}
		f[m.Name] = m.Raw
		if m.Name == "requests" && err != nil { // the data ends within it
			f[m.Name] = json.RawMessage("[]")
			break
		}
	}
	return isSession(f) || isReplay(f)
}

// isLog reports whether data begins with the first line of a log of changes.
func isLog(data []byte) bool {
	lines := archive.FirstLines(data, 1)
	if len(lines) == 0 {
		return false
	}
	f := jsonspan.Members(lines[0])
	return string(f["kind"]) == "0" && isSession(jsonspan.Members(f["v"]))
}

// isSession reports whether an object has the members of a session.
func isSession(f map[string]json.RawMessage) bool {
	known := f["responderUsername"] != nil || f["creationDate"] != nil ||
		f["sessionId"] != nil && f["version"] != nil
	return known && jsonspan.Kind(f["requests"]) == '['
}

// isReplay reports whether an object is a replay, or one prompt of it.
func isReplay(f map[string]json.RawMessage) bool {
	list := f["prompts"]
	if jsonspan.Kind(list) != '[' {
		return jsonspan.Kind(f["logs"]) == '[' && f["promptId"] != nil
	}
	for span, err := range jsonspan.Array(list) {
		if err != nil {
			return false
		}
		p := jsonspan.Members(span.Raw)
		return p["prompt"] != nil && jsonspan.Kind(p["logs"]) == '['
	}
	return false
}

// Read reads a chat. Lines of a log that cannot be applied are skipped; a malformed document is
// an error that names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	rec := &archive.Recording{}
	b := builder{archive.NewBuilder(rec)}
	rec.Conversation = b.Conv
	data := src.Data
	if isLog(data) {
		var err error
		if data, err = replayed(data, rec); err != nil {
			return nil, archive.Invalid("", err)
		}
	} else if err := jsonspan.Valid(data); err != nil {
		return nil, archive.Invalid("", err)
	}
	if isReplay(jsonspan.Members(data)) {
		return rec, b.replay(data)
	}
	if err := b.session(data); err != nil {
		return nil, err
	}
	rec.Origin.Project = project(src.Path)
	return rec, nil
}

// project returns the folder that the editor had open. It is recorded in a file next to the
// folder of the session.
func project(path string) string {
	if path == "" || filepath.Base(filepath.Dir(path)) != "chatSessions" {
		return ""
	}
	data, err := archive.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), "workspace.json"))
	if err != nil {
		return ""
	}
	f := jsonspan.Members(data)
	for _, name := range []string{"folder", "workspace"} {
		if u, err := url.Parse(jsonspan.Text(f, name)); err == nil && u.Path != "" {
			return u.Path
		}
	}
	return ""
}

// session reads the document of a session.
func (b builder) session(data []byte) error {
	f := jsonspan.Members(data)
	c := b.Conv
	c.ID, c.Title = jsonspan.Text(f, "sessionId"), jsonspan.Text(f, "customTitle")
	b.Rec.Origin.Begun = archive.ParseMillis(f["creationDate"])
	n := 0
	for span, err := range jsonspan.Array(f["requests"]) {
		if err == nil && jsonspan.Kind(span.Raw) != 'n' {
			err = b.request(span.Raw)
		}
		if err != nil {
			return archive.Invalid(fmt.Sprintf("request %d", n), err)
		}
		n++
	}
	return nil
}

// modelName returns a model's name without the vendor before it.
func modelName(id string) string {
	return id[strings.LastIndexByte(id, '/')+1:]
}
