package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/internal/preview"
	"github.com/precis-dev/precis/store"
)

type searchIn struct {
	Query  string `json:"query" jsonschema:"words that all occur; quote a phrase"`
	ID     string `json:"id,omitempty" jsonschema:"only this session; @last: the newest"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Exact  bool   `json:"exact,omitempty" jsonschema:"no other forms of the words, no related words"`
}

type searchOut struct {
	Hits  []hit  `json:"hits"`
	Found int    `json:"found"`          // number of places or messages found; hits are some of them
	More  bool   `json:"more,omitempty"` // there are more, which were not counted
	Next  string `json:"next_cursor,omitempty"`
	Note  string `json:"note,omitempty"`
}

// hit is a search result.
type hit struct {
	ID     string          `json:"id"`
	Title  string          `json:"title,omitempty"`
	Handle precis.Handle   `json:"handle"`
	Around string          `json:"around,omitempty"` // the message with its neighbors
	What   string          `json:"what,omitempty"`
	View   string          `json:"view,omitempty"` // how the model's view shows it
	Line   string          `json:"line"`
	Also   []precis.Handle `json:"also,omitempty"` // places with the same line, the newest few

	Related store.RelatedWords `json:"related,omitempty"` // matched in place of missing words
}

const (
	defaultHits = 10
	mostHits    = 500
	mostLine    = 300 // bytes
	mostAlso    = 5
)

var search = tool[searchIn, searchOut]{
	name: "search", description: "Find what was said in sessions, hidden from the model or not; hits have handles to expand.",
	run: func(ctx context.Context, c *call, in searchIn) (searchOut, string, error) {
		from, limit, err := in.page()
		if err != nil {
			return searchOut{}, "", err
		}
		var hits []hit
		out := searchOut{Hits: []hit{}}
		if in.ID == "" {
			hits, err = c.searchAll(ctx, in, min(from+limit, mostHits), &out)
		} else {
			hits, out.Note, err = c.inside(ctx, in)
			out.Found = len(hits)
		}
		if err != nil {
			return searchOut{}, "", err
		}
		if from < len(hits) {
			out.Hits = hits[from:min(from+limit, len(hits))]
		}
		if from+limit < out.Found || out.More && from+limit < mostHits {
			out.Next = strconv.Itoa(from + limit)
		}
		return out, out.text(), nil
	},
}

// page returns the first hit to return, and how many.
func (in searchIn) page() (from, limit int, err error) {
	const op = "read arguments"
	if limit = cmp.Or(in.Limit, defaultHits); limit < 1 || limit > mostHits {
		return 0, 0, precis.Errorf(precis.CodeInvalid, op, "limit is %d, want 1 to %d", in.Limit, mostHits)
	}
	if in.Cursor == "" {
		return 0, limit, nil
	}
	if from, err = strconv.Atoi(in.Cursor); err != nil || from < 0 || from > 1_000_000 {
		return 0, 0, &precis.Error{Code: precis.CodeInvalid, Op: op, Err: errors.New("the cursor is none"),
			Hint: "use next_cursor of an earlier answer as it is"}
	}
	return from, limit, nil
}

// searchAll searches all conversations, and counts the hits.
func (c *call) searchAll(ctx context.Context, in searchIn, most int, count *searchOut) ([]hit, error) {
	found, err := conversation.Search(ctx, c.home,
		conversation.SearchOptions{Text: in.Query, Limit: most, Exact: in.Exact})
	if err != nil {
		return nil, err
	}
	count.Found, count.More = found.Total, found.More
	out := make([]hit, len(found.Items))
	for i, f := range found.Items {
		out[i] = hit{ID: f.Conversation, Title: f.Title, Handle: f.Handle,
			Line: preview.Line(f.Snippet, mostLine), Related: f.Related}
	}
	return out, nil
}

// inside searches one conversation, block by block. No hit is not an error.
func (c *call) inside(ctx context.Context, in searchIn) (out []hit, note string, err error) {
	w, err := c.which(ctx, in.ID)
	if err != nil {
		return nil, "", err
	}
	q, err := find.NewQuery(words(in.Query), false)
	if err != nil {
		return nil, "", err
	}
	if !in.Exact {
		q = q.Widen()
	}
	all, err := conversation.Messages(ctx, c.home, w.id, conversation.MessageQuery{Limit: 1})
	if err != nil {
		return nil, "", err // the conversation does not exist
	}
	places, err := find.In(ctx, c.home, w.id, q)
	var none *precis.Error
	if precis.CodeOf(err) == precis.CodeNotFound && errors.As(err, &none) {
		return nil, strings.TrimSuffix(fmt.Sprintf("%v; %s", err, none.Hint), "; "), nil
	}
	if err != nil {
		return nil, "", err
	}
	for _, p := range places {
		at, what := p.Handle.From, p.Name.String()
		around := precis.SpanHandle(max(at-1, 0), min(at+2, all.Total)).String()
		if p.In != "" {
			what, around = what+", in a side conversation", ""
		}
		out = append(out, hit{ID: w.id, Handle: p.Handle, Around: around, What: what, View: string(p.View),
			Line: preview.Line(p.Line, mostLine), Also: p.Also[:min(len(p.Also), mostAlso)],
			Related: p.Related})
	}
	return out, w.note, nil
}

// words splits a query at white space; text in quotation marks is one word.
func words(query string) (out []string) {
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 0 {
			out = append(out, strings.Fields(part)...)
		} else if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	if len(out) == 0 {
		return []string{""} // which a query refuses
	}
	return out
}

func (o searchOut) text() string {
	note := ""
	if o.Note != "" {
		note = "[" + o.Note + "]\n"
	}
	if len(o.Hits) == 0 {
		return note + "nothing found"
	}
	least := ""
	if o.More {
		least = "more than "
	}
	return note + fmt.Sprintf("%d of %s%d found\n", len(o.Hits), least, o.Found) + lines(o.Hits,
		func(h hit) string {
			related := ""
			if len(h.Related) > 0 {
				related = fmt.Sprintf(" (related: %s)", h.Related)
			}
			return strings.TrimSpace(h.ID+" "+h.Handle.String()+" "+h.What) + ": " + h.Line + related
		}) + more(o.Next)
}
