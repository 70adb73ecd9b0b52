package conversation

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/internal/content"
)

// State is how a view shows a message.
type State string

// The states of a message.
const (
	Shown     State = "shown"     // the original is shown
	Shortened State = "shortened" // some of its blocks are replaced
	Hidden    State = "hidden"    // it is removed or replaced
)

// StateOf names how a message or block is shown.
func StateOf(l precis.Appearance) State {
	switch {
	case l.Hidden:
		return Hidden
	case l.Changed:
		return Shortened
	}
	return Shown
}

// MessageInfo is a message in a list.
type MessageInfo struct {
	Handle   precis.Handle   `json:"handle"`
	Role     precis.Role     `json:"role"`
	Time     time.Time       `json:"time,omitzero"`
	Summary  string          `json:"summary"` // one line
	Bytes    int             `json:"bytes"`
	Tokens   int             `json:"tokens"` // as counted, not calibrated
	State    State           `json:"state"`
	Edit     string          `json:"edit,omitempty"`
	Kind     precis.EditKind `json:"edit_kind,omitempty"`
	Pinned   bool            `json:"pinned"`
	UserTurn bool            `json:"user_turn"` // the user says something in it
	Blocks   []BlockInfo     `json:"blocks"`
}

// BlockInfo is a block of a message in a list.
type BlockInfo struct {
	Handle precis.Handle   `json:"handle"`
	Type   string          `json:"type"`
	Name   string          `json:"name,omitempty"` // of the tool
	Bytes  int             `json:"bytes"`
	Edit   string          `json:"edit,omitempty"` // the edit that replaces it
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
}

// MessageList is part of the transcript of a conversation.
type MessageList struct {
	Page[MessageInfo]
	Total int `json:"total"`
}

// MessageQuery selects messages. The zero value selects the first 50.
type MessageQuery struct {
	From   int    // index of the first; a negative one counts from the end
	Limit  int    // at most this number; 0: 50; at most 500
	Cursor string // the end of an earlier page; "": start at From
	State  State  // only messages in this state; "": all
}

// Messages lists the messages of a conversation, hidden or not.
func Messages(ctx context.Context, h Home, id string, q MessageQuery) (MessageList, error) {
	limit, err := PageSize(q.Limit)
	if err != nil {
		return MessageList{}, err
	}
	if q.State != "" && !slices.Contains([]State{Shown, Shortened, Hidden}, q.State) {
		return MessageList{}, precis.Errorf(precis.CodeInvalid, "read state",
			"state is %.40q, want %s, %s or %s", q.State, Shown, Shortened, Hidden)
	}
	q.Limit = limit
	return look(ctx, h, id, func(s *Subject) (MessageList, error) { return s.messages(q) })
}

func (s *Subject) messages(q MessageQuery) (MessageList, error) {
	t := s.Conversation.Transcript
	from, err := q.start(t.Len())
	if err != nil {
		return MessageList{}, err
	}
	shown, pins := precis.ShownBy(t, s.Conversation.Edits), precis.Pinned(s.Conversation.Edits)
	out := MessageList{Page: Page[MessageInfo]{Items: []MessageInfo{}}, Total: t.Len()}
	for i := from; i < t.Len(); i++ {
		if q.State != "" && StateOf(shown.Message(i)) != q.State {
			continue
		}
		if len(out.Items) == q.Limit {
			out.Next = strconv.Itoa(i)
			break
		}
		m := messageInfo(t, i, shown)
		m.Tokens = s.meter().Message(t.At(i))
		m.Pinned = slices.ContainsFunc(pins, func(h precis.Handle) bool { return h.From <= i && i < h.To })
		out.Items = append(out.Items, m)
	}
	return out, nil
}

// start returns the index of the first message asked for, of n.
func (q MessageQuery) start(n int) (int, error) {
	from := q.From
	if q.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return 0, BadCursor()
		}
	}
	if from < 0 {
		from += n
	}
	return min(max(from, 0), n), nil
}

// messageInfo describes message i without its tokens and pins.
func messageInfo(t *precis.Transcript, i int, shown *precis.Shown) MessageInfo {
	m := t.At(i)
	look := shown.Message(i)
	info := MessageInfo{
		Handle: precis.MessageHandle(i), Role: m.Role, Time: m.Time, Summary: block.Brief(m),
		Bytes: content.Size(m.Content),
		State: StateOf(look), Edit: look.Edit, Kind: look.Kind, UserTurn: t.Speech().BeginsTurn(i),
		Blocks: make([]BlockInfo, len(m.Content)),
	}
	for b, block := range m.Content {
		one := BlockInfo{Handle: precis.BlockHandle(i, b), Type: content.Type(block),
			Name: blockDetail(block), Bytes: content.Size([]precis.Block{block})}
		if look.Unit.Original() { // otherwise no single block is replaced
			by := shown.Block(i, b)
			one.Edit, one.Kind = by.Edit, by.Kind
		}
		info.Blocks[b] = one
	}
	return info
}

func blockDetail(b precis.Block) string {
	switch b := b.(type) {
	case precis.ToolUse:
		return b.Name
	case precis.Opaque:
		return b.Type
	}
	return ""
}
