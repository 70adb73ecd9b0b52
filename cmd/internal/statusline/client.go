package statusline

import "encoding/json"

// Client is the input that Claude Code and Qwen Code write to their status line command.
type Client struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID string `json:"id"`
	} `json:"model"`
	Cost struct {
		USD float64 `json:"total_cost_usd"`
	} `json:"cost"`
	Context struct {
		Size  int     `json:"context_window_size"` // in tokens
		Used  float64 `json:"used_percentage"`     // 0 before the first answer
		Usage struct {
			Input   int `json:"input_tokens"`
			Read    int `json:"cache_read_input_tokens"`
			Written int `json:"cache_creation_input_tokens"`
		} `json:"current_usage"` // of the newest request
	} `json:"context_window"`
}

// ParseClient decodes a Client. It ignores members of an unexpected type.
func ParseClient(data []byte) (c Client, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return c, false
	}
	for name, to := range map[string]any{"session_id": &c.Session, "transcript_path": &c.Transcript,
		"model": &c.Model, "cost": &c.Cost, "context_window": &c.Context} {
		if raw := members[name]; raw != nil {
			_ = json.Unmarshal(raw, to) // unexpected type: ignored
		}
	}
	return c, true
}

// tokens returns the size of the newest request according to the client; 0 if unknown.
func (c Client) tokens() int {
	if n := c.Context.Usage.Input + c.Context.Usage.Read + c.Context.Usage.Written; n > 0 {
		return n
	}
	return int(c.Context.Used * float64(c.Context.Size) / 100)
}
