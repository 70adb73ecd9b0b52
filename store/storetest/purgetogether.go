package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// purgeTogether purges conversations during concurrent appends, edits and loads, which must never
// see part of a conversation.
func purgeTogether(s *suite) {
	p := need[store.Purger](s)
	shared := talk("shared", 3)
	s.converse("stays", append(talk("shared", 3), user("stays"))...)
	errs := together(func(i int) error {
		if i < 3 {
			for range 10 {
				if _, err := p.Purge(s.ctx, store.PurgeQuery{IDs: []string{"goes 3", "goes 4", "goes 5"}}); err != nil {
					return err
				}
			}
			return nil
		}
		for k := range 5 {
			own := append(shared[:k%4:k%4], talk(fmt.Sprint("own ", i), k+1)...)
			if err := s.liveOn(fmt.Sprint("goes ", i%6), own); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	stays := append(talk("shared", 3), user("stays"))
	t, _ := s.load(nodes(stays)[3])
	s.wantMessages(t, stays...)
	s.purgeOf(store.PurgeQuery{IDs: []string{"stays"}, Before: time.Now().Add(time.Hour)})
	for i := range racers {
		for _, f := range nodes(talk(fmt.Sprint("own ", i), 1)) {
			_, _, err := s.Load(s.ctx, f)
			s.wantCode("a node in no conversation", err, precis.CodeNotFound)
		}
	}
}

// liveOn extends a conversation that may be purged at any time: each call must see it whole or
// not at all.
func (s *suite) liveOn(id string, msgs []precis.Message) error {
	node, err := s.Append(s.ctx, precis.Fingerprint{}, msgs...)
	if err != nil {
		return err
	}
	if err := s.Store.(store.Lister).PutConversation(s.ctx, store.Record{ID: id, Head: node}); err != nil {
		return err
	}
	_, err = s.Append(s.ctx, node, user("more"))
	err2 := s.AddEdit(s.ctx, "", pin(node, "edit of "+id))
	t, _, err3 := s.Load(s.ctx, node)
	for _, err := range []error{err, err2, err3} {
		if code := precis.CodeOf(err); err != nil && code != precis.CodeNotFound && code != precis.CodeConflict {
			return err
		}
	}
	if err3 == nil && (t.Len() != len(msgs) || t.Fingerprint(t.Len()) != node) {
		return fmt.Errorf("%d messages of %d", t.Len(), len(msgs))
	}
	return nil
}
