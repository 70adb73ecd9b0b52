// Package taubench reads the simulations of tau-bench and tau2-bench: one JSON
// document that holds one of them, a list, or tau2's results. Start with
// [Format].
//
//   - {task_id, reward, traj: […]}, messages as in Chat Completions
//   - {id, reward_info, messages: […]}, where a call is {id, name, arguments}
//   - [{…}, …] and {info, simulations: [{…}, …]}: the first is the main
//     conversation, the others are its branches
//
// In tau2 the simulated user has tools as well. The model never saw those calls
// as its own: they and their results are the user's words here.
package taubench

import (
	"encoding/json"
	"errors"
	"fmt"

	"precis"
	"precis/archive"
	"precis/internal/jsonspan"
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
		return simulation(first(data))
	case '{':
		f := object(data)
		return simulation(f) || simulation(first(f["simulations"]))
	}
	return false
}

// marks are the members, other than the messages, that only a simulation has.
var marks = []string{"reward_info", "termination_reason", "agent_cost", "user_cost"}

// simulation reports whether an object is a simulation.
func simulation(f map[string]json.RawMessage) bool {
	if text(first(f["traj"]), "role") != "" {
		return f["task_id"] != nil || f["reward"] != nil
	}
	if text(first(f["messages"]), "role") == "" {
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
		return nil, invalid("", err)
	}
	r := &reader{rec: &archive.Recording{}}
	list := jsonspan.Span{Raw: src.Data}
	if jsonspan.Kind(src.Data) == '{' {
		f, err := jsonspan.Fields(src.Data)
		if err != nil {
			return nil, invalid("", err)
		}
		if jsonspan.Kind(f["simulations"]) != '[' {
			r.rec.Conversation, err = r.simulation(jsonspan.Span{Raw: src.Data})
			return r.rec, err
		}
		r.model = text(object(object(f["info"])["agent_info"]), "llm")
		list = member(src.Data, "simulations")
	}
	return r.rec, r.list(list)
}

func invalid(place string, err error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "read", Place: place, Err: err}
}

// reader reads the simulations of one document.
type reader struct {
	rec   *archive.Recording
	model string // of all simulations; "" when unknown
}

// list reads several simulations. Those without messages are left out.
func (r *reader) list(list jsonspan.Span) error {
	n := 0
	for span, err := range jsonspan.Array(list.Raw) {
		place := fmt.Sprintf("simulation %d", n)
		if err != nil {
			return invalid(place, err)
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
		return invalid("", fmt.Errorf("no simulation holds messages"))
	}
	return nil
}

// inside puts a place before the one that an error names.
func inside(place string, err error) error {
	var e *precis.Error
	if !errors.As(err, &e) {
		return invalid(place, err)
	}
	return invalid(place+", "+e.Place, e.Err)
}

// first returns the members of an array's first element.
func first(raw []byte) map[string]json.RawMessage {
	if jsonspan.Kind(raw) != '[' {
		return nil
	}
	for span, err := range jsonspan.Array(raw) {
		if err != nil {
			return nil
		}
		return object(span.Raw)
	}
	return nil
}

// member returns the last member of that name, with its place.
func member(raw []byte, name string) (found jsonspan.Span) {
	for m, err := range jsonspan.Object(raw) {
		if err == nil && m.Name == name {
			found = m.Span
		}
	}
	return found
}

func text(f map[string]json.RawMessage, name string) string {
	s, _ := jsonspan.String(f[name])
	return s
}

// object returns the members of an object; none for anything else.
func object(raw []byte) map[string]json.RawMessage {
	if jsonspan.Kind(raw) != '{' {
		return nil
	}
	f, err := jsonspan.Fields(raw)
	if err != nil {
		return nil
	}
	return f
}
