package statusline

import "encoding/json"

// Client is what Claude Code and Qwen Code write to the command of their status line.
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

// ParseClient reads it. Members of another type are passed over.
func ParseClient(data []byte) (c Client, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return c, false
	}
	for name, to := range map[string]any{"session_id": &c.Session, "transcript_path": &c.Transcript, "model": &c.Model, "cost": &c.Cost, "context_window": &c.Context} {
		if raw := members[name]; raw != nil {
			_ = json.Unmarshal(raw, to) // of another type: not known
		}
	}
	return c, true
}

// tokens is the size of the newest request as the client knows it; 0 when it does not.
func (c Client) tokens() int {
	if n := c.Context.Usage.Input + c.Context.Usage.Read + c.Context.Usage.Written; n > 0 {
		return n
	}
	return int(c.Context.Used * float64(c.Context.Size) / 100)
}
