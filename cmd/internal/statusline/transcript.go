package statusline

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strconv"

	"github.com/precis-dev/precis/archive/opencode/database"
)

// request is the client's record of one request.
type request struct {
	id     string
	model  string
	tokens int // sent and received
}

// tail is the number of bytes read from the end of a transcript.
const tail = 1 << 20

// lastRequests returns the requests at the end of a transcript of Claude Code or pi, the newest
// last, and the number of tokens at which the program compacted automatically; 0 if unknown.
// Requests of sub-agents are left out.
func lastRequests(path string) (out []request, compacts int) {
	for line := range bytes.SplitSeq(lastLines(path), []byte("\n")) {
		compacts = max(compacts, sizeBeforeCompaction(line))
		r, ok := parseRequest(line)
		switch {
		case !ok:
		case r.id != "" && len(out) > 0 && out[len(out)-1].id == r.id: // the lines of one answer
			out[len(out)-1] = r
		default:
			out = append(out, r)
		}
	}
	return out, compacts
}

// sizeBeforeCompaction returns the size before an automatic compaction that a line records; 0 if it
// records none.
func sizeBeforeCompaction(line []byte) int {
	if !bytes.Contains(line, []byte(`compact`)) {
		return 0
	}
	var l struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Claude  struct {
			Trigger string `json:"trigger"`
			Before  int    `json:"preTokens"`
		} `json:"compactMetadata"`
		Pi int `json:"tokensBefore"`
	}
	switch {
	case json.Unmarshal(line, &l) != nil:
	case l.Subtype == "compact_boundary" && l.Claude.Trigger == "auto":
		return l.Claude.Before
	case l.Type == "compaction":
		return l.Pi
	}
	return 0
}

// answeredRequests returns the requests in opencode's database.
func answeredRequests(all database.Spending) []request {
	var out []request
	for i, a := range all.Answers {
		out = append(out, request{strconv.Itoa(i), a.Model, a.Tokens})
	}
	return out
}

// lastLines returns the last lines of a regular file.
func lastLines(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	at := max(info.Size()-tail, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, at, tail))
	if err != nil {
		return nil
	}
	if at > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

func parseRequest(line []byte) (r request, ok bool) {
	if !bytes.Contains(line, []byte(`"usage"`)) {
		return r, false
	}
	var l struct {
		Type    string `json:"type"`
		ID      string `json:"id"` // in pi
		Side    bool   `json:"isSidechain"`
		Message struct {
			ID    string `json:"id"`
			Role  string `json:"role"`
			Model string `json:"model"`
			Usage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
				Read   int `json:"cache_read_input_tokens"`
				Write  int `json:"cache_creation_input_tokens"`

				PiInput  int `json:"input"`
				PiOutput int `json:"output"`
				PiRead   int `json:"cacheRead"`
				PiWrite  int `json:"cacheWrite"`
			} `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil || l.Side {
		return r, false
	}
	u := l.Message.Usage
	switch {
	case l.Type == "assistant":
		r = request{l.Message.ID, l.Message.Model, u.Input + u.Output + u.Read + u.Write}
	case l.Type == "message" && l.Message.Role == "assistant":
		r = request{l.ID, l.Message.Model, u.PiInput + u.PiOutput + u.PiRead + u.PiWrite}
	}
	return r, r.tokens > 0
}

// MostRequests is the maximal number of requests over which growth is measured.
const MostRequests = 20

// growthOf returns the average growth of a conversation in tokens per request, since its size
// last decreased; 0 if unknown.
func growthOf(used []request) int {
	last := len(used) - 1
	first := last
	for first > 0 && last-first < MostRequests && used[first-1].tokens <= used[first].tokens {
		first--
	}
	if first == last {
		return 0
	}
	return (used[last].tokens - used[first].tokens) / (last - first)
}
