package service

import (
	"context"
	"fmt"
	"net/http"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/dashboard"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/control"
)

// dashboard returns the pages of the gateway, for callers who may see its conversations.
func (s *Service) dashboard() (http.Handler, error) {
	o := dashboard.Options{
		Home: s.visitorHome, Edits: true, Admits: s.mayEdit, Source: "precis gateway " + s.p.Version,
		Profiles: s.profiles,
		Fill:     "ANTHROPIC_BASE_URL=http://" + s.config().Gateway.Listen + " claude",
		Events:   liveEvents{s}, Settings: liveSettings{s}, Logger: s.p.Logger,
	}
	if s.p.Local {
		o.Fill = "curl -H 'Content-Type: application/json' -d @request.json http://" +
			s.config().Gateway.Listen + control.Prefix + "/assemble"
	}
	if s.keys.asks {
		o.Login, o.Logout = s.login, s.logout
	}
	pages, err := dashboard.New(o)
	if err != nil {
		return nil, err
	}
	return s.identifyVisitor(withoutHostCheck(pages)), nil
}

// identifyVisitor identifies the caller of a page by a key, or by the login cookie. Without keys only
// callers on this machine are admitted.
func (s *Service) identifyVisitor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.keys.asks:
			if hash, ok := s.logins.key(r); ok && holder(r) == "" {
				var leave func()
				r, leave, _ = s.keys.identified(r, hash, true)
				defer leave()
			}
		case !fromHere(r):
			refuse(w, http.StatusUnauthorized, &precis.Error{Code: precis.CodeInvalid, Op: "check caller",
				Err:  fmt.Errorf("only callers on the gateway's machine may see this"),
				Hint: "set gateway.keys_file to let others log in"})
			return
		case !s.admitted(w, r):
			return
		}
		next.ServeHTTP(w, r)
	})
}

// visitorHome returns the conversations that a visitor may see.
func (s *Service) visitorHome(r *http.Request) (conversation.Home, error) {
	owner, err := s.ownerOf(r)
	if err != nil {
		return nil, dashboard.ErrLogin
	}
	return s.Gateway.Home(owner), nil
}

// ownerOf returns the owner of the conversations that a request may see, [gateway.AllOwners] for
// all.
func (s *Service) ownerOf(r *http.Request) (string, error) {
	owner, all, err := s.Gateway.Caller(r)
	if all {
		return gateway.AllOwners, nil
	}
	if owner == gateway.AllOwners {
		owner = ""
	}
	return owner, err
}

// profiles returns the names of the profiles except the default one.
func (s *Service) profiles() []string {
	var out []string
	for _, p := range s.Gateway.Profiles().List().Items {
		if p.Name != "" {
			out = append(out, p.Name)
		}
	}
	return out
}

// liveEvents forwards the gateway's events to its pages.
type liveEvents struct{ s *Service }

// Follow returns the events that the visitor may see.
func (e liveEvents) Follow(r *http.Request, after uint64) (<-chan dashboard.Notice, func()) {
	owner, err := e.s.ownerOf(r)
	if err != nil {
		return nil, func() {}
	}
	l := e.s.events.Listen(owner, after)
	if l == nil {
		return nil, func() {}
	}
	out := make(chan dashboard.Notice)
	go func() {
		defer close(out)
		for n := range l.C {
			select {
			case out <- dashboard.Notice{N: n.N, Kind: n.Event.Type, Conversation: n.Event.Conversation}:
			case <-r.Context().Done():
				return
			}
		}
	}()
	return out, l.Leave
}

// Edited publishes edits that were made on a page.
func (e liveEvents) Edited(r *http.Request, id string, edits []conversation.EditInfo) {
	caller, err := e.s.ownerOf(r)
	if err != nil {
		return
	}
	e.s.edited(r.Context(), caller, id, edits)
}

// edited publishes edits of a conversation that a caller sees.
func (s *Service) edited(ctx context.Context, caller, id string, edits []conversation.EditInfo) {
	owner, err := s.Gateway.Home(caller).(conversation.Owned).OwnerOf(ctx, id)
	if err != nil {
		return
	}
	var notes []control.EditNote
	for _, i := range edits {
		notes = append(notes, control.EditNote{ID: i.ID, Kind: i.Kind, Rung: i.Report.Rung,
			Saved: i.Report.Saved(), TriggeredBy: precis.TriggeredManual})
	}
	s.events.PublishEdits(owner, id, notes...)
}
