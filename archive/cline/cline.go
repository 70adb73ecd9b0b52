// Package cline reads the sessions of Cline's command line: one JSON document, ID.messages.json,
// next to a description, ID.json. Start with [Format]. Tasks of Cline's extension are
// read by archive/roo.
//
// Messages have the form of the Messages API with additional fields; results of tools contain
// lists of {query, result}, which become text.
package cline

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/anthropic"
)

// suffix is the end of a session file's name.
const suffix = ".messages.json"

// Format is the reader of Cline's sessions.
type Format struct{}

// Name returns "cline".
func (Format) Name() string { return "cline" }

// Detect looks for an updated_at text followed by messages.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	own := false
	for m, err := range jsonspan.Object(data) {
		switch {
		case m.Name == "messages" && own:
			return jsonspan.Kind(m.Raw) == '[' || err != nil
		case err != nil:
			return false
		case m.Name == "agent", m.Name == "origin", m.Name == "updated_at":
			own = own || m.Name == "updated_at" && jsonspan.Kind(m.Raw) == '"'
		}
	}
	return false
}

// Read reads a session, and its description where there is one. The error names the
// place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	if err := jsonspan.Valid(src.Data); err != nil {
		return nil, archive.Invalid("", err)
	}
	rec := &archive.Recording{}
	s := &session{archive.NewBuilder(rec)}
	c := s.Conv
	rec.Conversation = c
	for m, err := range jsonspan.Object(src.Data) {
		if err != nil {
			return nil, archive.Invalid("", err)
		}
		switch m.Name {
		case "sessionId":
			c.ID, _ = jsonspan.String(m.Raw)
		case "system_prompt":
			if text, ok := jsonspan.String(m.Raw); ok && strings.TrimSpace(text) != "" {
				c.System = precis.NewText(precis.RoleSystem, text)
			}
		case "messages":
			if err := archive.Each(m.Span, "message", s.message); err != nil {
				return nil, err
			}
		}
	}
	s.readDescription(src.Path)
	return rec, nil
}

// session is the state of reading one file.
type session struct{ *archive.Builder }

// message reads one message.
func (s *session) message(raw []byte) error {
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return err
	}
	content, err := plainContent(f["content"])
	if err != nil {
		return err
	}
	body := jsonspan.AppendField([]byte{'{'}, "role")
	body = append(jsonspan.AppendField(append(body, f["role"]...), "content"), content...)
	m, err := anthropic.DecodeMessage(append(body, '}'))
	if err != nil {
		return err
	}
	m.Raw = nil
	m.ID, _ = jsonspan.String(f["id"])
	m.Time = archive.ParseMillis(f["ts"])
	s.addUsage(f)
	s.Append(m)
	return nil
}

// addUsage adds the usage of the request that a message answers, and sets the model.
func (s *session) addUsage(f map[string]json.RawMessage) {
	model := ""
	if info := jsonspan.Members(f["modelInfo"]); info != nil {
		if model, _ = jsonspan.String(info["id"]); model != "" {
			s.Conv.Model = model
		}
	}
	n := archive.ParseCounts(f["metrics"], "inputTokens", "outputTokens", "cacheReadTokens",
		"cacheWriteTokens")
	used := precis.Usage{Input: max(0, n[0]-n[2]-n[3]), Output: n[1], CacheRead: n[2], CacheWrite: n[3]}
	s.Rec.Origin.AddUsage(model, used, archive.ParseAmount(jsonspan.Members(f["metrics"])["cost"]))
	s.Rec.Origin.RecordRequest(s.Conv, used)
}

// readDescription reads the description next to a session. It is optional: a missing one is ignored, a
// malformed one is a warning.
func (s *session) readDescription(path string) {
	base, ok := strings.CutSuffix(path, suffix)
	if !ok {
		return
	}
	data, err := archive.ReadFile(base + ".json")
	if err != nil {
		return
	}
	var d struct {
		CWD      string    `json:"cwd"`
		Status   string    `json:"status"`
		Started  time.Time `json:"started_at"`
		Model    string    `json:"model"`
		Parent   string    `json:"parent_session_id"`
		Prompt   string    `json:"prompt"`
		Metadata struct {
			Title string `json:"title"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		s.Rec.Warn(filepath.Base(base)+".json", "left out: %v", err)
		return
	}
	o, c := &s.Rec.Origin, s.Conv
	o.Project, o.State, o.Begun, o.Parent = d.CWD, d.Status, d.Started, d.Parent
	if c.Title = d.Metadata.Title; c.Title == "" {
		c.Title = d.Prompt
	}
	if c.Model == "" {
		c.Model = d.Model
	}
}
