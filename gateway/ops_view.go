package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"precis"
	"precis/wire/anthropic"
	"precis/wire/chat"
	"precis/wire/responses"
)

// ViewInfo is what the model sees of a conversation now, in pieces.
type ViewInfo struct {
	Conversation string          `json:"conversation"`
	Status       precis.Status   `json:"status"`
	System       []Content       `json:"system,omitempty"` // the system prompt, while it is in memory
	Units        []ViewUnit      `json:"units"`
	Repairs      []precis.Breach `json:"repairs,omitempty"` // what is mended before it is sent
	Notes        []string        `json:"notes,omitempty"`
}

// ViewUnit is what is shown for a span of messages.
type ViewUnit struct {
	Handle   precis.Handle   `json:"handle"`
	State    string          `json:"state"` // see [ShownWhole]
	Edit     string          `json:"edit,omitempty"`
	Kind     precis.EditKind `json:"edit_kind,omitempty"`
	Messages []Said          `json:"messages"`
}

// View returns what the model sees of a conversation.
func (g *Gateway) View(ctx context.Context, owner, id string) (ViewInfo, error) {
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return ViewInfo{}, err
	}
	defer s.close()
	st, err := s.status(ctx)
	if err != nil {
		return ViewInfo{}, err
	}
	units := precis.Units(s.conv.Transcript, s.conv.Edits)
	_, repairs := s.view(units)
	sight := newSight(s.conv.Transcript, s.conv.Edits)
	v := ViewInfo{Conversation: s.rec.ID, Status: st, Units: make([]ViewUnit, 0, len(units)), Repairs: repairs, Notes: s.notes()}
	if s.conv.HasSystem() {
		v.System = contents(s.conv.System.Content)
	}
	for _, u := range units {
		v.Units = append(v.Units, unitOf(u, sight))
	}
	return v, nil
}

func unitOf(u precis.Unit, sight *sight) ViewUnit {
	out := ViewUnit{Handle: precis.SpanHandle(u.From, u.To), Messages: make([]Said, len(u.Messages))}
	out.State, out.Edit = sight.of(u.From)
	out.Kind = sight.kinds[out.Edit]
	for i, m := range u.Messages {
		out.Messages[i] = saidOf(m)
	}
	if !u.Original() {
		return out
	}
	for i, m := range out.Messages {
		for b := range m.Blocks {
			at := b
			if u.Changed {
				at = u.Index[b]
			}
			out.Messages[i].Blocks[b].Handle = precis.BlockHandle(u.From, at).String()
		}
	}
	return out
}

// view returns the messages of units as they are sent, and what had to be mended.
func (s *subject) view(units []precis.Unit) ([]precis.Message, []precis.Breach) {
	var view []precis.Message
	for _, u := range units {
		view = append(view, u.Messages...)
	}
	if len(dialectNamed(s.rec.Dialect).Check(view)) == 0 {
		return view, nil
	}
	return precis.Repair(view)
}

// DialectView is a view as an API has it.
type DialectView struct {
	Conversation string          `json:"conversation"`
	Dialect      string          `json:"dialect"`
	List         string          `json:"list"` // the member of a request that holds the messages
	Messages     json.RawMessage `json:"messages"`
}

// ViewAs returns the view as a dialect writes it, without the system prompt; ""
// is the dialect that the conversation is held in. Cache breakpoints, which move
// from request to request, are where the client set them when it first said a
// message.
func (g *Gateway) ViewAs(ctx context.Context, owner, id, dialect string) (DialectView, error) {
	if dialect != "" && !slices.Contains(dialects, dialect) {
		return DialectView{}, precis.Errorf(precis.CodeInvalid, "read dialect", "dialect is %.40q, want %s, %s or %s", dialect, anthropic.Format, chat.Format, responses.Format)
	}
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return DialectView{}, err
	}
	defer s.close()
	view, _ := s.view(precis.Units(s.conv.Transcript, s.conv.Edits))
	d := dialectNamed(cmp.Or(dialect, s.rec.Dialect))
	return DialectView{Conversation: s.rec.ID, Dialect: d.Name(), List: d.List(), Messages: d.AppendMessages(nil, view)}, nil
}

// Shown is what a handle names.
type Shown struct {
	Conversation string         `json:"conversation"`
	Handle       precis.Handle  `json:"handle"`
	Messages     []ShownMessage `json:"messages"`
}

// ShownMessage is an original message.
type ShownMessage struct {
	Said
	Handle   precis.Handle   `json:"handle"`
	State    string          `json:"state"` // in the view, see [ShownWhole]
	Edit     string          `json:"edit,omitempty"`
	Earlier  bool            `json:"earlier"` // from before the client cleared it
	Original json.RawMessage `json:"original"`
}

// mostShown is how many messages one handle may name.
const mostShown = 200

// Show returns the originals that a handle names, hidden or not. Of what the
// client has cleared since, it is what was said before.
func (g *Gateway) Show(ctx context.Context, owner, id, handle string) (Shown, error) {
	h, err := precis.ParseHandle(handle)
	if err != nil {
		return Shown{}, err
	}
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return Shown{}, err
	}
	defer s.close()
	if _, err := precis.Show(s.conv.Transcript, h); err != nil {
		return Shown{}, err
	}
	if h.To-h.From > mostShown {
		return Shown{}, precis.Errorf(precis.CodeInvalid, "show "+h.String(), "it names %d messages, at most %d are shown at once", h.To-h.From, mostShown)
	}
	earlier, err := s.earlier(ctx)
	if err != nil {
		return Shown{}, err
	}
	out := Shown{Conversation: s.rec.ID, Handle: h}
	sight := newSight(s.conv.Transcript, s.conv.Edits)
	for i := h.From; i < h.To; i++ {
		out.Messages = append(out.Messages, s.show(sight, earlier, i, h.Block))
	}
	return out, nil
}

func (s *subject) show(sight *sight, earlier []*precis.Transcript, i, block int) ShownMessage {
	m, from := s.conv.Transcript.At(i), false
	for _, t := range earlier {
		if i < t.Len() && block < len(t.At(i).Content) && sizeAll(t.At(i).Content) > sizeAll(m.Content) {
			m, from = t.At(i), true
		}
	}
	first := 0
	if block >= 0 {
		m.Content, m.Raw, first = m.Content[block:block+1:block+1], nil, block
	}
	out := ShownMessage{Said: saidOf(m), Handle: precis.MessageHandle(i), Earlier: from}
	out.State, out.Edit = sight.of(i)
	for b := range out.Blocks {
		out.Blocks[b].Handle = precis.BlockHandle(i, first+b).String()
	}
	out.Original = dialectNamed(s.rec.Dialect).AppendMessages(nil, []precis.Message{m})
	return out
}

// earlier returns the forms that the conversation had before its client cleared
// old results, as far as memory or the store has them.
func (s *subject) earlier(ctx context.Context) ([]*precis.Transcript, error) {
	var out []*precis.Transcript
	for _, head := range s.rec.Earlier {
		if t := s.g.earlierInMemory(s.owner, s.rec.ID, head); t != nil {
			out = append(out, t)
			continue
		}
		st := s.g.store(s.owner)
		if st == nil {
			continue
		}
		t, _, err := st.Load(ctx, head)
		switch precis.CodeOf(err) {
		case "":
			out = append(out, t)
		case precis.CodeNotFound:
		default:
			return nil, err
		}
	}
	return out, nil
}

func (g *Gateway) earlierInMemory(owner, id string, head precis.Fingerprint) *precis.Transcript {
	for _, l := range g.table.Lines() {
		if l.Owner == owner && l.ID == id && l.Transcript.Fingerprint(l.Transcript.Len()) == head {
			return l.Transcript
		}
	}
	return nil
}
