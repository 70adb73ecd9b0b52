package conformance

import (
	"encoding/json"
	"slices"
)

// The rules below recognize cases from what they hold, never by name. Each
// name is explained in docs/deviations.md.

const (
	hiddenCounted = "hidden-counted-as-visible"
	percentRange  = "percent-out-of-range"
	targetKept    = "target-kept-in-history"
	overcounted   = "more-than-there-are"
)

type storedMessage struct {
	TS               float64 `json:"ts"`
	IsSummary        any     `json:"isSummary"`
	CondenseID       string  `json:"condenseId"`
	CondenseParent   string  `json:"condenseParent"`
	IsMarker         bool    `json:"isTruncationMarker"`
	TruncationID     string  `json:"truncationId"`
	TruncationParent string  `json:"truncationParent"`
}

// deviateTruncate: the reference chooses from all messages without a tag of
// truncation; precis from those the model sees. Where the two lists differ, so
// do the results. A fraction over 1 makes the reference report more hidden
// messages than there are.
func deviateTruncate(input, _ json.RawMessage) string {
	var c struct {
		Messages     []storedMessage
		FracToRemove float64
	}
	if json.Unmarshal(input, &c) != nil {
		return ""
	}
	if c.FracToRemove > 1 {
		return overcounted
	}
	var counted []int
	for i, m := range c.Messages {
		if m.TruncationParent == "" && !m.IsMarker {
			counted = append(counted, i)
		}
	}
	if slices.Equal(counted, seen(c.Messages)) {
		return ""
	}
	return hiddenCounted
}

// seen lists the messages a model is shown, markers left out.
func seen(msgs []storedMessage) []int {
	from := 0
	condensed, markers := map[string]bool{}, map[string]bool{}
	for i, m := range msgs {
		if m.IsSummary == true {
			from = i
		}
		if m.CondenseID != "" && m.IsSummary != nil {
			condensed[m.CondenseID] = true
		}
	}
	for _, m := range msgs[from:] {
		if m.IsMarker && m.TruncationID != "" {
			markers[m.TruncationID] = true
		}
	}
	afterSummary := from < len(msgs) && msgs[from].IsSummary == true
	var out []int
	for i := from; i < len(msgs); i++ {
		m := msgs[i]
		if m.IsMarker || markers[m.TruncationParent] || !afterSummary && condensed[m.CondenseParent] {
			continue
		}
		out = append(out, i)
	}
	return out
}

// deviateWillManage: the reference takes a global percentage outside 5 to 100 as
// it is; precis clamps it, as the settings page does, and warns.
func deviateWillManage(input, _ json.RawMessage) string {
	var c willManageInput
	if json.Unmarshal(input, &c) != nil || c.Percent >= 5 && c.Percent <= 100 {
		return ""
	}
	return percentRange
}

// deviateRewind: told to keep the target, the reference keeps it in the UI but
// removes the message of the same time from the history; precis keeps both.
func deviateRewind(input, _ json.RawMessage) string {
	var c struct {
		Include bool            `json:"includeTargetMessage"`
		TS      float64         `json:"ts"`
		History []storedMessage `json:"apiHistory"`
	}
	if json.Unmarshal(input, &c) != nil || !c.Include {
		return ""
	}
	if slices.ContainsFunc(c.History, func(m storedMessage) bool { return m.TS == c.TS }) {
		return targetKept
	}
	return ""
}
