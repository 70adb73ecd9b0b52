package openhands

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// condensation is the content of a condensation event of either generation.
type condensation struct {
	forgotten  []json.RawMessage // IDs
	first, end json.RawMessage   // a range instead, both ends included
	summary    json.RawMessage
	offset     json.RawMessage
}

// recordCondensation records a condensation. OpenHands shows every event that no condensation named, except
// a call or an answer if its counterpart is hidden. It inserts the newest summary before the
// event at its offset. The hidden set only grows, so the edits nest.
func (e *event) recordCondensation(c condensation) {
	e.recordForgotten(c)
	if s, _ := jsonspan.String(c.summary); strings.TrimSpace(s) != "" {
		e.summary, e.offset = s, number(c.offset, 0)
	}
	runs := e.hidden()
	if len(runs) == 0 {
		e.Rec.Warn(e.place, "the condensation hides no message and is left out")
		return
	}
	if e.summary != "" {
		m := precis.NewText(precis.RoleUser, e.summary)
		m.Time = e.at
		runs[e.nearest(runs)].With = []precis.Message{m}
	}
	e.addEdit(runs)
}

// addEdit adds the edit if it is valid. Each edit covers all spans of the earlier ones, so only
// the last one can conflict with it.
func (e *event) addEdit(runs []precis.Replacement) {
	edit := precis.Edit{Kind: precis.KindCondensation, Time: e.at, Replace: runs, Report: precis.EditReport{
		Trigger: string(precis.TriggeredRecorded), Reason: "OpenHands condensed the conversation",
	}}
	for _, r := range runs {
		edit.Report.Messages += r.To - r.From
	}
	err := edit.Identify(e.Conv.Transcript)
	if err == nil && slices.ContainsFunc(e.Conv.Edits,
		func(other precis.Edit) bool { return other.ID == edit.ID }) {
		err = precis.Errorf(precis.CodeConflict, "record condensation", "the same one is recorded twice")
	}
	if err == nil {
		last := max(len(e.Conv.Edits)-1, 0)
		err = precis.CheckEdit(e.Conv.Transcript, e.Conv.Edits[last:], edit)
	}
	if err != nil {
		e.Rec.Warn(e.place, "the condensation is left out: %v", err)
		return
	}
	e.Conv.Edits = append(e.Conv.Edits, edit)
}

// recordForgotten records the events that the condensation names.
func (e *event) recordForgotten(c condensation) {
	for _, id := range c.forgotten {
		e.forgotten[key(id)] = true
	}
	first, last := number(c.first, -1), number(c.end, -1)
	for _, s := range e.events {
		if n := number([]byte(s.key), -1); n >= 0 && first <= n && n <= last && first >= 0 {
			e.forgotten[s.key] = true
		}
	}
}

// hidden returns the spans of messages that are no longer visible to the model.
func (e *event) hidden() []precis.Replacement {
	gone := make([]bool, e.Conv.Transcript.Len())
	for _, s := range e.events {
		if s.msg >= 0 && e.forgotten[s.key] {
			gone[s.msg] = true
		}
	}
	for more := true; more; {
		more = false
		for id, answer := range e.answers {
			if use, ok := e.uses[id]; ok && gone[answer] != gone[use] {
				gone[answer], gone[use], more = true, true, true
			}
		}
	}
	var runs []precis.Replacement
	for i, hide := range gone {
		switch n := len(runs); {
		case !hide:
		case n > 0 && runs[n-1].To == i:
			runs[n-1].To++
		default:
			runs = append(runs, precis.Replacement{From: i, To: i + 1})
		}
	}
	return runs
}

// nearest returns the index of the run that the summary replaces: the run that contains the event
// at the summary's offset, or the last one before it. The offset counts events that are not
// forgotten, the system prompt included.
func (e *event) nearest(runs []precis.Replacement) int {
	at, kept := e.Conv.Transcript.Len(), 0
	for _, s := range e.events {
		if e.forgotten[s.key] {
			continue
		}
		if kept++; kept > e.offset {
			at = max(s.msg, 0)
			break
		}
	}
	found := 0
	for i, r := range runs {
		if r.From <= at {
			found = i
		}
	}
	return found
}

// number parses a whole number; it returns other if raw is not one.
func number(raw []byte, other int) int {
	n, err := strconv.Atoi(key(raw))
	if err != nil {
		return other
	}
	return n
}
