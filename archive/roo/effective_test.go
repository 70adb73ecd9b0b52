package roo_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/precis-dev/precis/archive/roo"
)

// stored is a message as Roo Code stores it, as far as its tags go.
type stored struct {
	Role             string           `json:"role"`
	Content          []map[string]any `json:"content"`
	TS               int              `json:"ts"`
	IsSummary        bool             `json:"isSummary,omitempty"`
	CondenseID       string           `json:"condenseId,omitempty"`
	CondenseParent   string           `json:"condenseParent,omitempty"`
	IsMarker         bool             `json:"isTruncationMarker,omitempty"`
	TruncationID     string           `json:"truncationId,omitempty"`
	TruncationParent string           `json:"truncationParent,omitempty"`
}

// effective is what Roo Code 3.52 sends of a history, by its own rules: from the last summary
// on, without results whose call lies before it and without what a marker behind it hides; with
// no summary, without what an existing marker hides.
func effective(all []stored) []int {
	start, has := 0, false
	for i, m := range all {
		if m.IsSummary {
			start, has = i, true
		}
	}
	markers, uses := map[string]bool{}, map[string]bool{}
	for _, m := range all[start:] {
		if m.IsMarker && m.TruncationID != "" {
			markers[m.TruncationID] = true
		}
		for _, b := range m.Content {
			if id, ok := b["id"].(string); ok && m.Role == "assistant" && b["type"] == "tool_use" {
				uses[id] = true
			}
		}
	}
	var out []int
	for i, m := range all[start:] {
		if has && m.Role == "user" && !slices.ContainsFunc(m.Content, func(b map[string]any) bool {
			id, _ := b["tool_use_id"].(string)
			return b["type"] != "tool_result" || uses[id]
		}) {
			continue
		}
		if m.TruncationParent != "" && markers[m.TruncationParent] {
			continue
		}
		out = append(out, start+i)
	}
	return out
}

// TestEffectiveIsWhatRooSends compares what is read from the tags with Roo's own rules, for
// histories with any tags: of summaries and markers that are there or gone, before and behind
// them, on each other.
func TestEffectiveIsWhatRooSends(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	for round := range rounds {
		n := 1 + r.IntN(9)
		all := make([]stored, n)
		id := func(kind string) string { return fmt.Sprint(kind, r.IntN(3)) }
		for i := range all {
			m := &all[i]
			m.Role, m.TS = []string{"user", "assistant"}[(i+r.IntN(8)/7)%2], 1000+i
			m.Content = []map[string]any{{"type": "text", "text": fmt.Sprint("message ", i)}}
			if call := fmt.Sprint("t", i/2); r.IntN(3) == 0 && m.Role == "assistant" {
				m.Content = append(m.Content, map[string]any{"type": "tool_use", "id": call, "name": "x", "input": map[string]any{}})
			} else if r.IntN(3) == 0 && m.Role == "user" && i > 0 {
				m.Content = []map[string]any{{"type": "tool_result", "tool_use_id": fmt.Sprint("t", (i-1)/2), "content": fmt.Sprint("result ", i)}}
			}
			switch r.IntN(8) {
			case 0:
				m.IsSummary, m.Role = true, "user"
				m.Content = []map[string]any{{"type": "text", "text": fmt.Sprint("summary ", i)}}
				if r.IntN(4) > 0 {
					m.CondenseID = fmt.Sprint("c", i)
				}
			case 1:
				m.IsMarker, m.Role, m.TruncationID = true, "user", fmt.Sprint("k", i)
				m.Content = []map[string]any{{"type": "text", "text": fmt.Sprint("marker ", i)}}
			}
		}
		names := func(of func(stored) string) (out []string) {
			for _, m := range all {
				if id := of(m); id != "" {
					out = append(out, id)
				}
			}
			return append(out, id("gone"))
		}
		condensed, truncated := names(func(m stored) string { return m.CondenseID }), names(func(m stored) string { return m.TruncationID })
		for i := range all {
			if r.IntN(4) == 0 {
				all[i].CondenseParent = condensed[r.IntN(len(condensed))]
			}
			if r.IntN(3) == 0 {
				all[i].TruncationParent = truncated[r.IntN(len(truncated))]
			}
		}
		data, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		h, err := roo.ParseHistory(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Effective()
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		var at []int
		for _, raw := range got {
			var m stored
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			at = append(at, m.TS-1000)
		}
		if want := effective(all); !slices.Equal(at, want) {
			t.Fatalf("round %d: messages %v, Roo sends %v\n%s", round, at, want, data)
		}
	}
}
