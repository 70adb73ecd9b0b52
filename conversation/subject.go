package conversation

import (
	"context"
	"fmt"

	"precis"
	"precis/store"
	"precis/wire"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// Subject is one conversation that a verb works on.
type Subject struct {
	Conversation *precis.Conversation // a snapshot, or, while it is edited, the conversation itself
	Record       store.Record
	Owner        string
	Open         bool          // a client is, or lately was, at it
	Pending      bool          // some edits are in memory that the store lacks
	Last         precis.Report // of the newest turn; the zero value when it is not known
	Failed       string        // by name, the newest condensation with a model, where it failed; see condense.ErrorName

	// Recorded: another program holds the conversation and recorded it, so that its turns last
	// until that program compacts it.
	Recorded bool

	// InPlace: the edits are kept in the files of another program. What that program itself
	// condensed, and nothing could write again, [UndoAll] leaves.
	InPlace bool

	// Manager reads and edits the conversation. It has no store: it records edits
	// in memory, and the home stores them.
	Manager *precis.Manager
	// Ask says how to ask the manager: window, limits, reasoning and meter. Its
	// conversation is ignored; a nil dialect is that of the record.
	Ask precis.Request
	// Profile returns the manager of a named profile. Nil: there are none.
	Profile func(name string) (*precis.Manager, error)
	// Earlier returns the transcripts the conversation had before its client
	// rewrote old messages. Nil: it had none.
	Earlier func(ctx context.Context) ([]*precis.Transcript, error)
	// Lease takes the lease of reducing the conversation with a model; ok is false
	// while another process has it. Release is never nil. Nil: there are no leases.
	Lease func(ctx context.Context) (release func(), ok bool)
}

// request asks the manager about the conversation.
func (s *Subject) request() precis.Request {
	r := s.Ask
	r.Conversation, r.Unrecorded = s.Conversation, true
	if r.Dialect == nil && s.Record.Dialect != "" {
		r.Dialect = dialectNamed(s.Record.Dialect)
	}
	return r
}

// status returns the conversation at a glance.
func (s *Subject) status() (precis.Status, error) { return s.Manager.Status(s.request()) }

// meter returns the meter that counts messages, by the rules of the model as the status
// does; a new one when the home has none.
func (s *Subject) meter() *precis.Meter {
	if s.Ask.Meter == nil {
		s.Ask.Meter = s.Manager.NewMeter()
	}
	s.Ask.Meter.For(s.Conversation)
	return s.Ask.Meter
}

// view returns the messages of units as they are sent, and what was repaired.
func (s *Subject) view(units []precis.Unit) ([]precis.Message, []precis.Breach) {
	var view []precis.Message
	for _, u := range units {
		view = append(view, u.Messages...)
	}
	if len(dialectNamed(s.Record.Dialect).Check(view)) == 0 {
		return view, nil
	}
	return precis.Repair(view)
}

// notes say what the numbers leave out.
func (s *Subject) notes() []string {
	var notes []string
	switch {
	case s.meter().Overhead(s.Conversation).Unrecorded > 0:
		notes = append(notes, "system prompt and tools are not all recorded: the provider's count stands for them")
	case s.Open || s.Conversation.HasSystem():
	case s.Conversation.Unstored != precis.Overhead{}:
		notes = append(notes, "the system prompt and the tools are not stored: their tokens are those of the newest request")
	default:
		notes = append(notes, "the system prompt and the tools are not stored: they are not among the tokens")
	}
	if s.Pending {
		notes = append(notes, "edits are in memory that the store does not have yet")
	}
	return notes
}

// editable reports why the conversation cannot be edited now.
func (s *Subject) editable() error {
	if !s.Open && s.Record.Branched != "" && s.Record.Requests == 0 {
		return &precis.Error{
			Code: precis.CodeConflict, Op: "edit conversation", Err: fmt.Errorf("%s has no message of its own yet, so an edit would hold for %s, too", s.Record.ID, s.Record.Branched),
			Hint: "preview it, or edit it after its first request",
		}
	}
	return nil
}

// resize sets the tokens of the record after an edit.
func (s *Subject) resize(after int) { s.Record.Tokens = after }

// The dialects a view can be written in.
var dialects = []wire.Dialect{anthropic.Dialect{}, chat.Dialect{}, responses.Dialect{}}

// dialectNamed returns a dialect. For an unknown name it is that of Anthropic, which
// every message can be written in.
func dialectNamed(name string) wire.Dialect {
	for _, d := range dialects {
		if d.Name() == name {
			return d
		}
	}
	return dialects[0]
}
