package gateway

import (
	"context"
	"slices"
	"strconv"
	"time"

	"precis"
)

// How a message stands in the view.
const (
	ShownWhole   = "shown"     // as it was said
	ShownChanged = "shortened" // some of its blocks are replaced
	ShownNot     = "hidden"    // something else, or nothing, is shown instead
)

// MessageInfo is a message in a list.
type MessageInfo struct {
	Handle   precis.Handle   `json:"handle"`
	Role     precis.Role     `json:"role"`
	Time     time.Time       `json:"time,omitzero"`
	Summary  string          `json:"summary"` // one line
	Bytes    int             `json:"bytes"`
	Tokens   int             `json:"tokens"` // as counted, not calibrated
	State    string          `json:"state"`  // see [ShownWhole]
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
	Edit   string          `json:"edit,omitempty"` // that replaces it
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
}

// Messages are part of the transcript of a conversation.
type Messages struct {
	Page[MessageInfo]
	Total int `json:"total"`
}

// MessageQuery selects messages. The zero value selects the first 50.
type MessageQuery struct {
	From   int    // index of the first; a negative one counts from the end
	Limit  int    // at most so many; 0: 50; at most 500
	Cursor string // where an earlier page ended; "": at From
	State  string // only those that stand so in the view, see [ShownWhole]; "": all
}

// Messages lists the messages of a conversation, hidden or not.
func (g *Gateway) Messages(ctx context.Context, owner, id string, q MessageQuery) (Messages, error) {
	limit, err := pageSize(q.Limit)
	if err != nil {
		return Messages{}, err
	}
	if q.State != "" && !slices.Contains([]string{ShownWhole, ShownChanged, ShownNot}, q.State) {
		return Messages{}, precis.Errorf(precis.CodeInvalid, "read state", "state is %.40q, want %s, %s or %s", q.State, ShownWhole, ShownChanged, ShownNot)
	}
	s, err := g.open(ctx, owner, id)
	if err != nil {
		return Messages{}, err
	}
	defer s.close()
	t := s.conv.Transcript
	from, err := start(q, t.Len())
	if err != nil {
		return Messages{}, err
	}
	sight := newSight(t, s.conv.Edits)
	out := Messages{Page: Page[MessageInfo]{Items: []MessageInfo{}}, Total: t.Len()}
	for i := from; i < t.Len(); i++ {
		state, _ := sight.of(i)
		if q.State != "" && state != q.State {
			continue
		}
		if len(out.Items) == limit {
			out.Next = strconv.Itoa(i)
			break
		}
		out.Items = append(out.Items, s.message(sight, i))
	}
	return out, nil
}

func start(q MessageQuery, n int) (int, error) {
	from := q.From
	if q.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(q.Cursor); err != nil || from < 0 {
			return 0, &precis.Error{Code: precis.CodeInvalid, Op: "read cursor", Place: "cursor", Hint: "use next_cursor of an earlier answer as it is"}
		}
	}
	if from < 0 {
		from += n
	}
	return min(max(from, 0), n), nil
}

func (s *subject) message(sight *sight, i int) MessageInfo {
	m := s.conv.Transcript.At(i)
	state, edit := sight.of(i)
	info := MessageInfo{
		Handle: precis.MessageHandle(i), Role: m.Role, Time: m.Time, Summary: brief(m), Bytes: sizeAll(m.Content), Tokens: s.meter.Message(m),
		State: state, Edit: edit, Kind: sight.kinds[edit], Pinned: sight.pinned(i), UserTurn: m.IsUserTurn(), Blocks: make([]BlockInfo, len(m.Content)),
	}
	for b, block := range m.Content {
		by := sight.blocks[precis.BlockHandle(i, b)]
		info.Blocks[b] = BlockInfo{Handle: precis.BlockHandle(i, b), Type: typeOf(block), Name: nameOf(block), Bytes: sizeOf(block), Edit: by, Kind: sight.kinds[by]}
	}
	return info
}

func nameOf(b precis.Block) string {
	switch b := b.(type) {
	case precis.ToolUse:
		return b.Name
	case precis.Opaque:
		return b.Type
	}
	return ""
}

// sight says what becomes of each message in the view.
type sight struct {
	units  []precis.Unit
	at     []int // the unit of each message
	kinds  map[string]precis.EditKind
	blocks map[precis.Handle]string // replaced blocks, by which edit
	edits  map[int]string           // of messages with replaced blocks, one edit that did it
	pins   []precis.Handle
}

func newSight(t *precis.Transcript, edits []precis.Edit) *sight {
	s := &sight{units: precis.Units(t, edits), at: make([]int, t.Len()), kinds: map[string]precis.EditKind{}, blocks: map[precis.Handle]string{}, edits: map[int]string{}, pins: precis.Pinned(edits)}
	for n, u := range s.units {
		for i := u.From; i < u.To; i++ {
			s.at[i] = n
		}
	}
	for _, e := range precis.Active(edits) {
		s.kinds[e.ID] = e.Kind
		for _, r := range e.Replace {
			switch {
			case r.Block != nil && r.Restore:
				delete(s.blocks, precis.BlockHandle(r.From, r.Block.Index))
			case r.Block != nil:
				s.blocks[precis.BlockHandle(r.From, r.Block.Index)] = e.ID
			case r.Restore:
				s.restored(r.From, r.To)
			}
		}
	}
	for h, by := range s.blocks {
		if was := s.edits[h.From]; was == "" || by < was {
			s.edits[h.From] = by
		}
	}
	return s
}

func (s *sight) restored(from, to int) {
	for h := range s.blocks {
		if h.From >= from && h.From < to {
			delete(s.blocks, h)
		}
	}
}

// of returns how message i stands in the view, and the edit that did it.
func (s *sight) of(i int) (state, edit string) {
	u := s.units[s.at[i]]
	switch {
	case !u.Original():
		return ShownNot, u.Edit
	case !u.Changed:
		return ShownWhole, ""
	}
	if len(u.Messages) == 0 {
		return ShownNot, s.edits[i]
	}
	return ShownChanged, s.edits[i]
}

func (s *sight) pinned(i int) bool {
	return slices.ContainsFunc(s.pins, func(h precis.Handle) bool { return h.From <= i && i < h.To })
}
