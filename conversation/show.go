package conversation

import (
	"context"
	"encoding/json"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
)

// Originals are the messages of a handle.
type Originals struct {
	Conversation string        `json:"conversation"`
	Handle       precis.Handle `json:"handle"`
	Messages     []Original    `json:"messages"`
}

// Original is a message as it was said.
type Original struct {
	block.Message
	Handle   precis.Handle   `json:"handle"`
	State    State           `json:"state"` // in the view
	Edit     string          `json:"edit,omitempty"`
	Earlier  bool            `json:"earlier"` // from a transcript before the client cleared it
	Original json.RawMessage `json:"original"`
}

// mostShown is the most messages that one handle may name.
const mostShown = 200

// ReadOriginals returns the original messages of a handle, hidden or not. For content that the client has
// cleared since, it returns the earlier form.
func ReadOriginals(ctx context.Context, h Home, id string, handle precis.Handle) (Originals, error) {
	return look(ctx, h, id, func(s *Subject) (Originals, error) { return s.originals(ctx, handle) })
}

func (s *Subject) originals(ctx context.Context, h precis.Handle) (Originals, error) {
	if _, err := s.Conversation.Transcript.Read(h); err != nil {
		return Originals{}, err
	}
	if h.To-h.From > mostShown {
		return Originals{}, precis.Errorf(precis.CodeInvalid, "show "+h.String(),
			"it names %d messages, at most %d are shown at once", h.To-h.From, mostShown)
	}
	var earlier []*precis.Transcript
	if s.Earlier != nil {
		var err error
		if earlier, err = s.Earlier(ctx); err != nil {
			return Originals{}, err
		}
	}
	out := Originals{Conversation: s.Record.ID, Handle: h}
	shown := precis.ShownBy(s.Conversation.Transcript, s.Conversation.Edits)
	for i := h.From; i < h.To; i++ {
		out.Messages = append(out.Messages, s.original(shown.Message(i), earlier, i, h.Block))
	}
	return out, nil
}

// original returns message i, or one block of it, in the longest form it ever had.
func (s *Subject) original(look precis.Appearance, earlier []*precis.Transcript, i, only int) Original {
	m, from := s.fullest(earlier, i, only)
	first := 0
	if only >= 0 {
		m.Content, m.Raw, first = m.Content[only:only+1:only+1], nil, only
	}
	out := Original{Message: block.MessageOf(m), Handle: precis.MessageHandle(i), State: StateOf(look),
		Edit: look.Edit, Earlier: from}
	for b := range out.Blocks {
		out.Blocks[b].Handle = precis.BlockHandle(i, first+b).String()
	}
	out.Original = dialectNamed(s.Record.Dialect).AppendMessages(nil, []precis.Message{m})
	return out
}

// HiddenPart is a handle with content that a view hides or shortens.
type HiddenPart struct {
	Handle precis.Handle   `json:"handle"`
	State  State           `json:"state"` // [Hidden] when any of it is hidden, else [Shortened]
	By     precis.EditKind `json:"by"`    // the kind of edit that did so
}

// HiddenParts returns the handles with content that the view hides or shortens.
func HiddenParts(ctx context.Context, h Home, id string, handles ...precis.Handle) ([]HiddenPart, error) {
	return look(ctx, h, id, func(s *Subject) ([]HiddenPart, error) {
		shown := precis.ShownBy(s.Conversation.Transcript, s.Conversation.Edits)
		var out []HiddenPart
		for _, handle := range handles {
			if _, err := s.Conversation.Transcript.Read(handle); err != nil {
				return nil, err
			}
			if p := hiddenPart(shown, handle); p.State != Shown {
				out = append(out, p)
			}
		}
		return out, nil
	})
}

// HiddenRuns returns everything that a view hides or shortens, with as few handles as possible:
// neighbors hidden by the same kind of edit are joined.
func HiddenRuns(t *precis.Transcript, edits []precis.Edit) []HiddenPart {
	out := []HiddenPart{}
	shown := precis.ShownBy(t, edits)
	for i := range t.Len() {
		p := hiddenPart(shown, precis.MessageHandle(i))
		last := len(out) - 1
		switch {
		case p.State == Shown:
		case last >= 0 && out[last].Handle.To == i && out[last].State == p.State && out[last].By == p.By:
			out[last].Handle.To = i + 1
		default:
			out = append(out, p)
		}
	}
	return out
}

func hiddenPart(shown *precis.Shown, h precis.Handle) HiddenPart {
	out := HiddenPart{Handle: h, State: Shown}
	for i := h.From; i < h.To; i++ {
		look := shown.Message(i)
		if h.Block >= 0 {
			look = shown.Block(i, h.Block)
		}
		if state := StateOf(look); state == Hidden || state == Shortened && out.State == Shown {
			out.State, out.By = state, look.Kind
		}
		if out.State == Hidden {
			break
		}
	}
	return out
}

// Exported is a whole conversation: its messages, their state in the view, and the edits.
type Exported struct {
	Conversation Details           `json:"conversation"`
	System       []block.Content   `json:"system,omitempty"`
	Messages     []ExportedMessage `json:"messages"`
	Edits        []EditInfo        `json:"edits"` // with their replacements
}

// ExportedMessage is a message as it was said, and how the view shows it.
type ExportedMessage struct {
	MessageInfo
	Content []block.Content `json:"content"`
}

// Export returns all of a conversation. Data of images and files is left out, see
// [block.Content].
func Export(ctx context.Context, h Home, id string) (Exported, error) {
	return look(ctx, h, id, func(s *Subject) (Exported, error) {
		details, err := s.details()
		if err != nil {
			return Exported{}, err
		}
		out := Exported{Conversation: details, Messages: []ExportedMessage{}, Edits: []EditInfo{}}
		c := s.Conversation
		if c.HasSystem() {
			out.System = block.Contents(c.System.Content)
		}
		shown := precis.ShownBy(c.Transcript, c.Edits)
		for i, m := range c.Transcript.Messages() {
			info := messageInfo(c.Transcript, i, shown)
			info.Tokens = s.meter().Message(m)
			one := ExportedMessage{MessageInfo: info, Content: block.Contents(m.Content)}
			for b := range one.Content {
				one.Content[b].Handle = precis.BlockHandle(i, b).String()
			}
			out.Messages = append(out.Messages, one)
		}
		for _, e := range c.Edits {
			info, err := editInfo(c.Edits, e.ID)
			if err != nil {
				return Exported{}, err
			}
			out.Edits = append(out.Edits, info)
		}
		return out, nil
	})
}
