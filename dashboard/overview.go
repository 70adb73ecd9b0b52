package dashboard

import (
	"context"
	"net/url"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/policy"
)

// pageRows is how many conversations a page lists.
const pageRows = 50

// listRow is a conversation in the list.
type listRow struct {
	conversation.ListItem
	Level string
	Bar   *bar         // nil in the list itself: the script loads it
	Sums  *ledger.Sums // nil: unknown
	Edits *conversation.EditCounts
	Last  time.Time // of the edits; zero: unknown, or none
	Held  bool      // a request is held
	Depth int       // in a tree
}

// overview is the page of all conversations.
type overview struct {
	Text string
	Rows []listRow
	Next string // address of the next page
	Fill string // command that adds the first conversation
	Now  int    // total tokens of the newest views of Rows
	All  *int   // number of conversations; nil: unknown, or not shown
	Sums *overviewSums
}

// overviewSums is the usage of all conversations in the last days.
type overviewSums struct {
	ledger.Sums
	Days int
}

// sumsPatience is how long the overview waits for the ledger, so that a store that does not answer
// does not block it.
const sumsPatience = 300 * time.Millisecond

// totals counts the conversations and sums up the ledger; nil for a result that is unknown or takes
// too long.
func (c *call) totals() (all *int, sums *overviewSums) {
	ctx, cancel := context.WithTimeout(c.ctx(), sumsPatience)
	defer cancel()
	if n, known, err := conversation.Count(ctx, c.home); known && err == nil && n > 0 {
		all = &n
	}
	return all, c.overviewSums(ctx)
}

// overviewSums sums up the ledger; nil without a ledger, or if it takes too long.
func (c *call) overviewSums(ctx context.Context) *overviewSums {
	sums, err := ledger.Of(ctx, c.home,
		ledger.Query{Since: c.o.Now().Add(-costDays * 24 * time.Hour), Limit: -1})
	if err != nil || sums.Total.Requests+sums.Total.Edits == 0 {
		return nil
	}
	return &overviewSums{Sums: sums.Total, Days: costDays}
}

func (c *call) overview() error {
	o := overview{Text: c.value("text"), Fill: c.o.Fill}
	list, err := conversation.List(c.ctx(), c.home,
		conversation.ListQuery{Text: o.Text, Limit: pageRows, Cursor: c.value("cursor")})
	if err != nil {
		return err
	}
	for _, l := range list.Items {
		o.Rows = append(o.Rows, c.listRow(l))
		o.Now += l.Tokens
	}
	if o.Text == "" && c.value("cursor") == "" { // totals include all conversations
		o.All, o.Sums = c.totals()
	}
	if list.Next != "" {
		o.Next = c.path("?" + url.Values{"text": {o.Text}, "cursor": {list.Next}}.Encode())
	}
	return c.show("overview", page{Title: c.text("overview.title"), Tab: "overview", Data: o})
}

// listRow derives the level of a listed conversation from the default thresholds; its own page uses
// the thresholds in force.
func (c *call) listRow(l conversation.ListItem) listRow {
	s := policy.DefaultSettings()
	r := listRow{ListItem: l, Level: levelOf(l.Percent, s.Warn, l.Tokens,
		int(float64(l.Window)*s.Percent/100),
		l.Window)}
	if h, err := conversation.HoldingOf(c.ctx(), c.home, l.ID); err == nil {
		r.Held = h.Waiting
	}
	return r
}

// row serves one conversation of the list with all details that require loading it.
func (c *call) row() error {
	h, err := c.head()
	if err != nil {
		return err
	}
	r := listRow{ListItem: h.Details.ListItem, Level: h.Bar.Level, Bar: &h.Bar, Edits: &h.Details.Edits,
		Last: h.Details.Status.Last}
	r.Held = h.Held != nil && h.Held.Waiting
	if h.Booked {
		r.Sums = &h.Sums
	}
	return c.show("row", page{Data: r})
}

// searched is the page of a search over everything.
type searched struct {
	Query string
	In    string // the only conversation searched; "": all
	conversation.SearchResults
}

func (c *call) search() error {
	s := searched{Query: c.value("q"), In: c.value("in")}
	if s.Query != "" {
		list, err := conversation.Search(c.ctx(), c.home,
			conversation.SearchOptions{Text: s.Query, Conversation: s.In, Limit: 100})
		if err != nil {
			return err
		}
		s.SearchResults = list
	}
	return c.show("search", page{Title: c.text("search.title"), Tab: "search", Query: s.Query, Data: s})
}

// jumpResults is the content of the jump dialog.
type jumpResults struct {
	Conversations []conversation.ListItem
	Found         []conversation.SearchHit
}

// jump lists the conversations and messages that match a text.
func (c *call) jump() error {
	q := c.value("q")
	list, err := conversation.List(c.ctx(), c.home, conversation.ListQuery{Text: q, Limit: 8})
	if err != nil {
		return err
	}
	j := jumpResults{Conversations: list.Items}
	if len(q) > 1 {
		found, err := conversation.Search(c.ctx(), c.home, conversation.SearchOptions{Text: q, Limit: 8})
		if err != nil {
			return err
		}
		j.Found = found.Items
	}
	return c.show("jump", page{Title: c.text("jump.title"), Data: j})
}
