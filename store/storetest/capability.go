package storetest

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

// calls makes every call that the store supports.
func (s *suite) calls(ctx context.Context, node precis.Fingerprint) map[string]error {
	errs := map[string]error{}
	_, errs["Append"] = s.Append(ctx, node, user("too late"))
	_, _, errs["Load"] = s.Load(ctx, node)
	errs["AddEdit"] = s.AddEdit(ctx, "", pin(node, "too late"))
	_, errs["Body"] = s.Body(ctx, precis.HashMessage(user("hello")))
	if l, ok := s.Store.(store.EditLog); ok {
		_, errs["Edits"] = l.Edits(ctx, node)
	}
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		errs["SaveCalibration"] = c.SaveCalibration(ctx, "m", []byte("{}"))
		_, errs["LoadCalibrations"] = c.LoadCalibrations(ctx)
	}
	if w, ok := s.Store.(store.Windows); ok {
		errs["SaveWindows"] = w.SaveWindows(ctx, map[string][]byte{"k": []byte("{}")})
		_, errs["LoadWindows"] = w.LoadWindows(ctx)
	}
	if c, ok := s.Store.(store.Summaries); ok {
		errs["KeepSummary"] = c.KeepSummary(ctx, precis.Fingerprint{1}, "text")
		_, errs["Summary"] = c.Summary(ctx, precis.Fingerprint{1})
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		errs["Book"] = l.Book(ctx, precis.LedgerEntry{Conversation: "c", Time: time.Unix(1, 0)})
		_, errs["Entries"] = l.Entries(ctx, "", time.Time{})
	}
	if l, ok := s.Store.(store.Booker); ok {
		errs["BookAll"] = l.BookAll(ctx, []store.OwnedEntry{{LedgerEntry: precis.LedgerEntry{Conversation: "c", Time: time.Unix(1, 0)}}})
	}
	if l, ok := s.Store.(store.Spender); ok {
		_, errs["Spent"] = l.Spent(ctx, time.Time{})
	}
	if l, ok := s.Store.(store.Summer); ok {
		_, errs["SumsByDay"] = l.SumsByDay(ctx, "", time.Time{})
		_, _, errs["SumsByConversation"] = l.SumsByConversation(ctx, "c", time.Time{}, 0)
	}
	s.callsOfCatalog(ctx, errs)
	return errs
}

func (s *suite) callsOfCatalog(ctx context.Context, errs map[string]error) {
	if c, ok := s.Store.(store.Scoper); ok {
		_, errs["Scopes"] = c.Scopes(ctx)
	}
	if f, ok := s.Store.(store.Finder); ok {
		_, errs["Deepest"] = f.Deepest(ctx, []precis.Fingerprint{{1}})
	}
	if l, ok := s.Store.(store.Leaser); ok {
		_, _, errs["Lease"] = l.Lease(ctx, "n", "h", time.Minute)
	}
	if c, ok := s.Store.(store.Lister); ok {
		errs["PutConversation"] = c.PutConversation(ctx, store.Record{ID: "too late"})
		_, errs["Conversation"] = c.Conversation(ctx, "c")
		_, errs["Conversations"] = c.Conversations(ctx, store.Query{})
		if c, ok := s.Store.(store.Census); ok {
			_, errs["CountConversations"] = c.CountConversations(ctx, nil)
		}
		_, errs["Headed"] = c.Headed(ctx, []precis.Fingerprint{{1}})
	}
	if c, ok := s.Store.(store.Searcher); ok {
		_, errs["Search"] = c.Search(ctx, store.SearchQuery{Text: "hello"})
		_, errs["Search without words"] = c.Search(ctx, store.SearchQuery{})
	}
	if p, ok := s.Store.(store.Purger); ok {
		_, errs["Purge"] = p.Purge(ctx, store.PurgeQuery{All: true})
	}
	if w, ok := s.Store.(store.Wiper); ok {
		_, errs["Remove"] = w.Remove(ctx, store.PurgeQuery{All: true})
		errs["Wipe"] = w.Wipe(ctx)
	}
}

func canceled(s *suite) {
	node := s.add(precis.Fingerprint{}, user("hello"))
	gone, cancel := context.WithCancel(s.ctx)
	cancel()
	late, cancel := context.WithDeadline(s.ctx, time.Unix(1, 0))
	defer cancel()
	for _, ctx := range []context.Context{gone, late} {
		for name, err := range s.calls(ctx, node) {
			s.wantCode(name, err, precis.CodeCanceled)
		}
	}
	s.wantEdits(node)
	_, _, err := s.Load(s.ctx, nodes([]precis.Message{user("hello"), user("too late")})[1])
	s.wantCode("what a canceled Append would have stored", err, precis.CodeNotFound)
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if all, err := c.LoadCalibrations(s.ctx); err != nil || len(all) != 0 {
			s.Errorf("calibrations %v, %v", all, err)
		}
	}
	if w, ok := s.Store.(store.Windows); ok {
		if all, err := w.LoadWindows(s.ctx); err != nil || len(all) != 0 {
			s.Errorf("windows %v, %v", all, err)
		}
	}
}

func closed(s *suite) {
	node := s.add(precis.Fingerprint{}, user("hello"))
	if err := s.Close(); err != nil {
		s.Fatal(err)
	}
	for name, err := range s.calls(s.ctx, node) {
		s.wantCode(name+" after Close", err, precis.CodeInternal)
	}
	_ = s.Close() // must not panic
}

// closedInTheMiddle checks that every call during Close returns and that acknowledged data is
// kept.
func closedInTheMiddle(s *suite) {
	root := s.add(precis.Fingerprint{}, user("root"))
	nodes := make([][]precis.Fingerprint, racers)
	for i, err := range together(func(i int) error {
		for k := 0; ; k++ {
			if i == 0 && k == 5 {
				return s.Close()
			}
			f, err := s.Append(s.ctx, root, user(fmt.Sprint("racer ", i, " message ", k)))
			if err != nil {
				return err
			}
			nodes[i] = append(nodes[i], f)
		}
	}) {
		if i > 0 {
			s.wantCode("Append while the store was closed", err, precis.CodeInternal)
		} else if err != nil {
			s.Error(err)
		}
	}
	if s.Reopen == nil {
		return
	}
	s.Store = s.Reopen(s.T, s.Store)
	for _, f := range slices.Concat(nodes...) {
		if t, _ := s.load(f); t.Len() != 2 {
			s.Errorf("%d messages", t.Len())
		}
	}
}

func reopened(s *suite) {
	if s.Reopen == nil {
		s.Skip("does not outlive Close")
	}
	msgs := everyKind()
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	s.record(at[2], "", "a")
	s.record(at[1], "", "b")
	booked := precis.LedgerEntry{Time: time.Unix(1, 2).UTC(), Conversation: "c"}
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if err := c.SaveCalibration(s.ctx, "m", []byte("state")); err != nil {
			s.Fatal(err)
		}
	}
	if w, ok := s.Store.(store.Windows); ok {
		if err := w.SaveWindows(s.ctx, map[string][]byte{"k": []byte("state"), "gone": []byte("state")}); err != nil {
			s.Fatal(err)
		}
		if err := w.SaveWindows(s.ctx, map[string][]byte{"gone": nil}); err != nil {
			s.Fatal(err)
		}
	}
	if c, ok := s.Store.(store.Summaries); ok {
		if err := c.KeepSummary(s.ctx, precis.Fingerprint{7}, "a summary"); err != nil {
			s.Fatal(err)
		}
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		if err := l.Book(s.ctx, booked); err != nil {
			s.Fatal(err)
		}
	}
	s.Store = s.Reopen(s.T, s.Store)
	t, _ := s.load(at[len(at)-1])
	s.wantMessages(t, msgs...)
	s.wantEdits(at[2], "a", "b")
	s.wantCode("AddEdit with what was the newest long ago", s.AddEdit(s.ctx, "a", pin(at[2], "c")), precis.CodeConflict)
	s.record(at[2], "b", "c")
	s.add(at[2], user("another branch"))
	s.wantEdits(at[2], "a", "b", "c")
	if c, ok := s.Store.(precis.CalibrationStore); ok {
		if all, err := c.LoadCalibrations(s.ctx); err != nil || string(all["m"]) != "state" {
			s.Errorf("calibrations %q, %v", all, err)
		}
	}
	if w, ok := s.Store.(store.Windows); ok {
		if all, err := w.LoadWindows(s.ctx); err != nil || len(all) != 1 || string(all["k"]) != "state" {
			s.Errorf("windows %q, %v", all, err)
		}
	}
	if c, ok := s.Store.(store.Summaries); ok {
		if text, err := c.Summary(s.ctx, precis.Fingerprint{7}); err != nil || text != "a summary" {
			s.Errorf("summary %q, %v", text, err)
		}
	}
	if l, ok := s.Store.(precis.Ledger); ok {
		if all, err := l.Entries(s.ctx, "c", time.Time{}); err != nil || !reflect.DeepEqual(all, []precis.LedgerEntry{booked}) {
			s.Errorf("ledger %v, %v", all, err)
		}
	}
}

func summaries(s *suite) {
	c, ok := s.Store.(store.Summaries)
	if !ok {
		s.Skip("keeps no summaries")
	}
	want := map[precis.Fingerprint]string{{}: "of nothing", {1}: "", {2}: "raw \x00\xff", {3}: "要約"}
	for key, text := range want {
		for _, v := range []string{text, "a later one"} { // the first text is kept
			if err := c.KeepSummary(s.ctx, key, v); err != nil {
				s.Fatal(err)
			}
		}
	}
	for key, text := range want {
		if got, err := c.Summary(s.ctx, key); err != nil || got != text {
			s.Errorf("%s: %q, %v, want %q", key.Short(), got, err, text)
		}
	}
	_, err := c.Summary(s.ctx, precis.Fingerprint{4})
	s.wantCode("an unknown summary", err, precis.CodeNotFound)
}

func calibrations(s *suite) {
	c, ok := s.Store.(precis.CalibrationStore)
	if !ok {
		s.Skip("keeps no calibrations")
	}
	want := map[string][]byte{"": []byte("nameless"), "claude <x>": []byte(`{"log":0.1,"reports":3}`), "raw": []byte("\x00\xff"), "empty": {}}
	for model, state := range want {
		for _, v := range [][]byte{[]byte("older"), state} {
			if err := c.SaveCalibration(s.ctx, model, v); err != nil {
				s.Fatal(err)
			}
		}
	}
	for range 2 { // the second time after the caller wrote on the first
		got, err := c.LoadCalibrations(s.ctx)
		if err != nil || len(got) != len(want) {
			s.Fatalf("%d models, %v, want %d", len(got), err, len(want))
		}
		for model, state := range want {
			if string(got[model]) != string(state) {
				s.Errorf("%q: %q, want %q", model, got[model], state)
			}
			for i := range got[model] {
				got[model][i] = 'x'
			}
		}
		delete(got, "")
	}
}

func windows(s *suite) {
	w, ok := s.Store.(store.Windows)
	if !ok {
		s.Skip("keeps no windows")
	}
	save := func(states map[string][]byte) {
		s.Helper()
		if err := w.SaveWindows(s.ctx, states); err != nil {
			s.Fatal(err)
		}
	}
	save(map[string][]byte{"a": []byte("older"), "raw \x00\xff": []byte("\x00\xff"), "gone": []byte("x"), "": {}})
	save(map[string][]byte{"a": []byte(`{"n":1}`), "gone": nil, "never there": nil, "new": []byte("n")})
	save(nil)
	want := map[string]string{"a": `{"n":1}`, "raw \x00\xff": "\x00\xff", "": "", "new": "n"}
	for range 2 { // the second time after the caller wrote on the first
		got, err := w.LoadWindows(s.ctx)
		if err != nil || len(got) != len(want) {
			s.Fatalf("%q, %v, want %q", got, err, want)
		}
		for key, state := range want {
			if v, ok := got[key]; !ok || string(v) != state {
				s.Errorf("%q: %q, want %q", key, v, state)
			}
			for i := range got[key] {
				got[key][i] = 'x'
			}
		}
		delete(got, "")
	}
}

func ledger(s *suite) {
	l, ok := s.Store.(precis.Ledger)
	if !ok {
		s.Skip("keeps no ledger")
	}
	day := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	entry := func(conversation, kind string, at time.Time) precis.LedgerEntry {
		return precis.LedgerEntry{
			Time: at, Conversation: conversation, Model: "m", Kind: kind, EditID: "e", TriggeredBy: precis.TriggeredForced,
			Before: 9, After: 4, Usage: precis.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, CostUSD: 0.1 + 0.2,
		}
	}
	booked := []precis.LedgerEntry{ // in an order that is not that of time
		entry("a", "2", day), entry("b", "4", day.Add(time.Nanosecond)), entry("a", "1", day.Add(-time.Nanosecond)),
		entry("a", "3", day), entry("a", "5", day.Add(time.Hour)), entry("b", "0", time.Time{}),
		entry("a", "6", day.Add(2*time.Hour).In(time.FixedZone("", -5*3600))),
	}
	for _, e := range booked {
		if err := l.Book(s.ctx, e); err != nil {
			s.Fatal(err)
		}
	}
	worthless := entry("a", "7", day)
	worthless.CostUSD = math.NaN()
	s.wantCode("Book of what has no stored form", l.Book(s.ctx, worthless), precis.CodeInvalid)
	for _, c := range []struct {
		conversation string
		since        time.Time
		want         string
	}{
		{"", time.Time{}, "0123456"}, {"a", time.Time{}, "12356"}, {"b", time.Time{}, "04"}, {"never", time.Time{}, ""},
		{"", day, "23456"}, {"a", day, "2356"}, {"", day.Add(1), "456"}, {"b", day.Add(1), "4"}, {"b", day.Add(2), ""},
		{"", day.In(time.FixedZone("", 9*3600)), "23456"}, {"", day.Add(72 * time.Hour), ""},
	} {
		entries, err := l.Entries(s.ctx, c.conversation, c.since)
		got := ""
		for _, e := range entries {
			got += e.Kind
			checkEntry(s.T, e, booked)
		}
		if err != nil || got != c.want {
			s.Errorf("entries of %q since %v: %s, %v, want %s", c.conversation, c.since, got, err, c.want)
		}
	}
}

// bookAll checks that entries of several owners are booked atomically.
func bookAll(s *suite) {
	b := need[store.Booker](s)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ledgers := map[string]precis.Ledger{"": s.Store.(precis.Ledger)}
	if sc, ok := s.Store.(store.Scoper); ok {
		for _, owner := range []string{"", "an owner\x00\xff", "another"} {
			ledgers[owner] = sc.Scope(owner).(precis.Ledger)
		}
	}
	var all []store.OwnedEntry
	want := map[string]string{}
	for i := range 300 {
		for owner := range ledgers {
			e := precis.LedgerEntry{Time: at, Conversation: "c", Kind: fmt.Sprint(len(owner), " ", i), CostUSD: 0.5}
			all = append(all, store.OwnedEntry{Owner: owner, LedgerEntry: e})
			want[owner] += e.Kind + " "
		}
	}
	worthless := all[7]
	worthless.CostUSD = math.NaN()
	s.wantCode("BookAll of what has no stored form", b.BookAll(s.ctx, append(slices.Clone(all), worthless)), precis.CodeInvalid)
	if err := b.BookAll(s.ctx, nil); err != nil {
		s.Errorf("BookAll of nothing: %v", err)
	}
	if err := b.BookAll(s.ctx, all); err != nil {
		s.Fatal(err)
	}
	for owner, l := range ledgers {
		entries, err := l.Entries(s.ctx, "c", time.Time{})
		got := ""
		for _, e := range entries {
			got += e.Kind + " "
		}
		if err != nil || got != want[owner] {
			s.Errorf("%d entries of %q, %v, want the 300 of the second call in their order", len(entries), owner, err)
		}
	}
}

func checkEntry(t *testing.T, e precis.LedgerEntry, booked []precis.LedgerEntry) {
	for _, b := range booked {
		if b.Kind == e.Kind && form(b) != form(e) {
			t.Errorf("entry\n got %s\nwant %s", form(e), form(b))
		}
	}
}

func spent(s *suite) {
	l, ok := s.Store.(precis.Ledger)
	sum, can := s.Store.(store.Spender)
	if !ok || !can {
		s.Skip("sums up no ledger")
	}
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	scopes := []precis.Ledger{l}
	if sc, ok := s.Store.(store.Scoper); ok {
		scopes = append(scopes, sc.Scope("another owner").(precis.Ledger), sc.Scope("").(precis.Ledger))
	}
	for _, l := range scopes {
		for _, e := range []precis.LedgerEntry{
			{Time: day.Add(-1), Kind: "call", CostUSD: 64}, {Time: day, Kind: "call", CostUSD: 0.25}, {Time: day.Add(time.Hour), Kind: "condensation", CostUSD: 0.5},
			{Time: day.Add(time.Hour), Kind: "request", CostUSD: 128}, {Time: day.Add(time.Hour), Kind: "pruning"},
		} {
			if err := l.Book(s.ctx, e); err != nil {
				s.Fatal(err)
			}
		}
	}
	each := float64(len(scopes))
	for since, want := range map[time.Time]float64{
		{}: 64.75 * each, day: 0.75 * each, day.In(time.FixedZone("", 3600)): 0.75 * each, day.Add(1): 0.5 * each, day.Add(48 * time.Hour): 0,
	} {
		if got, err := sum.Spent(s.ctx, since); err != nil || got != want {
			s.Errorf("spent since %v: %g, %v, want %g", since, got, err, want)
		}
	}
}
