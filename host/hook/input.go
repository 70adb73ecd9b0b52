package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// input holds the relevant members of an event. Codex, Qwen Code and Gemini CLI use the member
// names of Claude Code.
type input struct {
	Session    string // "session_id"
	Transcript string // "transcript_path"
	Event      string // "hook_event_name"
	Source     string // "source" of a session's start: startup, resume, clear, compact
	Model      string // "model"
	Summary    string // "compact_summary"
	Agent      string // "agent_id": a sub-agent
}

// parse reads the members. Missing members and members of another type stay empty, so that a hook
// can still answer the rest.
func parse(data []byte) input {
	var in input
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return in
	}
	for name, to := range map[string]*string{
		"session_id": &in.Session, "transcript_path": &in.Transcript, "hook_event_name": &in.Event,
		"source": &in.Source,
		"model":  &in.Model, "compact_summary": &in.Summary, "agent_id": &in.Agent,
	} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, to) != nil {
			*to = ""
		}
	}
	return in
}

// contextFor returns an answer that adds text to the model's context.
func contextFor(event, text string) []byte {
	var out struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Context = event, text
	return line(out)
}

// line encodes a value as a line of JSON.
func line(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen: texts and numbers always encode
	}
	return append(data, '\n')
}

// sessionHash returns a hash that identifies a session without revealing its name; "" for "".
func sessionHash(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:6])
}
