package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// sessionStep is one thing that happens to a task.
type sessionStep struct {
	Op      string            `json:"op"`
	API     []json.RawMessage `json:"api"`
	UI      []json.RawMessage `json:"ui"`
	UITime  float64           `json:"uiTs"`
	TS      float64           `json:"ts"`
	Include bool              `json:"includeTargetMessage"`
}

// session is a task: its two files, and how many IDs were given.
type session struct {
	h   *roo.History
	ui  *roo.UI
	ids int
	now float64
}

func adaptSession(t *testing.T, input json.RawMessage) any {
	c := in[struct {
		Steps []json.RawMessage `json:"steps"`
		Now   float64           `json:"now"`
	}](t, input)
	s := session{h: history(t, []byte("[]")), ui: screen(t, nil), now: c.Now}
	digests := []any{}
	for _, raw := range c.Steps {
		step := in[sessionStep](t, raw)
		digest := map[string]any{}
		switch step.Op {
		case "append":
			s.h = history(t, written(t, slices.Concat(s.h.Stored(), step.API)))
			s.ui = screen(t, append(s.shown(t), step.UI...))
		case "manage":
			digest = s.manage(t, in[manageInput](t, raw), step.UITime)
		case "rewind":
			s.rewind(t, step)
		}
		digest["op"], digest["apiCount"], digest["uiCount"], digest["effectiveTs"] = step.Op, s.h.Len(), s.ui.Len(), times(t, effective(t, s.h))
		digests = append(digests, digest)
	}
	return map[string]any{"steps": digests, "apiHistory": list(s.h.Stored()), "uiMessages": s.shown(t), "effective": effective(t, s.h)}
}

func screen(t *testing.T, msgs []json.RawMessage) *roo.UI {
	t.Helper()
	ui, err := roo.ParseUI(written(t, list(msgs)))
	if err != nil {
		t.Fatal(err)
	}
	return ui
}

func (s *session) shown(t *testing.T) []json.RawMessage {
	return in[[]json.RawMessage](t, s.ui.Bytes())
}

func written(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func times(t *testing.T, msgs []json.RawMessage) []float64 {
	out := []float64{}
	for _, raw := range msgs {
		out = append(out, in[storedMessage](t, raw).TS)
	}
	return out
}

// manage checks the history as before a request and tells the user, as the task
// loop does. A truncation takes an ID even when it finds nothing to hide.
func (s *session) manage(t *testing.T, c manageInput, uiTime float64) map[string]any {
	c.Messages, c.Now = written(t, list(s.h.Stored())), s.now
	out, made := c.run(t, s.h, fmt.Sprintf("ID%d", s.ids+1))
	digest := map[string]any{}
	for _, key := range []string{"action", "prevContextTokens", "newContextTokens", "messagesRemoved", "cost"} {
		if v, ok := out[key]; ok {
			digest[key] = v
		}
	}
	if e, ok := out["error"].(map[string]any); ok {
		digest["error"] = e["key"]
		event := map[string]any{"ts": uiTime, "type": "say", "say": "condense_context_error"}
		s.ui = screen(t, append(s.shown(t), written(t, event)))
	}
	if out["action"] != "none" {
		s.ids++
		made.Kind = kindOf(out["action"])
		s.ui.Record(made, uiTime+1)
	}
	return digest
}

func kindOf(action any) precis.EditKind {
	if action == "condense" {
		return precis.KindCondensation
	}
	return precis.KindTruncation
}

// rewind returns to a UI message. Told to keep it, the reference keeps it in the
// UI alone, see [targetKept]; so that what follows can be compared the two files
// are rewound apart: the UI with the target, the history without, as if the
// target recorded nothing.
func (s *session) rewind(t *testing.T, step sessionStep) {
	t.Helper()
	target := roo.Target{TS: step.TS, Include: step.Include, Now: s.now}
	if step.Include {
		msgs := s.shown(t)
		at := slices.IndexFunc(msgs, func(m json.RawMessage) bool { return in[storedMessage](t, m).TS == step.TS })
		msgs[at] = written(t, map[string]any{"ts": step.TS})
		without := roo.Target{TS: step.TS, Now: s.now}
		if _, err := roo.Rewind(s.h, screen(t, msgs), without); err != nil {
			t.Fatal(err)
		}
		if _, err := roo.Rewind(history(t, []byte("[]")), s.ui, target); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := roo.Rewind(s.h, s.ui, target); err != nil {
		t.Fatal(err)
	}
}

var wholeSession = []string{"steps", "apiHistory", "uiMessages", "effective"}

func sessionRules() []partRule {
	return []partRule{
		{hiddenCounted, wholeSession, managedCase.truncatesCondensed},
	}
}

// truncatesCondensed: something was truncated after a condensation.
func (c managedCase) truncatesCondensed() bool {
	condensed := false
	for _, step := range c.steps() {
		condensed = condensed || step["action"] == "condense"
		if condensed && step["action"] == "truncate" {
			return true
		}
	}
	return false
}

func (c managedCase) steps() []map[string]any {
	var out []map[string]any
	steps, _ := c.want["steps"].([]any)
	for _, s := range steps {
		out = append(out, s.(map[string]any))
	}
	return out
}

// readSession leaves out of a session the size after a truncation, which precis
// counts otherwise, and reads those with other words attached to a summary.
func (c managedCase) readSession() {
	for _, part := range []string{"steps", "uiMessages"} {
		want, _ := c.want[part].([]any)
		got, _ := c.got[part].([]any)
		for i := range min(len(want), len(got)) {
			readSizes(want[i].(map[string]any), got[i].(map[string]any))
		}
	}
}

func readSizes(want, got map[string]any) {
	delete(want, "newContextTokensAfterTruncation")
	resize(want, got, "newContextTokens", "prevContextTokens")
	for _, name := range []string{"contextTruncation", "contextCondense"} {
		w, _ := want[name].(map[string]any)
		g, ok := got[name].(map[string]any)
		if !ok || w == nil {
			continue
		}
		resize(w, g, "newContextTokens", "prevContextTokens")
		if name == "contextTruncation" {
			delete(w, "newContextTokens")
			delete(g, "newContextTokens")
		}
	}
}
