package claudecode

import (
	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
)

// origin collects the session's origin and spending, sub-agents included. The lines of one
// assistant message repeat its usage, which grows during streaming; the last value counts.
func (s *session) origin() {
	o := &s.rec.Origin
	all := s.lines
	for _, id := range s.order {
		all = append(all[:len(all):len(all)], s.agents[id]...)
	}
	last := map[string]int{}
	for i, ln := range all {
		if ln.msg.ID != "" {
			last[ln.msg.ID] = i
		}
		if o.Project == "" {
			o.Project = ln.cwd
		}
		if o.Begun.IsZero() {
			o.Begun = ln.at
		}
	}
	for i, ln := range all {
		if ln.usage != (precis.Usage{}) && (ln.msg.ID == "" || last[ln.msg.ID] == i) {
			o.AddUsage(ln.model, ln.usage, 0)
			if ln.msg.ID != "" {
				o.Requests = append(o.Requests,
					archive.Request{ID: ln.msg.ID, Model: ln.model, Usage: ln.usage})
			}
		}
	}
	if c := s.rec.Conversation; len(s.lines) > 0 && s.lines[0].sidechain && s.lines[0].agentID != "" {
		o.Parent, c.ID = s.lines[0].session, s.lines[0].agentID // the file of a sub-agent
	}
}
