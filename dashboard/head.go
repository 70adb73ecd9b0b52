package dashboard

import (
	"slices"
	"sync"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
)

// head is the top part of every page of a conversation.
type head struct {
	ID      string
	Details conversation.Details
	Bar     bar
	Booked  bool // costs are known
	Sums    ledger.Sums
	Family  conversation.Family
	Flash   *flash
	Held    *heldPart
	Near    []conversation.ListItem // other conversations, for the list at the side
}

// flash reports the last action, with a way to undo it.
type flash struct {
	Kind   precis.EditKind
	Reason string
	Edits  []string // to undo
	Undone bool
	Forced bool // content was lost entirely: not shown as a success
}

// head reads the head of the conversation.
func (c *call) head() (head, error) {
	h := head{ID: c.id()}
	var err error
	if h.Details, err = conversation.Status(c.ctx(), c.home, h.ID); err != nil {
		return h, err
	}
	if h.Details.Title == "" {
		if h.Details.Title, err = c.firstWords(); err != nil {
			return h, err
		}
	}
	comp, err := conversation.CompositionOf(c.ctx(), c.home, h.ID)
	if err != nil {
		return h, err
	}
	h.Bar = newBar(comp)
	sums, err := ledger.Of(c.ctx(), c.home, ledger.Query{Conversation: h.ID, Limit: -1})
	if err != nil {
		return h, err
	}
	if h.Family, err = conversation.FamilyOf(c.ctx(), c.home, h.ID); err != nil {
		return h, err
	}
	if h.Held, err = c.held(); err != nil {
		return h, err
	}
	h.Booked, h.Sums = sums.Booked && sums.Total.Requests > 0, sums.Total
	return h, nil
}

// firstWords returns the beginning of the user's first message, for a conversation without a title.
func (c *call) firstWords() (string, error) {
	list, err := conversation.Messages(c.ctx(), c.home, c.id(), conversation.MessageQuery{Limit: 3})
	if err != nil {
		return "", err
	}
	for _, m := range list.Items {
		if m.UserTurn {
			return m.Summary, nil
		}
	}
	return "", nil
}

// readHead reads the head with the parts of a whole page: the list at the side, and the flash.
func (c *call) readHead() (head, error) {
	h, err := c.head()
	if err != nil || c.part() {
		return h, err
	}
	near, err := conversation.List(c.ctx(), c.home, conversation.ListQuery{Limit: 30})
	if err != nil {
		return h, err
	}
	if len(near.Items) > 1 {
		h.Near = near.Items
	}
	h.Flash, err = c.flash()
	return h, err
}

// flash reads the edit just made from the URL.
func (c *call) flash() (*flash, error) {
	did := c.value("did")
	if did == "" {
		return nil, nil
	}
	list, err := conversation.Edits(c.ctx(), c.home, c.id())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list.Items, func(e conversation.EditInfo) bool { return e.ID == did })
	if i < 0 {
		return nil, nil
	}
	e := list.Items[i]
	f := &flash{Kind: e.Kind, Reason: e.Report.Reason, Undone: !e.InForce,
		Forced: c.value("forced") != "" && e.InForce}
	for _, other := range list.Items {
		if other.InForce && (other.ID == e.ID || e.Run != "" && other.Run == e.Run) {
			f.Edits = append(f.Edits, other.ID)
		}
	}
	return f, nil
}

// headPart serves only the head, for the script.
func (c *call) headPart() error {
	h, err := c.head()
	if err != nil {
		return err
	}
	return c.show("head", page{Data: h})
}

// losses caches the losses of views, which take long to compute for a long conversation. It is safe
// for concurrent use.
type losses struct {
	mu  sync.Mutex
	all map[lossKey]conversation.LossReport
}

// lossKey identifies a view: it changes whenever the view may change.
type lossKey struct {
	owner, id, last string
	messages, edits int
}

const (
	mostLosses   = 64
	lossMessages = 3000 // longest conversation, in messages, with its loss computed for every page
)

// lost returns what the view of a conversation has lost, and whether it is known. With wish it is
// computed however long that takes.
func (c *call) lost(h head, wish bool) (conversation.LossReport, bool, error) {
	list, err := conversation.Edits(c.ctx(), c.home, h.ID)
	if err != nil {
		return conversation.LossReport{}, false, err
	}
	key := lossKey{owner: h.Details.Owner, id: h.ID, messages: h.Details.Status.Messages,
		edits: len(list.Items)}
	if n := len(list.Items); n > 0 {
		key.last = list.Items[n-1].ID
	}
	l := &c.dash.losses
	l.mu.Lock()
	known, ok := l.all[key]
	l.mu.Unlock()
	if ok || !wish && key.messages > lossMessages {
		return known, ok, nil
	}
	found, err := conversation.Loss(c.ctx(), c.home, h.ID)
	if err != nil {
		return found, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= mostLosses {
		l.all = map[lossKey]conversation.LossReport{}
	}
	l.all[key] = found
	return found, true, nil
}
