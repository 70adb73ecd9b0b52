package openhands

import (
	"encoding/json"
	"slices"
	"strconv"

	"precis"
)

// condensation is what an event of either generation tells.
type condensation struct {
	forgotten  []json.RawMessage // IDs
	first, end json.RawMessage   // instead of them: a range, both ends included
	summary    json.RawMessage
	offset     json.RawMessage
}

// condense records a condensation. OpenHands shows every event that no
// condensation named, but those whose call or answer is gone, and the newest
// summary before the event at its offset. What is hidden only grows, so the
// edits nest.
func (e *event) condense(c condensation) {
	e.forget(c)
	if s, ok := text(map[string]json.RawMessage{"": c.summary}, ""), e.number(c.offset); s != "" {
		e.summary, e.offset = s, ok
	}
	runs := e.hidden()
	if len(runs) == 0 {
		e.rec.Warn(e.place, "the condensation hides no message and is left out")
		return
	}
	if e.summary != "" {
		m := precis.NewText(precis.RoleUser, e.summary)
		m.Time = e.at
		runs[e.place_(runs)].With = []precis.Message{m}
	}
	e.record(runs)
}

// record adds the edit when it can be added.
func (e *event) record(runs []precis.Replacement) {
	edit := precis.Edit{Kind: precis.KindCondensation, Time: e.at, Replace: runs, Report: precis.EditReport{
		Trigger: string(precis.TriggeredRecorded), Reason: "OpenHands condensed the conversation",
	}}
	for _, r := range runs {
		edit.Report.Messages += r.To - r.From
	}
	err := edit.Identify(e.conv.Transcript)
	if err == nil && slices.ContainsFunc(e.conv.Edits, func(other precis.Edit) bool { return other.ID == edit.ID }) {
		err = precis.Errorf(precis.CodeConflict, "record condensation", "the same one is recorded twice")
	}
	if err == nil {
		err = precis.CheckEdit(e.conv.Transcript, e.conv.Edits, edit)
	}
	if err != nil {
		e.rec.Warn(e.place, "the condensation is left out: %v", err)
		return
	}
	e.conv.Edits = append(e.conv.Edits, edit)
}
