package statusline

import "encoding/json"

// Client is what Claude Code writes to the command of its status line.
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
		Size int `json:"context_window_size"`
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
