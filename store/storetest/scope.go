package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// owners are names that a careless store would confuse.
var owners = []string{"", "a", "A", "a ", "a\x00", "\xff", "%", "0", "-1", strings.Repeat("long", 200)}

// within returns the suite for a scope of its store.
func (s *suite) within(owner string) *suite {
	return &suite{T: s.T, Store: need[store.Scoper](s).Scope(owner), ctx: s.ctx, open: s.open}
}

// scopesApart stores equal content in all scopes and checks that each call sees only its scope's.
func scopesApart(s *suite) {
	msgs := talk("scoped", 3)
	at := nodes(msgs)
	for i, owner := range owners {
		in := s.within(owner)
		checkEmpty(in, at[0], owner)
		in.add(precis.Fingerprint{}, msgs[:1+i%3]...)
		in.record(at[0], "", fmt.Sprintf("the edit of %q", owner))
		fillScope(in, at[0], owner)
	}
	for i, owner := range owners {
		in := s.within(owner)
		in.wantEdits(at[i%3], fmt.Sprintf("the edit of %q", owner))
		if i%3 < 2 {
			_, _, err := in.Load(s.ctx, at[i%3+1])
			in.wantCode("Load of what another scope has", err, precis.CodeNotFound)
			_, err = in.Append(s.ctx, at[i%3+1], user("x"))
			in.wantCode("Append after what another scope has", err, precis.CodeNotFound)
			_, err = in.Body(s.ctx, precis.HashMessage(msgs[i%3+1]))
			in.wantCode("Body that another scope has", err, precis.CodeNotFound)
			in.wantCode("AddEdit at what another scope has", in.AddEdit(s.ctx, "", pin(at[i%3+1], "x")), precis.CodeNotFound)
		}
		checkScope(in, at, i%3, owner)
	}
	s.within("a").purgeOf(store.PurgeQuery{All: true})
	checkPurgedScope(s.within("a"), at[0])
	for i, owner := range owners {
		if owner != "a" {
			checkScope(s.within(owner), at, i%3, owner)
		}
	}
}

// checkEmpty checks that a scope has no data of other scopes.
func checkEmpty(s *suite, node precis.Fingerprint, owner string) {
	s.Helper()
	_, _, err := s.Load(s.ctx, node)
	s.wantCode("Load in an empty scope", err, precis.CodeNotFound)
	if c, ok := s.Store.(store.Summaries); ok {
		_, err := c.Summary(s.ctx, precis.Fingerprint{1})
		s.wantCode("Summary in an empty scope", err, precis.CodeNotFound)
	}
	if c, ok := s.Store.(store.Lister); ok {
		_, err := c.Conversation(s.ctx, "c")
		s.wantCode("Conversation in an empty scope", err, precis.CodeNotFound)
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		if all, err := l.Entries(s.ctx, "", time.Time{}); err != nil || len(all) != 0 {
			s.Errorf("%q: %d entries, %v", owner, len(all), err)
		}
	}
}

func fillScope(s *suite, node precis.Fingerprint, owner string) {
	var errs []error
	if c, ok := s.Store.(store.Summaries); ok {
		errs = append(errs, c.KeepSummary(s.ctx, precis.Fingerprint{1}, owner))
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		errs = append(errs, l.Book(s.ctx, precis.LedgerEntry{Conversation: "c", Before: len(owner)}))
	}
	if c, ok := s.Store.(store.Lister); ok {
		errs = append(errs, c.PutConversation(s.ctx, store.Record{ID: "c", Head: node, Messages: len(owner)}))
	}
	if c, ok := s.Store.(precis.CalibrationStore); ok { // shared by all scopes: the last one is kept
		errs = append(errs, c.SaveCalibration(s.ctx, "m", []byte("state")))
	}
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

// checkScope checks that a scope has the data of fillScope, and the nodes up to a depth.
func checkScope(s *suite, at []precis.Fingerprint, depth int, owner string) {
	s.Helper()
	if c, ok := s.Store.(store.Summaries); ok {
		if text, err := c.Summary(s.ctx, precis.Fingerprint{1}); err != nil || text != owner {
			s.Errorf("%q: summary %q, %v", owner, text, err)
		}
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		for _, id := range []string{"", "c"} {
			if all, err := l.Entries(s.ctx, id, time.Time{}); err != nil || len(all) != 1 || all[0].Before != len(owner) {
				s.Errorf("%q: ledger %v, %v", owner, all, err)
			}
		}
	}
	if c, ok := s.Store.(store.Lister); ok {
		all, err := c.Conversations(s.ctx, store.Query{})
		found, err2 := c.Headed(s.ctx, at)
		one, err3 := c.Conversation(s.ctx, "c")
		if errors.Join(err, err2, err3) != nil || len(all) != 1 || len(found) != 1 || one.Messages != len(owner) {
			s.Errorf("%q: %d records, %d headed, %v", owner, len(all), len(found), errors.Join(err, err2, err3))
		}
	}
	if f, ok := s.Store.(store.Finder); ok {
		if i, err := f.Deepest(s.ctx, at); err != nil || i != depth {
			s.Errorf("%q: deepest %d, %v, want %d", owner, i, err, depth)
		}
	}
	if c, ok := s.Store.(store.Searcher); ok {
		if found, err := c.Search(s.ctx, store.SearchQuery{Text: "scoped"}); err != nil || len(found) != 1 {
			s.Errorf("%q: %d hits, %v", owner, len(found), err)
		}
	}
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if all, err := c.LoadCalibrations(s.ctx); err != nil || string(all["m"]) != "state" {
			s.Errorf("%q: calibrations %q, %v", owner, all, err)
		}
	}
}

func checkPurgedScope(s *suite, node precis.Fingerprint) {
	if _, ok := s.Store.(store.Purger); !ok {
		return
	}
	_, _, err := s.Load(s.ctx, node)
	s.wantCode("Load in a purged scope", err, precis.CodeNotFound)
}

func scopesListed(s *suite) {
	sc := need[store.Scoper](s)
	want := func(names ...string) {
		s.Helper()
		if got, err := sc.Scopes(s.ctx); err != nil || !slices.Equal(got, names) {
			s.Errorf("scopes %q, %v, want %q", got, err, names)
		}
	}
	want()
	_, _, err := sc.Scope("asked").Load(s.ctx, precis.Fingerprint{1})
	s.wantCode("Load", err, precis.CodeNotFound)
	_, err = sc.Scope("refused").Append(s.ctx, precis.Fingerprint{1}, user("x"))
	s.wantCode("Append", err, precis.CodeNotFound)
	want()
	s.within("z").add(precis.Fingerprint{}, user("x"))
	want("z")
	if l, ok := sc.Scope("b").(precis.Ledger); ok {
		if err := l.Book(s.ctx, precis.LedgerEntry{}); err != nil {
			s.Fatal(err)
		}
		want("b", "z")
	}
	s.add(precis.Fingerprint{}, user("x"))
	s.within("Z").add(precis.Fingerprint{}, user("x"))
	s.within("\xff").add(precis.Fingerprint{}, user("x"))
	if _, ok := s.Store.(precis.Ledger); ok {
		want("", "Z", "b", "z", "\xff")
	}
	inner := sc.Scope("z").(store.Scoper).Scope("Z")
	if _, _, err := inner.Load(s.ctx, nodes([]precis.Message{user("x")})[0]); err != nil {
		s.Errorf("a scope of a scope: %v", err)
	}
}

func scopeClosed(s *suite) {
	sc := need[store.Scoper](s)
	for _, owner := range []string{"", "a"} {
		if err := sc.Scope(owner).Close(); err != nil {
			s.Error(err)
		}
	}
	in := s.within("a")
	node := in.add(precis.Fingerprint{}, user("after Close of a scope"))
	if err := s.Close(); err != nil {
		s.Fatal(err)
	}
	for name, err := range in.calls(s.ctx, node) {
		s.wantCode(name+" in a scope of a closed store", err, precis.CodeInternal)
	}
}

// scopesTogether uses scopes concurrently, two goroutines for each owner.
func scopesTogether(s *suite) {
	sc := need[store.Scoper](s)
	errs := together(func(i int) error {
		in := sc.Scope(fmt.Sprint("owner ", i/2))
		var at precis.Fingerprint
		for k := range 5 {
			next, err := in.Append(s.ctx, at, user(fmt.Sprint("message ", k)))
			if err != nil {
				return err
			}
			at = next
		}
		t, _, err := in.Load(s.ctx, at)
		if err == nil && t.Len() != 5 {
			err = fmt.Errorf("%d messages", t.Len())
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
	if all, err := sc.Scopes(s.ctx); err != nil || len(all) != racers/2 {
		s.Errorf("scopes %q, %v", all, err)
	}
}

func testDeepest(s *suite) {
	f := need[store.Finder](s)
	msgs := talk("deepest", 6)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs[:4]...)
	unknown := nodes(talk("unknown", 5000))
	many := append(slices.Clone(unknown), at[1])
	for _, c := range []struct {
		nodes []precis.Fingerprint
		want  int
	}{
		{nil, -1}, {at, 3}, {at[:2], 1}, {at[4:], -1}, {[]precis.Fingerprint{at[3], at[5], at[0], at[4]}, 2}, {at[3:4], 0},
		{[]precis.Fingerprint{{}}, 0}, {[]precis.Fingerprint{at[4], {}, at[5]}, 1}, {[]precis.Fingerprint{{}, at[0]}, 1},
		{unknown, -1}, {many, 5000}, {append(many, unknown...), 5000},
	} {
		if got, err := f.Deepest(s.ctx, c.nodes); err != nil || got != c.want {
			s.Errorf("the deepest of %d nodes: %d, %v, want %d", len(c.nodes), got, err, c.want)
		}
	}
}
