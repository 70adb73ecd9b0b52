// Package taubench answers what happened in simulations of tau-bench and tau2-bench, read from one
// JSON document with one of them, a list, or tau2's results. Start with [Format].
//
//   - {task_id, reward, traj: […]}, messages as in Chat Completions
//   - {id, reward_info, messages: […]}, where a call is {id, name, arguments}
//   - [{…}, …] and {info, simulations: [{…}, …]}: the first is the main
//     conversation, the others are its branches
//
// In tau2 the simulated user has tools as well. The model never saw those calls as its own, so
// they and their results become texts of the user.
package taubench

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Format is the reader of simulations.
type Format struct{}

// Name returns "tau-bench".
func (Format) Name() string { return "tau-bench" }

// Detect looks for a simulation: alone, first in a list, or first in tau2's
// results.
func (Format) Detect(_ string, data []byte) bool {
	switch jsonspan.Kind(data) {
	case '[':
		return simulation(jsonspan.First(data))
	case '{':
		f := jsonspan.Members(data)
		return simulation(f) || simulation(jsonspan.First(f["simulations"]))
	}
	return false
}

// marks are the members, other than the messages, that only a simulation has.
var marks = []string{"reward_info", "termination_reason", "agent_cost", "user_cost"}

// simulation reports whether an object is a simulation.
func simulation(f map[string]json.RawMessage) bool {
	if jsonspan.Text(jsonspan.First(f["traj"]), "role") != "" {
		return f["task_id"] != nil || f["reward"] != nil
	}
	if jsonspan.Text(jsonspan.First(f["messages"]), "role") == "" {
		return false
	}
	for _, name := range marks {
		if f[name] != nil {
			return true
		}
	}
	return f["task_id"] != nil && f["trial"] != nil
}

// Read reads the document. The error names the place.
func (Format) Read(src archive.Source) (*archive.Recording, error) {
	if err := jsonspan.Valid(src.Data); err != nil {
		return nil, archive.Invalid("", err)
	}
	r := &reader{rec: &archive.Recording{}}
	list := jsonspan.Span{Raw: src.Data}
	if jsonspan.Kind(src.Data) == '{' {
		f, err := jsonspan.Fields(src.Data)
		if err != nil {
			return nil, archive.Invalid("", err)
		}
		if jsonspan.Kind(f["simulations"]) != '[' {
			r.rec.Conversation, err = r.simulation(jsonspan.Span{Raw: src.Data})
			return r.rec, err
		}
		r.model = jsonspan.Text(jsonspan.Members(jsonspan.Members(f["info"])["agent_info"]), "llm")
		list = member(src.Data, "simulations")
	}
	return r.rec, r.list(list)
}

// reader reads the simulations of one document.
type reader struct {
	rec   *archive.Recording
	model string // of all simulations; "": unknown
}

// list reads several simulations. Those without messages are left out.
func (r *reader) list(list jsonspan.Span) error {
	n := 0
	for span, err := range jsonspan.Array(list.Raw) {
		place := fmt.Sprintf("simulation %d", n)
		if err != nil {
			return archive.Invalid(place, err)
		}
		c, err := r.simulation(jsonspan.Span{Raw: span.Raw, Offset: list.Offset + span.Offset})
		if err != nil {
			return inside(place, err)
		}
		n++
		switch main := r.rec.Conversation; {
		case c.Transcript.Len() == 0:
			r.rec.Warn(place, "it holds no messages and is left out")
		case main == nil:
			r.rec.Conversation = c
		default:
			main.Branches = append(main.Branches, c)
		}
	}
	if r.rec.Conversation == nil {
		return archive.Invalid("", fmt.Errorf("no simulation holds messages"))
	}
	return nil
}

// inside prefixes the place of an error with another place.
func inside(place string, err error) error {
	var e *precis.Error
	if !errors.As(err, &e) {
		return archive.Invalid(place, err)
	}
	return archive.Invalid(place+", "+e.Place, e.Err)
}

// member returns the last member of that name, with its offset.
func member(raw []byte, name string) (found jsonspan.Span) {
	for m, err := range jsonspan.Object(raw) {
		if err == nil && m.Name == name {
			found = m.Span
		}
	}
	return found
}
