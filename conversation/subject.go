package conversation

import (
	"context"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
	"github.com/precis-dev/precis/wire"
	"github.com/precis-dev/precis/wire/anthropic"
	"github.com/precis-dev/precis/wire/chat"
	"github.com/precis-dev/precis/wire/responses"
)

// Subject is one conversation that a verb works on.
type Subject struct {
	Conversation *precis.Conversation // a snapshot, or, while it is edited, the conversation itself
	Record       store.Record
	Owner        string
	Open         bool          // a client uses it now or did so lately
	Pending      bool          // some edits in memory are not stored yet
	Last         policy.Report // of the newest turn; the zero value: unknown
	// name of the failure of the newest condensation with a model, see condense.ErrorName; "": none
	CondenseError string

	// Recorded: another program runs and records the conversation, and compacts it itself.
	Recorded bool

	// InPlace: edits are kept in the files of another program. [UndoAll] leaves condensations by
	// that program, because they could not be written again.
	InPlace bool

	// Manager reads and edits the conversation. It has no store: it records edits in memory, and
	// the home stores them.
	Manager *policy.Manager
	// Template is the template of requests to the manager: window, limits, reasoning and meter. Its
	// conversation is ignored; a nil dialect means the dialect of the record.
	Template policy.Request
	// Profile returns the manager of a named profile. Nil: no profiles.
	Profile func(name string) (*policy.Manager, error)
	// Earlier returns the transcripts from before the client rewrote old messages. Nil: there are
	// none.
	Earlier func(ctx context.Context) ([]*precis.Transcript, error)
	// Lease takes the lease for reducing the conversation with a model; ok is false while another
	// process holds it. Release is never nil. Nil: no leases.
	Lease func(ctx context.Context) (release func(), ok bool)
}

// request builds the request to the manager for the conversation.
func (s *Subject) request() policy.Request {
	r := s.Template
	r.Conversation, r.Unrecorded = s.Conversation, true
	if r.Dialect == nil && s.Record.Dialect != "" {
		r.Dialect = dialectNamed(s.Record.Dialect)
	}
	return r
}

func (s *Subject) status() (policy.Status, error) { return s.Manager.Status(s.request()) }

// meter returns the meter that counts messages by the rules of the model, as the status does. It is
// new if the home has none.
func (s *Subject) meter() *measure.Meter {
	if s.Template.Meter == nil {
		s.Template.Meter = s.Manager.NewMeter()
	}
	s.Template.Meter.For(s.Conversation)
	return s.Template.Meter
}

// view returns the messages of units as they are sent, and the repairs made.
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

// notes name content that the numbers leave out.
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

// editable returns the reason why the conversation cannot be edited now; nil: it can.
func (s *Subject) editable() error {
	if !s.Open && s.Record.Branched != "" && s.Record.Requests == 0 {
		return &precis.Error{
			Code: precis.CodeConflict, Op: "edit conversation",
			Err: fmt.Errorf("%s has no message of its own yet, so an edit would hold for %s, too",
				s.Record.ID, s.Record.Branched),
			Hint: "preview it, or edit it after its first request",
		}
	}
	return nil
}

// resize sets the tokens of the record after an edit.
func (s *Subject) resize(after int) { s.Record.Tokens = after }

// The dialects that a view can be written in.
var dialects = []wire.Dialect{anthropic.Dialect{}, chat.Dialect{}, responses.Dialect{}}

// dialectNamed returns a dialect by name. An unknown name means Anthropic, which can represent
// every message.
func dialectNamed(name string) wire.Dialect {
	for _, d := range dialects {
		if d.Name() == name {
			return d
		}
	}
	return dialects[0]
}
