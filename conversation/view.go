package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/wire"
)

// ViewInfo is the current view of a conversation, as units.
type ViewInfo struct {
	Conversation string          `json:"conversation"`
	Status       policy.Status   `json:"status"`
	System       []block.Content `json:"system,omitempty"` // the system prompt, while it is in memory
	Units        []ViewUnit      `json:"units"`
	Repairs      []precis.Breach `json:"repairs,omitempty"` // breaches repaired before sending
	Notes        []string        `json:"notes,omitempty"`
}

// ViewUnit is the content that a view shows for a span of messages.
type ViewUnit struct {
	Handle   precis.Handle   `json:"handle"`
	State    State           `json:"state"`
	Edit     string          `json:"edit,omitempty"`
	Kind     precis.EditKind `json:"edit_kind,omitempty"`
	Messages []block.Message `json:"messages"`
}

// View returns what the model sees of a conversation.
func View(ctx context.Context, h Home, id string) (ViewInfo, error) {
	return look(ctx, h, id, (*Subject).viewInfo)
}

func (s *Subject) viewInfo() (ViewInfo, error) {
	st, err := s.status()
	if err != nil {
		return ViewInfo{}, err
	}
	shown := precis.ShownBy(s.Conversation.Transcript, s.Conversation.Edits)
	_, repairs := s.view(shown.Units)
	v := ViewInfo{Conversation: s.Record.ID, Status: st, Units: viewUnits(shown), Repairs: repairs,
		Notes: s.notes()}
	if s.Conversation.HasSystem() {
		v.System = block.Contents(s.Conversation.System.Content)
	}
	return v, nil
}

func viewUnits(shown *precis.Shown) []ViewUnit {
	out := make([]ViewUnit, len(shown.Units))
	for i, u := range shown.Units {
		out[i] = viewUnit(u, shown.Message(u.From))
	}
	return out
}

func viewUnit(u precis.Unit, look precis.Appearance) ViewUnit {
	out := ViewUnit{Handle: precis.SpanHandle(u.From, u.To), State: StateOf(look), Edit: look.Edit,
		Kind: look.Kind, Messages: make([]block.Message, len(u.Messages))}
	for i, m := range u.Messages {
		out.Messages[i] = block.MessageOf(m)
	}
	if len(out.Messages) == 0 {
		return out
	}
	at := 0 // index of an original block among the shown ones
	for index := range u.Blocks() {
		out.Messages[0].Blocks[at].Handle = precis.BlockHandle(u.From, index).String()
		at++
	}
	return out
}

// DialectView is a view as an API takes it.
type DialectView struct {
	Conversation string          `json:"conversation"`
	Dialect      string          `json:"dialect"`
	List         string          `json:"list"` // the member of a request that holds the messages
	Messages     json.RawMessage `json:"messages"`
}

// ViewAs returns the view in a dialect, without the system prompt; "" is the dialect of the
// conversation. Cache breakpoints move from request to request; here they are where the client set
// them when it first sent a message.
func ViewAs(ctx context.Context, h Home, id, dialect string) (DialectView, error) {
	if dialect != "" && !slices.ContainsFunc(dialects,
		func(d wire.Dialect) bool { return d.Name() == dialect }) {
		return DialectView{}, precis.Errorf(precis.CodeInvalid, "read dialect",
			"dialect is %.40q, want %s, %s or %s", dialect, dialects[0].Name(), dialects[1].Name(),
			dialects[2].Name())
	}
	return look(ctx, h, id, func(s *Subject) (DialectView, error) {
		view, _ := s.view(precis.Units(s.Conversation.Transcript, s.Conversation.Edits))
		d := dialectNamed(cmp.Or(dialect, s.Record.Dialect))
		return DialectView{Conversation: s.Record.ID, Dialect: d.Name(), List: d.List(),
			Messages: d.AppendMessages(nil, view)}, nil
	})
}
