package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/precis-dev/precis"
)

const racers = 16

// together runs f concurrently in all racers and returns their errors.
func together(f func(i int) error) []error {
	errs := make([]error, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func oneWins(s *suite) {
	node := s.add(precis.Fingerprint{}, talk("race", 3)...)
	after := ""
	for round := range 5 {
		id := func(i int) string { return fmt.Sprintf("round %d racer %d", round, i) }
		errs := together(func(i int) error { return s.AddEdit(s.ctx, after, pin(node, id(i))) })
		won := slices.Index(errs, nil)
		for i, err := range errs {
			if i != won {
				s.wantCode(id(i), err, precis.CodeConflict)
			}
		}
		_, edits := s.load(node)
		if won < 0 || len(edits) != round+1 || edits[round].ID != id(won) {
			s.Fatalf("round %d: racer %d won, the edits are %q", round, won, ids(edits))
		}
		after = id(won)
	}
	// The same edit from every replica is not a conflict.
	for i, err := range together(func(int) error { return s.AddEdit(s.ctx, after, pin(node, "same")) }) {
		if err != nil {
			s.Errorf("racer %d with the same edit: %v", i, err)
		}
	}
	if _, edits := s.load(node); len(edits) != 6 {
		s.Errorf("%d edits, want 6: %q", len(edits), ids(edits))
	}
}

// allArrive checks that all callers succeed if they load again after a conflict, and that each
// edit follows the one its caller had seen.
func allArrive(s *suite) {
	const each = 5
	node := s.add(precis.Fingerprint{}, talk("retry", 3)...)
	var mu sync.Mutex
	seen := map[string]string{}
	errs := together(func(i int) error {
		for k := 0; k < each; {
			_, edits, err := s.Load(s.ctx, node)
			if err != nil {
				return err
			}
			after := ""
			if len(edits) > 0 {
				after = edits[len(edits)-1].ID
			}
			id := fmt.Sprintf("%d of racer %d", k, i)
			err = s.AddEdit(s.ctx, after, pin(node, id))
			switch {
			case err == nil:
				k++
				mu.Lock()
				seen[id] = after
				mu.Unlock()
			case precis.CodeOf(err) != precis.CodeConflict:
				return err
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	_, edits := s.load(node)
	if len(edits) != racers*each {
		s.Errorf("%d edits, want %d", len(edits), racers*each)
	}
	before := ""
	for _, e := range edits {
		if seen[e.ID] != before {
			s.Errorf("%s was recorded after %q but stands after %q", e.ID, seen[e.ID], before)
		}
		before = e.ID
	}
}

func concurrentAppends(s *suite) {
	shared := talk("shared", 20)
	at := nodes(shared)
	tips := make([]precis.Fingerprint, racers)
	errs := together(func(i int) error {
		var parent precis.Fingerprint
		for k, m := range shared { // all append the same
			f, err := s.Append(s.ctx, parent, m)
			if err != nil {
				return err
			}
			if f != at[k] {
				return fmt.Errorf("message %d: node %s, want %s", k, f.Short(), at[k].Short())
			}
			if t, _, err := s.Load(s.ctx, f); err != nil || t.Len() != k+1 || t.Fingerprint(k+1) != f {
				return fmt.Errorf("message %d: loaded %d messages, %v", k, t.Len(), err)
			}
			parent = f
		}
		var err error
		tips[i], err = s.Append(s.ctx, at[i], talk(fmt.Sprint("own ", i), 3)...) // then each its own branch
		return err
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	for i, tip := range tips {
		t, _ := s.load(tip)
		s.wantMessages(t, append(shared[:i+1:i+1], talk(fmt.Sprint("own ", i), 3)...)...)
	}
}
