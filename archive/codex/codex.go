// Package codex reads the rollouts that Codex records: JSON lines under ~/.codex/sessions. Start
// with [Format].
//
// A rollout contains the items of the Responses API as they were sent and received, and events
// for the display, which mostly repeat them and are ignored. A compaction becomes an edit; turns
// that were rolled back become a branch. The oldest rollouts have items without a wrapping
// object.
package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/harness"
	"github.com/precis-dev/precis/internal/jsonspan"
	"github.com/precis-dev/precis/wire/responses"
)

// program identifies Codex in [precis.Said].
const program = "codex"

// Format is the reader of Codex's rollouts.
type Format struct{}

// Name returns "codex".
func (Format) Name() string { return program }

// Detect looks for a line with Codex's own wrapping among the first lines, or for the header of
// an old rollout with an item after it.
func (Format) Detect(_ string, data []byte) bool {
	header := false
	for i, raw := range archive.FirstLines(data, 5) {
		f, err := jsonspan.Fields(raw)
		if err != nil {
			return false
		}
		kind, _ := jsonspan.String(f["type"])
		switch {
		case wrapped[kind] && jsonspan.Kind(f["payload"]) == '{':
			return true
		case i == 0:
			_, instructions := f["instructions"]
			_, git := f["git"]
			header = kind == "" && f["id"] != nil && f["timestamp"] != nil && (instructions || git)
		case header && (f["record_type"] != nil || bare[kind]):
			return true
		}
	}
	return false
}

// wrapped are the types of lines with a payload; bare are the types of unwrapped items in old
// rollouts.
var (
	wrapped = map[string]bool{"session_meta": true, "response_item": true, "event_msg": true,
		"turn_context": true, "compacted": true}
	bare = map[string]bool{"message": true, "reasoning": true, "function_call": true,
		"function_call_output": true, "local_shell_call": true, "custom_tool_call": true,
		"custom_tool_call_output": true}
)

// maxRollbacks limits the branches of one recording.
const maxRollbacks = 100

// Read reads a rollout. Malformed lines are skipped.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	r := &rollout{rec: &archive.Recording{}, conv: &precis.Conversation{Transcript: &precis.Transcript{}}}
	r.rec.Conversation = r.conv
	for l := range archive.Lines(src.Data, r.rec) {
		if err := r.line(l); err != nil {
			r.rec.Skip(l.Number, err)
		}
	}
	r.release()
	return r.rec, nil
}

// rollout is the state of reading one file.
type rollout struct {
	rec         *archive.Recording
	conv        *precis.Conversation
	names       archive.CallIDs
	pendingUser []precis.Message // the newest user messages, until the next line is known
	tokens      int              // of the last request, as counted by the server
	total       precis.Usage
	root        string   // the thread that made the first requests
	chain       [32]byte // hash of all totals so far
}

func (r *rollout) line(l archive.Line) error {
	var kind, at string
	var payload []byte
	for m, err := range jsonspan.Object(l.Raw) {
		if err != nil {
			return err
		}
		switch m.Name {
		case "type":
			kind, _ = jsonspan.String(m.Raw)
		case "timestamp":
			at, _ = jsonspan.String(m.Raw)
		case "payload":
			payload = m.Raw
		}
	}
	if kind != "event_msg" {
		r.release()
	}
	when, _ := time.Parse(time.RFC3339Nano, at)
	if payload == nil && wrapped[kind] {
		return errors.New("no payload")
	}
	switch kind {
	case "response_item":
		return r.item(payload, when)
	case "compacted":
		return r.compacted(payload, when, l.Number)
	case "session_meta":
		return r.meta(payload)
	case "turn_context":
		r.rec.Ignored++
		f, err := jsonspan.Fields(payload)
		if model, ok := jsonspan.String(f["model"]); ok {
			r.conv.Model = model
		}
		return err
	case "event_msg":
		return r.event(payload, l.Number)
	case "":
		return r.meta(l.Raw) // an old rollout's header or state
	}
	if payload == nil && bare[kind] {
		return r.item(l.Raw, when)
	}
	r.rec.Ignored++
	return nil
}

func (r *rollout) item(raw []byte, at time.Time) error {
	m, err := responses.DecodeMessage(raw)
	if err != nil {
		return err
	}
	if len(m.Content) == 1 {
		if b, ok := m.Content[0].(precis.Opaque); ok && strings.HasPrefix(b.Type, "ghost_") {
			r.rec.Ignored++ // a snapshot of files, never sent
			return nil
		}
	}
	m.Time = at
	m = r.names.Assign(archive.WithoutBlank(m))
	if len(m.Content) == 0 {
		r.rec.Ignored++
		return nil
	}
	r.release()
	if m.Role == precis.RoleUser && !m.HasToolResult() {
		r.pendingUser = append(r.pendingUser, m)
		return nil
	}
	r.conv.Transcript.Append(m)
	return nil
}

// release adds the held messages to the conversation.
func (r *rollout) release() {
	r.conv.Transcript.Append(r.pendingUser...)
	r.pendingUser = nil
}

// typed handles the event that contains the text a person sent. The event follows the message,
// and the block with exactly that text is marked as the person's. If the editor added text, the
// event includes it without a separator, so no block is marked.
func (r *rollout) typed(words string) {
	if words = strings.TrimSpace(words); harness.FromEditor(words) {
		words = ""
	}
	for i, m := range r.pendingUser {
		content := slices.Clone(m.Content)
		for b, block := range content {
			if t, ok := block.(precis.Text); ok && words != "" && strings.TrimSpace(t.Text) == words {
				t.Attribution = precis.Attribution{Program: program, Author: precis.AuthorPerson,
					Act: precis.ActRequest}
				content[b] = t
			}
		}
		r.pendingUser[i].Content = content
	}
	r.release()
}

// meta reads the header. A rollout that continues another one repeats the other's header after
// its own.
func (r *rollout) meta(payload []byte) error {
	r.rec.Ignored++
	f, err := jsonspan.Fields(payload)
	if err != nil {
		return err
	}
	r.descends(f)
	if r.conv.ID != "" {
		return nil
	}
	r.conv.ID, _ = jsonspan.String(f["id"])
	r.origin(f)
	for _, raw := range [][]byte{f["base_instructions"], f["instructions"]} {
		if jsonspan.Kind(raw) == '{' {
			inner, err := jsonspan.Fields(raw)
			if err != nil {
				return err
			}
			raw = inner["text"]
		}
		s, ok := jsonspan.String(raw)
		if ok && strings.TrimSpace(s) != "" && !r.conv.HasSystem() {
			r.conv.System = precis.Message{
				Role: precis.RoleSystem, Content: []precis.Block{precis.Text{Text: s}},
				Raw: raw, Format: responses.Format,
			}
		}
	}
	return nil
}

// event reads the events with data that the items lack.
func (r *rollout) event(payload []byte, line int) error {
	r.rec.Ignored++
	f, err := jsonspan.Fields(payload)
	if err != nil {
		return err
	}
	kind, _ := jsonspan.String(f["type"])
	if kind == "user_message" {
		words, _ := jsonspan.String(f["message"])
		r.typed(words)
	}
	r.release()
	for _, from := range []json.RawMessage{payload, f["info"]} { // of task_started, of token_count
		if n := archive.ParseCounts(from, "model_context_window"); n[0] > 0 {
			r.rec.Origin.Window = n[0]
		}
	}
	switch kind {
	case "token_count":
		if n := lastTokens(f["info"]); n > 0 {
			r.tokens = n
		}
		r.addUsage(f["info"])
	case "thread_rolled_back":
		turns, err := strconv.Atoi(strings.TrimSpace(string(f["num_turns"])))
		if err != nil || turns <= 0 {
			return fmt.Errorf("num_turns of thread_rolled_back is %q", f["num_turns"])
		}
		r.rollBack(turns, line)
	}
	return nil
}

// lastTokens returns info.last_token_usage.total_tokens, or 0.
func lastTokens(info []byte) int {
	for _, name := range []string{"last_token_usage", "total_tokens"} {
		if jsonspan.Kind(info) != '{' {
			return 0
		}
		f, err := jsonspan.Fields(info)
		if err != nil {
			return 0
		}
		info = f[name]
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(info)))
	return n
}

// rollBack removes the last turns of the user; they are kept as a branch.
func (r *rollout) rollBack(turns, line int) {
	c := r.conv
	n := c.Transcript.Len()
	for n > 0 && turns > 0 {
		n--
		if ownWords(c.Transcript.At(n)) {
			turns--
		}
	}
	if n == c.Transcript.Len() {
		return
	}
	if len(c.Branches) == maxRollbacks {
		r.rec.Warn(fmt.Sprintf("line %d", line), "not rolled back: there are %d branches already",
			maxRollbacks)
		return
	}
	left := *c
	left.Branches = nil
	left.ID = fmt.Sprintf("%s/rolled-back-%d", c.ID, len(c.Branches)+1)
	r.rec.Origin.Measured = precis.Measured{}
	kept := precis.Rewound(c, n)
	kept.Branches = append(kept.Branches, &left)
	*c = *kept
}
