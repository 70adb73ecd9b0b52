package dashboard

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
)

// viewRows is how many pieces of a view a page shows.
const viewRows = 100

// viewPage is the page with two columns: the original messages, and the model's view.
type viewPage struct {
	Head  head
	At    int // number of messages at that moment; 0: now
	Total int
	Rows  []viewRow
	Prev  string // address of the page before
	Next  string
	Notes []string
}

// viewRow is a piece of a view.
type viewRow struct {
	conversation.UnitInfo
	Conversation string
	Anchor       string
	Fold         bool    // it replaces several messages, or a hidden one
	Open         bool    // an opened fold
	Shown        []drawn // what the model sees instead
	Pieces       []piece // of a message
	Lost         int     // hidden facts that are likely to be needed
	RulesLost    int     // hidden rules of the user
	LostKnown    bool
	Originals    []original // of an opened fold
	Can          actions
	All          int // number of messages of the conversation
}

// actions are the actions of a row.
type actions struct{ Pin, Restore, Exclude, Rewind, Branch bool }

func (c *call) view() error {
	h, err := c.readHead()
	if err != nil {
		return err
	}
	v, err := c.viewPage(h, 0)
	if err != nil {
		return err
	}
	return c.show("view", page{Title: c.title(h), Tab: "view", Data: v})
}

// viewPage reads the part of a view that the URL selects.
func (c *call) viewPage(h head, at int) (viewPage, error) {
	from := c.number("from", 0)
	list, err := conversation.Units(c.ctx(), c.home, h.ID,
		conversation.UnitQuery{From: from, Limit: viewRows, At: at})
	if err != nil {
		return viewPage{}, err
	}
	v := viewPage{Head: h, At: at, Total: list.Total}
	var lost conversation.LossReport
	known := false
	if at == 0 {
		if lost, known, err = c.lost(h, false); err != nil {
			return v, err
		}
	}
	for _, u := range list.Items {
		row := viewRowOf(h.ID, u, at == 0 && c.mayEdit())
		row.All = h.Details.Status.Messages
		row.Lost, row.RulesLost = lost.Under(u.Handle)
		row.LostKnown = known
		if row.Open = row.Fold && c.value("from") != "" && u.Handle.From <= from &&
			from < u.Handle.To; row.Open {
			if row.Originals, err = c.originalsOf(h.ID, firstOf(u.Handle), blockShown); err != nil {
				return v, err
			}
		}
		v.Rows = append(v.Rows, row)
	}
	v.Prev, v.Next = c.pages(list, at)
	return v, nil
}

// pages returns the addresses of the pages before and after.
func (c *call) pages(list conversation.UnitList, at int) (prev, next string) {
	tab := []string{"c", c.id()}
	q := url.Values{}
	if at > 0 {
		tab = append(tab, "time")
		q.Set("at", strconv.Itoa(at))
	}
	to := func(from int) string {
		q.Set("from", strconv.Itoa(from))
		return c.path(append(tab[:len(tab):len(tab)], "?"+q.Encode())...)
	}
	if list.Next > 0 {
		next = to(list.Next)
	}
	if len(list.Items) > 0 && list.Items[0].Handle.From > 0 {
		prev = to(list.Prev)
	}
	return prev, next
}

func viewRowOf(id string, u conversation.UnitInfo, edits bool) viewRow {
	row := viewRow{UnitInfo: u, Conversation: id, Anchor: fmt.Sprintf("m%d", u.Handle.From),
		Fold: u.State == conversation.Hidden}
	if row.Fold {
		for _, m := range u.Messages {
			row.Shown = append(row.Shown, blocksOf(m.Blocks, 4*blockShown)...)
		}
	} else {
		row.Pieces = piecesOf(u)
	}
	if edits {
		whole := u.State == conversation.Shown
		row.Can = actions{Pin: !row.Pinned, Restore: !whole, Exclude: !row.Fold && !row.Pinned,
			Rewind: !row.Fold, Branch: !row.Fold}
	}
	return row
}

// piece is a block of a message: the original, or its replacement.
type piece struct {
	Block drawn
	Diff  *blockDiff
}

func piecesOf(u conversation.UnitInfo) []piece {
	said := u.Said.Blocks
	if said == nil && len(u.Messages) > 0 {
		said = u.Messages[0].Blocks
	}
	diffs := map[string]*blockDiff{}
	for _, d := range diffsOf(u.Blocks) {
		diffs[d.Handle.String()] = &d
	}
	var out []piece
	for _, b := range blocksOf(said, blockShown) {
		out = append(out, piece{b, diffs[b.Handle]})
	}
	return out
}

// mostOriginals is how many messages an opened fold shows; a link leads to the rest.
const mostOriginals = 50

func firstOf(h precis.Handle) precis.Handle {
	return precis.SpanHandle(h.From, min(h.To, h.From+mostOriginals))
}

// original is an original message.
type original struct {
	conversation.Original
	Shown []drawn
}

func (c *call) originalsOf(id string, h precis.Handle, most int) ([]original, error) {
	found, err := conversation.ReadOriginals(c.ctx(), c.home, id, h)
	if err != nil {
		return nil, err
	}
	var out []original
	for _, m := range found.Messages {
		out = append(out, original{m, blocksOf(m.Blocks, most)})
	}
	return out, nil
}

// originalsPage shows the original content of a handle.
type originalsPage struct {
	Head     head
	Handle   precis.Handle
	Messages []original
	Rest     string // address of the remaining content
	Restore  bool
}

func (c *call) originals() error {
	handle, err := precis.ParseHandle(c.r.PathValue("handle"))
	if err != nil {
		return err
	}
	p := originalsPage{Handle: handle}
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	first, most := handle, wholeShown
	if handle.Block < 0 {
		first = firstOf(handle)
	}
	if first.To-first.From > 1 {
		most = blockShown
	}
	if p.Messages, err = c.originalsOf(p.Head.ID, first, most); err != nil {
		return err
	}
	if first.To < handle.To {
		p.Rest = c.path("c", p.Head.ID, "m", precis.SpanHandle(first.To, handle.To).String())
	}
	for _, m := range p.Messages {
		p.Restore = p.Restore || c.mayEdit() && m.State != conversation.Shown
	}
	return c.show("originals", page{Title: handle.String() + " · " + c.title(p.Head), Tab: "view", Data: p})
}

// shownPage shows what the model sees instead of messages.
type shownPage struct {
	Head   head
	Unit   conversation.UnitInfo
	Blocks []drawn
}

// shown shows everything that replaces the messages of a handle.
func (c *call) shown() error {
	handle, err := precis.ParseHandle(c.r.PathValue("handle"))
	if err != nil {
		return err
	}
	p := shownPage{}
	if p.Head, err = c.readHead(); err != nil {
		return err
	}
	list, err := conversation.Units(c.ctx(), c.home, p.Head.ID,
		conversation.UnitQuery{From: handle.From, Limit: 1, At: c.number("at", 0)})
	if err != nil {
		return err
	}
	if len(list.Items) == 0 {
		return precis.Errorf(precis.CodeNotFound, "show "+handle.String(), "the conversation has %d messages",
			list.Total)
	}
	p.Unit = list.Items[0]
	for _, m := range p.Unit.Messages {
		p.Blocks = append(p.Blocks, blocksOf(m.Blocks, wholeShown)...)
	}
	return c.show("shown", page{Title: handle.String() + " · " + c.title(p.Head), Tab: "view", Data: p})
}

// title returns the title of a conversation.
func (c *call) title(h head) string {
	t := brief(h.Details.Title, 80)
	switch {
	case t == "":
		return h.ID
	case c.prefs.Mask:
		return masked(t)
	}
	return t
}
