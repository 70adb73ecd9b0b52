package conversation

import (
	"context"
	"slices"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation/block"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/policy"
)

// UnitQuery selects units of a view. The zero value selects the first 100 of the current view.
type UnitQuery struct {
	From  int // message index: the first unit is the one that covers it; a negative one counts from the end
	Limit int // at most this number; 0: 100; at most 500
	At    int // the view at this number of messages; 0: now
}

// UnitList is part of a view.
type UnitList struct {
	Items []UnitInfo `json:"items"`
	Total int        `json:"messages"` // of the transcript, at the moment asked for
	// message at the start of the next page; 0: this is the last page
	Next   int           `json:"next,omitempty"`
	Status policy.Status `json:"status"`         // of the view asked for
	Prev   int           `json:"prev,omitempty"` // message at the start of the previous page
}

// UnitInfo is a unit of a view with the messages it replaces. Tokens are counted, not calibrated.
type UnitInfo struct {
	ViewUnit
	Rung   string        `json:"rung,omitempty"` // the rung that made the edit
	Cost   float64       `json:"cost_usd,omitempty"`
	Before int           `json:"tokens_before"` // tokens of the original messages
	After  int           `json:"tokens_after"`
	Pinned bool          `json:"pinned"`
	Info   MessageInfo   `json:"info,omitzero"` // for a unit of one original message
	Said   block.Message `json:"said,omitzero"` // the original message, when the view shows it otherwise
	Blocks []BlockChange `json:"blocks,omitempty"`
}

// BlockChange is a block that a view replaces or removes.
type BlockChange struct {
	Handle precis.Handle   `json:"handle"`
	What   string          `json:"what"`
	Was    string          `json:"was"`
	Now    string          `json:"now"`
	Gone   bool            `json:"gone"` // it is left out
	Kind   precis.EditKind `json:"edit_kind,omitempty"`
}

// Units returns part of a view as units, each with the messages it replaces.
func Units(ctx context.Context, h Home, id string, q UnitQuery) (UnitList, error) {
	if q.Limit < 0 || q.Limit > MaxListed {
		return UnitList{}, precis.Errorf(precis.CodeInvalid, "read limit", "limit is %d, want 1 to %d",
			q.Limit, MaxListed)
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	return look(ctx, h, id, func(s *Subject) (UnitList, error) {
		then, err := s.at(q.At)
		if err != nil {
			return UnitList{}, err
		}
		return then.units(q)
	})
}

// ViewAt returns what the model saw when the conversation had n messages: the view with the edits
// that had been made by then.
func ViewAt(ctx context.Context, h Home, id string, n int) (ViewInfo, error) {
	return look(ctx, h, id, func(s *Subject) (ViewInfo, error) {
		then, err := s.at(n)
		if err != nil {
			return ViewInfo{}, err
		}
		return then.viewInfo()
	})
}

// At returns the conversation at a length of n messages; 0: as it is. Counting it does not touch
// the meter of the home.
func (s *Subject) at(n int) (*Subject, error) {
	t := s.Conversation.Transcript
	if n < 0 || n > t.Len() {
		return nil, precis.Errorf(precis.CodeNotFound, "look back", "message %d: the conversation has %d", n,
			t.Len())
	}
	if n == 0 {
		return s, nil
	}
	out := *s
	out.Conversation, out.Template.Meter = precis.Rewound(s.Conversation, n), nil
	out.Conversation.Unstored.Unrecorded = s.meter().Overhead(s.Conversation).Unrecorded
	return &out, nil
}

func (s *Subject) units(q UnitQuery) (UnitList, error) {
	t := s.Conversation.Transcript
	st, err := s.status()
	if err != nil {
		return UnitList{}, err
	}
	from, err := MessageQuery{From: q.From}.start(t.Len())
	if err != nil {
		return UnitList{}, err
	}
	d := describer{s: s, shown: precis.ShownBy(t, s.Conversation.Edits),
		pins: precis.Pinned(s.Conversation.Edits), reports: map[string]precis.EditReport{},
		scratch: s.scratch()}
	for _, e := range s.Conversation.Edits {
		d.reports[e.ID] = e.Report
	}
	units := d.shown.Units
	first := slices.IndexFunc(units, func(u precis.Unit) bool { return u.To > from })
	if first < 0 {
		first = len(units)
	}
	last := min(first+q.Limit, len(units))
	out := UnitList{Items: make([]UnitInfo, 0, last-first), Total: t.Len(), Status: st}
	if last < len(units) {
		out.Next = units[last].From
	}
	if first > 0 {
		out.Prev = units[max(first-q.Limit, 0)].From
	}
	d.names = block.New(t.Messages())
	for _, u := range units[first:last] {
		out.Items = append(out.Items, d.unit(u))
	}
	return out, nil
}

// describer describes units of one view.
type describer struct {
	s       *Subject
	shown   *precis.Shown
	pins    []precis.Handle
	reports map[string]precis.EditReport // by edit
	names   *block.Namer
	scratch *measure.Meter
}

func (d *describer) unit(u precis.Unit) UnitInfo {
	t, look := d.s.Conversation.Transcript, d.shown.Message(u.From)
	out := UnitInfo{ViewUnit: viewUnit(u, look), Rung: d.reports[look.Edit].Rung,
		Cost: d.reports[look.Edit].CostUSD}
	for i := u.From; i < u.To; i++ {
		out.Before += d.s.meter().Message(t.At(i))
	}
	out.Pinned = slices.ContainsFunc(d.pins,
		func(h precis.Handle) bool { return h.From < u.To && u.From < h.To })
	out.After = out.Before
	if !u.Original() || u.Changed {
		out.After = d.scratch.View(u.Messages)
	}
	if !u.Original() {
		return out
	}
	out.Info = messageInfo(t, u.From, d.shown)
	out.Info.Tokens, out.Info.Pinned = out.Before, out.Pinned
	if u.Changed {
		out.Said = block.MessageOf(t.At(u.From))
		for b := range out.Said.Blocks {
			out.Said.Blocks[b].Handle = precis.BlockHandle(u.From, b).String()
		}
		out.Blocks = d.blocks(u)
	}
	return out
}

// blocks returns the blocks of a message that the view replaces or removes.
func (d *describer) blocks(u precis.Unit) []BlockChange {
	var out []BlockChange
	for b, was := range d.s.Conversation.Transcript.At(u.From).Content {
		look := d.shown.Block(u.From, b)
		if !look.Hidden && !look.Changed {
			continue
		}
		h := precis.BlockHandle(u.From, b)
		c := BlockChange{Handle: h, What: d.names.Name(h).String(), Was: block.Text(was),
			Gone: look.Block == nil, Kind: look.Kind}
		if look.Block != nil {
			c.Now = block.Text(look.Block)
		}
		out = append(out, c)
	}
	return out
}
