package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// input is what programs say of an event, as far as it matters here. The names are those
// of Claude Code, which Codex, Qwen Code and Gemini CLI have taken over.
type input struct {
	Session    string // "session_id"
	Transcript string // "transcript_path"
	Event      string // "hook_event_name"
	Source     string // "source", of a session's start: startup, resume, clear, compact
	Model      string // "model"
	Summary    string // "compact_summary"
	Agent      string // "agent_id": a sub-agent
}

// parse reads it. Members that are missing or of another type stay empty: a hook answers
// what it can.
func parse(data []byte) input {
	var in input
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return in
	}
	for name, to := range map[string]*string{
		"session_id": &in.Session, "transcript_path": &in.Transcript, "hook_event_name": &in.Event, "source": &in.Source,
		"model": &in.Model, "compact_summary": &in.Summary, "agent_id": &in.Agent,
	} {
		if raw, ok := members[name]; ok && json.Unmarshal(raw, to) != nil {
			*to = ""
		}
	}
	return in
}

// context is an answer that adds text to what the model reads.
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

// line is a value as a line of JSON.
func line(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return nil // texts and numbers always can be
	}
	return append(data, '\n')
}

// short is a name that tells sessions apart and says nothing of them; "" for none.
func short(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:6])
}
