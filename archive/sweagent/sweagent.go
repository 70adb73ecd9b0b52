// Package sweagent reads the trajectories of SWE-agent and of mini-SWE-agent,
// one JSON document each. Start with [Format] and [Mini].
//
// Messages have the form of Chat Completions with additional members. If the model wrote its
// command in its text, the answer is a plain user message and remains one. Demonstrations that
// SWE-agent shows before the task are ordinary messages, as the model saw them so.
package sweagent

import (
	"encoding/json"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/chat"
)

// Format is the reader of SWE-agent's .traj files: {trajectory, history, info}. The history is
// the model's view; the trajectory repeats it step by step.
type Format struct{}

// Name returns "swe-agent".
func (Format) Name() string { return "swe-agent" }

// Detect looks for a trajectory and a history of messages.
func (Format) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	trajectory, history := false, false
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return false
		}
		switch m.Name {
		case "trajectory":
			trajectory = jsonspan.Kind(m.Raw) == '['
		case "history":
			history = jsonspan.Text(jsonspan.First(m.Raw), "role") != ""
		}
	}
	return trajectory && history
}

// Read reads a trajectory. The error names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	return read(src.Data, "history", func(c *precis.Conversation, f map[string]json.RawMessage) {
		config := f["replay_config"]
		if s, ok := jsonspan.String(config); ok {
			config = json.RawMessage(s)
		}
		if jsonspan.Valid(config) != nil {
			return
		}
		if model := jsonspan.Text(jsonspan.Members(jsonspan.Members(jsonspan.Members(config)["agent"])["model"]), "name"); model != "replay" {
			c.Model = model
		}
		c.ID = jsonspan.Text(jsonspan.Members(jsonspan.Members(config)["problem_statement"]), "id")
	})
}

// Mini is the reader of mini-SWE-agent's trajectories: {messages, info}.
type Mini struct{}

// Name returns "mini-swe-agent".
func (Mini) Name() string { return "mini-swe-agent" }

// Detect looks for a trajectory_format of this agent, or for messages and an info object of a
// run.
func (Mini) Detect(_ string, data []byte) bool {
	if jsonspan.Kind(data) != '{' {
		return false
	}
	messages, ours := false, false
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return ours && (messages || m.Name == "messages")
		}
		switch m.Name {
		case "messages":
			messages = jsonspan.Kind(m.Raw) == '[' && len(jsonspan.First(m.Raw)) > 0
		case "trajectory_format":
			s, _ := jsonspan.String(m.Raw)
			ours = ours || strings.HasPrefix(s, "mini-swe-agent")
		case "info":
			info := jsonspan.Members(m.Raw)
			ours = ours || info["mini_version"] != nil ||
				info["model_stats"] != nil && info["exit_status"] != nil
		}
	}
	return messages && ours
}

// Read reads a trajectory. The error names the place.
func (Mini) Read(src archive.Source) (*archive.Recording, error) {
	return read(src.Data, "messages", func(c *precis.Conversation, f map[string]json.RawMessage) {
		c.ID = jsonspan.Text(f, "instance_id")
		config := jsonspan.Members(jsonspan.Members(f["info"])["config"])
		if model := jsonspan.Text(jsonspan.Members(config["model"]), "model_name"); model != "" {
			c.Model = model
		}
	})
}

// read reads the list of messages under a name; about fills in the conversation's properties from
// the document.
func read(data []byte, name string,
	about func(*precis.Conversation, map[string]json.RawMessage)) (*archive.Recording, error) {
	if err := jsonspan.Valid(data); err != nil {
		return nil, archive.Invalid("", err)
	}
	fields := map[string]json.RawMessage{}
	var list jsonspan.Span
	for m, err := range jsonspan.Object(data) {
		if err != nil {
			return nil, archive.Invalid("", err)
		}
		fields[m.Name] = m.Raw
		if m.Name == name {
			list = m.Span
		}
	}
	rec := &archive.Recording{}
	r := reader{Builder: archive.NewBuilder(rec)}
	if err := archive.Each(list, name+": message", r.message); err != nil {
		return nil, err
	}
	c := r.Conv
	system, msgs := chat.SplitSystem(c.Transcript.Messages())
	c.Model, c.System, c.Transcript = r.model, system, precis.NewTranscript(msgs...)
	about(c, fields)
	rec.Conversation = c
	return rec, nil
}
