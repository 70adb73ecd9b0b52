package sessions

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/store"
)

// mostOpen is how many recordings a library keeps open for later reads.
const mostOpen = 8

// opened is the home of an open recording.
type opened struct {
	path     string
	size     int64
	modified int64
	home     Home
}

// Look calls f with the session named id, see [Library.Find].
func (l *Library) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	s, err := l.Find(ctx, id)
	if err != nil {
		return err
	}
	h, err := l.home(ctx, s)
	if err != nil {
		return err
	}
	return h.Look(ctx, h.ID(), func(sub *conversation.Subject) error {
		sub.Record = record(s, sub.Record.Window)
		return f(sub)
	})
}

// home returns the home of a session's recording in its current state.
func (l *Library) home(ctx context.Context, s *Session) (Home, error) {
	if l.o.Open == nil {
		return nil, precis.Errorf(precis.CodeInvalid, "open session", "this library only lists")
	}
	now, err := l.stat(s)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	for i, o := range l.open {
		if o.path == now.path && o.size == now.size && o.modified == now.stamp() {
			l.open = append(slices.Delete(l.open, i, i+1), o)
			l.mu.Unlock()
			return o.home, nil
		}
	}
	l.mu.Unlock()
	h, err := l.o.Open(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(o opened) bool { return o.path == now.path })
	l.open = append(l.open, opened{path: now.path, size: now.size, modified: now.stamp(), home: h})
	if len(l.open) > mostOpen {
		l.open = slices.Delete(l.open, 0, len(l.open)-mostOpen)
	}
	return h, nil
}

// stat returns the current size and time of a session's file.
func (l *Library) stat(s *Session) (found, error) {
	files, _, err := walk(context.Background(), []Place{{Root: s.Path, Given: true}})
	if err != nil || len(files) == 0 {
		return found{}, &precis.Error{Code: precis.CodeNotFound, Op: "open session", Place: s.Path,
			Err: errors.New("the recording is gone")}
	}
	return files[0], nil
}

// Edit refuses, because sessions belong to the programs that recorded them. Edits of a session are
// kept in precis's own file.
func (l *Library) Edit(context.Context, string, func(*conversation.Subject) error) error {
	return &precis.Error{Code: precis.CodeInvalid, Op: "edit session",
		Err:  errors.New("sessions are only read"),
		Hint: "precis condense SESSION -o FILE keeps edits in a file of their own"}
}

// record describes a session in the form of a catalog.
func record(s *Session, window int) store.Record {
	r := store.Record{
		ID: s.ID, Title: s.Title, Model: s.Model, Client: s.Agent, Messages: s.Messages, Tokens: s.View,
		Window:  window,
		Created: cmp.Or(s.Begun, s.used()), Updated: s.used(), Branched: s.Parent,
		Hints: map[string]string{"path": s.Path},
	}
	if s.Project != "" {
		r.Hints["project"] = s.Project
	}
	for _, sp := range s.Spent {
		r.Requests += sp.Requests
	}
	return r
}

// List lists sessions as conversations, the one used last first.
func (h libraryHome) List(ctx context.Context,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	var page conversation.Page[conversation.ListItem]
	f := Filter{Text: q.Text, Since: q.Since, Before: q.Before, Limit: cmp.Or(q.Limit, 50) + 1}
	if q.Cursor != "" {
		n, err := strconv.Atoi(q.Cursor)
		if err != nil || n < 0 {
			return page, precis.Errorf(precis.CodeInvalid, "list", "there is no cursor %.40q", q.Cursor)
		}
		f.Offset = n
	}
	some, err := h.Library.List(ctx, f)
	if err != nil {
		return page, err
	}
	if len(some) == f.Limit {
		some = some[:f.Limit-1]
		page.Next = strconv.Itoa(f.Offset + len(some))
	}
	page.Items = []conversation.ListItem{}
	for _, s := range some {
		page.Items = append(page.Items, h.listed(s))
	}
	return page, nil
}

// CountAll counts the sessions.
func (h libraryHome) CountAll(ctx context.Context) (n int, known bool, err error) {
	n, err = h.Library.Count(ctx, Filter{})
	return n, err == nil, err
}

// listed describes a session as a conversation in a list.
func (h libraryHome) listed(s *Session) conversation.ListItem {
	tokens := s.Window
	if h.o.Window != nil {
		tokens = h.o.Window(s.Model, tokens).Tokens
	}
	return conversation.NewListItem("", record(s, tokens), false)
}

// mostChildren is the most child sessions listed for a session.
const mostChildren = 50

// Family returns the parent and the children of a session.
func (h libraryHome) Family(ctx context.Context, id string) (conversation.Family, error) {
	out := conversation.Family{Children: []conversation.ListItem{}}
	s, err := h.Find(ctx, id)
	if err != nil {
		return out, err
	}
	if s.Parent != "" {
		parents, err := h.withCondition(ctx, "id = ?", 1, s.Parent)
		if err != nil {
			return out, err
		}
		if len(parents) > 0 {
			parent := h.listed(parents[0])
			out.Parent = &parent
		}
	}
	children, err := h.Library.List(ctx, Filter{Parent: s.ID, Limit: mostChildren})
	for _, c := range children {
		out.Children = append(out.Children, h.listed(c))
	}
	return out, err
}

// libraryHome is a library as a home of conversations.
type libraryHome struct{ *Library }

// Home makes the sessions available to the verbs of package conversation, read-only. IDs are names
// as in [Library.Find].
func (l *Library) Home() conversation.Home { return libraryHome{l} }

// Search finds passages in all sessions, see [Library.Search].
func (h libraryHome) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	limit := cmp.Or(q.Limit, 20)
	q.Limit = limit + 1 // an exact count would open every recording
	if q.Conversation != "" {
		q.Limit = math.MaxInt
	}
	hits, err := h.Library.Search(ctx, q)
	if err != nil {
		return conversation.SearchResults{}, err
	}
	out := conversation.SearchResults{Items: []conversation.SearchHit{}, Index: "sessions"}
	for _, hit := range hits {
		out.Items = append(out.Items,
			conversation.SearchHit{Hit: hit.Hit, Title: hit.Session.Title, Handle: hit.Place.Handle,
				In: hit.Place.In, Kind: hit.Place.String()})
	}
	out.Cap(limit, q.Limit-1)
	return out, nil
}
