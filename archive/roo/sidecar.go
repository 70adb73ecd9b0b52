package roo

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// sidecar is the content of [SidecarName]: the edits that tags cannot express, and for edits that
// tags can express, the properties that have no tag.
type sidecar struct {
	Version int           `json:"precis"`
	Edits   []precis.Edit `json:"edits,omitempty"`
	// IDs of edits that are written into the history, see patch.go
	Patched []string          `json:"patched,omitempty"`
	Patches []patch           `json:"patches,omitempty"` // their patches in the history file
	Tagged  map[string]tagged `json:"tagged,omitempty"`  // by edit ID
	// IDs of edits written as Cline's range, see cline.go
	Ranged []string     `json:"ranged,omitempty"`
	Range  *rangeChange `json:"range,omitempty"` // the range in Cline's file

	Replaced []replaced `json:"replaced,omitempty"` // edits revoked by runs, oldest first, see replaced.go
}

// tagged holds the properties of a tagged edit that tags cannot express.
type tagged struct {
	Run    string            `json:"run,omitempty"`
	Time   time.Time         `json:"time,omitzero"`
	Report precis.EditReport `json:"report,omitzero"`
	Beside []aroundMarker    `json:"beside,omitempty"`
}

// aroundMarker holds messages shown before and after the summary or marker of a span.
type aroundMarker struct {
	To     int              `json:"to"` // the end of the span
	Before []precis.Message `json:"before,omitempty"`
	After  []precis.Message `json:"after,omitempty"`
}

// splitTagged splits an edit into its summaries and markers, which tags can express, and the messages
// shown around them: those made only of blocks of the transcript, and notes.
func splitTagged(t *precis.Transcript, e precis.Edit) (precis.Edit, []aroundMarker) {
	var out []aroundMarker
	e.Replace = slices.Clone(e.Replace)
	for k, r := range e.Replace {
		if len(r.With) == 0 || r.Block != nil {
			continue
		}
		own := slices.IndexFunc(r.With, func(m precis.Message) bool {
			return precis.Replacement{With: []precis.Message{m}}.OwnIndex() == 0 && !comesFromSpan(t, r, m)
		})
		b := aroundMarker{To: r.To, Before: r.With[:max(own, 0)], After: r.With[own+1:]}
		if len(b.Before)+len(b.After) > 0 {
			out = append(out, b)
		}
		if e.Replace[k].With = nil; own >= 0 {
			e.Replace[k].With = r.With[own : own+1]
		}
	}
	return e, out
}

// comesFromSpan reports whether a message comes from a span: it has a tool use or a tool result, or all
// its blocks are blocks of the span.
func comesFromSpan(t *precis.Transcript, r precis.Replacement, m precis.Message) bool {
	blocks := map[precis.Fingerprint]bool{}
	for i := max(r.From, 0); i < min(r.To, t.Len()); i++ {
		for b := range t.At(i).Content {
			blocks[t.HashBlock(i, b)] = true
		}
	}
	all := len(m.Content) > 0
	for _, b := range m.Content {
		switch b.(type) {
		case precis.ToolUse, precis.ToolResult: // neither a summary nor a marker, also where it is shortened
			return true
		}
		all = all && blocks[precis.HashBlock(b)]
	}
	return all
}

// insertShown inserts the messages shown around the summaries and markers of an edit.
func (t *tagged) insertShown(e *precis.Edit) {
	for _, b := range t.Beside {
		for i := range e.Replace {
			switch r := &e.Replace[i]; {
			case r.To == b.To:
				r.With = slices.Concat(b.Before, r.With, b.After)
			case r.From < b.To && b.To < r.To: // tags merge adjacent spans
				r.With = slices.Concat(r.With, b.Before, b.After)
			}
		}
	}
}

func (s *sidecar) empty() bool { return len(s.Edits) == 0 && len(s.Tagged) == 0 }

// bytes returns the content of the file; nil if there are no edits to store.
func (s *sidecar) bytes() ([]byte, error) {
	if s.Replaced = s.living(); s.empty() {
		return nil, nil
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, precis.Errorf(precis.CodeInternal, "write sidecar", "%w", err)
	}
	return append(data, '\n'), nil
}

// add records an edit as a whole.
func (s *sidecar) add(e precis.Edit) {
	s.Version = 1
	s.Edits = append(s.Edits, e)
}

// tag records the properties of a tagged edit that tags cannot express.
func (s *sidecar) tag(e precis.Edit, shown []aroundMarker) {
	s.Version = 1
	if s.Tagged == nil {
		s.Tagged = map[string]tagged{}
	}
	s.Tagged[e.ID] = tagged{Run: e.Run, Time: e.Time, Report: e.Report, Beside: shown}
}

// remove removes an edit and reports whether it was stored whole.
func (s *sidecar) remove(id string) bool {
	delete(s.Tagged, id)
	s.Patched = slices.DeleteFunc(s.Patched, func(p string) bool { return p == id })
	s.Ranged = slices.DeleteFunc(s.Ranged, func(p string) bool { return p == id })
	n := len(s.Edits)
	s.Edits = slices.DeleteFunc(s.Edits, func(e precis.Edit) bool { return e.ID == id })
	return len(s.Edits) < n
}

// trim removes the edits made on more than n messages, and the properties of tags that no longer
// exist.
func (s *sidecar) trim(n int, tags map[string]bool) {
	s.Edits = slices.DeleteFunc(s.Edits, func(e precis.Edit) bool {
		// a range must end before a message
		return e.Seen > n || e.Seen == n && slices.Contains(s.Ranged, e.ID)
	})
	s.Ranged = slices.DeleteFunc(s.Ranged, func(id string) bool {
		return !slices.ContainsFunc(s.Edits, func(e precis.Edit) bool { return e.ID == id })
	})
	maps.DeleteFunc(s.Tagged, func(id string, _ tagged) bool { return !tags[id] })
}

// join adds the sidecar to a conversation read from tags. Edits of messages that no longer exist
// (Roo rewound the task) are left out with a warning.
func (s *sidecar) join(conv *precis.Conversation, rec *archive.Recording) {
	for i := range conv.Edits {
		e := &conv.Edits[i]
		if t, ok := s.Tagged[e.ID]; ok {
			e.Run, e.Time, e.Report = t.Run, t.Time, t.Report
			for _, r := range e.Replace {
				for k := range r.With { // precis wrote it, not an agent
					r.With[k].Format = ""
				}
			}
			t.insertShown(e)
		}
	}
	checker := precis.NewEditChecker(conv.Transcript, conv.Edits)
	for _, e := range s.Edits {
		if e.Seen > conv.Transcript.Len() || conv.Transcript.Fingerprint(e.Seen) != e.At {
			rec.Warn(SidecarName, "edit %s (%s) left out: the messages it was made on have changed", e.ID,
				e.Kind)
			continue
		}
		if err := checker.Add(e); err != nil {
			rec.Warn(SidecarName, "edit %s left out: %v", e.ID, err)
			continue
		}
		conv.Edits = append(conv.Edits, e)
	}
	slices.SortStableFunc(conv.Edits, func(a, b precis.Edit) int {
		if a.Seen != b.Seen {
			return a.Seen - b.Seen
		}
		return a.Time.Compare(b.Time)
	})
	s.joinReplaced(conv, rec)
}
