package serving

import (
	"context"
	"sync"
	"time"

	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/sessions"
	"github.com/precis-dev/precis/store"
)

// freshFor is how long the index of sessions is used before it is refreshed.
const freshFor = 2 * time.Second

// liveSessions serves the sessions of this machine in a long-running program, while agents record new
// ones.
type liveSessions struct {
	conversation.Home
	lib *sessions.Library
	now func() time.Time

	mu sync.Mutex // guards at
	at time.Time  // time of the last refresh
}

func newLiving(lib *sessions.Library, now func() time.Time) *liveSessions {
	return &liveSessions{Home: lib.Home(), lib: lib, now: now, at: now()}
}

// refresh updates the index unless it was updated a moment ago.
func (l *liveSessions) refresh(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now().Sub(l.at) < freshFor {
		return nil
	}
	if _, err := l.lib.Refresh(ctx); err != nil {
		return err
	}
	l.at = l.now()
	return nil
}

// Look calls f with a session.
func (l *liveSessions) Look(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	if err := l.refresh(ctx); err != nil {
		return err
	}
	return l.Home.Look(ctx, id, f)
}

// List lists sessions, the one used last first.
func (l *liveSessions) List(ctx context.Context,
	q conversation.ListQuery) (conversation.Page[conversation.ListItem], error) {
	if err := l.refresh(ctx); err != nil {
		return conversation.Page[conversation.ListItem]{}, err
	}
	return l.Home.List(ctx, q)
}

// Search finds messages in all sessions.
func (l *liveSessions) Search(ctx context.Context, q store.SearchQuery) (conversation.SearchResults, error) {
	if err := l.refresh(ctx); err != nil {
		return conversation.SearchResults{}, err
	}
	return l.Home.Search(ctx, q)
}

// Family returns the parent and the children of a session.
func (l *liveSessions) Family(ctx context.Context, id string) (conversation.Family, error) {
	return conversation.FamilyOf(ctx, l.Home, id)
}

// Folder returns the folder of a session's project; "": unknown.
func (l *liveSessions) Folder(ctx context.Context, id string) (string, error) {
	s, err := l.lib.Find(ctx, id)
	if err != nil {
		return "", err
	}
	return s.Project, nil
}
