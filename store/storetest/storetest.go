// Package storetest checks that a [precis.Store] keeps its contract. [Run] is called by the tests
// of every store. Tests of optional interfaces (calibrations, a ledger) and of reopening are
// skipped if the store lacks them.
//
// Stores with scopes are tested twice, the second time in a scope, but not with -short.
//
// It checks the following rules in addition to the interfaces:
//
//   - Append without messages returns the parent, if the parent is known.
//   - A node keeps the message it was first appended with.
//   - A message that would not load with the same fingerprint is refused with
//     CodeInvalid, and the whole call stores no message.
//   - Load returns edits in the order in which they were recorded, regardless of
//     their nodes.
//   - Recording the newest edit of a path again with the same after succeeds
//     without a change, even if its Time, Run or Report differ. Any
//     other edit with an ID already used on the path is a conflict.
//   - An edit without an ID, or at the empty conversation, is CodeInvalid.
//   - A scope has the same scopes as its store. The empty conversation is known.
//   - A search without a conversation returns a message shared by several conversations
//     once for each. It does not return messages found only in an earlier form of a
//     conversation.
//   - Purging a message also purges the messages after it. A purge by age keeps a message
//     followed by a newer message that belongs to no conversation.
//
//precis:testonly
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/sample"
	"github.com/precis-dev/precis/store"
)

// Options enable additional tests. The zero value runs the tests for every store.
type Options struct {
	// Reopen closes a store made by open and opens it again with the same data; nil for a store
	// that loses its data with Close.
	Reopen func(t *testing.T, s precis.Store) precis.Store
}

// Run tests the stores that open returns. Each one must be empty, and open must arrange for it to
// be closed, normally in a cleanup; closing twice must be harmless. Only the first Options is
// used.
func Run(t *testing.T, open func(t *testing.T) precis.Store, options ...Options) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	scoped := sample.OneIn(t, 0, 1)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			test.f(&suite{T: t, Options: o, Store: s, ctx: t.Context(), open: open})
		})
		if test.whole || !scoped(i) {
			continue
		}
		t.Run("Scope/"+test.name, func(t *testing.T) {
			scoper, ok := open(t).(store.Scoper)
			if !ok {
				t.Skip("has no scopes")
			}
			test.f(&suite{T: t, Store: scoper.Scope("an owner\x00\xff"), ctx: t.Context(), open: open})
		})
	}
}

// tests lists all tests. Those marked whole do not run in a scope.
var tests = []struct {
	name  string
	f     func(*suite)
	whole bool
}{
	{name: "EveryBlockKeepsItsBytes", f: everyBlock},
	{name: "MessageThatCannotBeKeptIsRefused", f: refused},
	{name: "AppendAgainStoresNothing", f: appendAgain},
	{name: "AppendIsAllOrNothing", f: appendAllOrNothing},
	{name: "BranchesShareTheirBeginning", f: branches},
	{name: "FirstFormStays", f: firstForm},
	{name: "EmptyConversation", f: emptyConversation},
	{name: "UnknownIsNotFound", f: unknown},
	{name: "Body", f: body},
	{name: "LoadedValuesAreTheCallers", f: loadedValues},
	{name: "LargeConversation", f: large},
	{name: "EditsHoldForDescendants", f: testEditsOfDescendants},
	{name: "EditsComeInTheOrderOfRecording", f: recordingOrder},
	{name: "EditKeepsItsBytes", f: editBytes},
	{name: "EditNeedsTheNewestSeen", f: testEditConflicts},
	{name: "EditRecordedAgain", f: recordedAgain},
	{name: "EditNeedsAnIDAndANode", f: badEdits},
	{name: "UndoAndRestore", f: undo},
	{name: "ManagerRecords", f: manager},
	{name: "OneEditWins", f: oneWins},
	{name: "RetriedEditsAllArrive", f: allArrive},
	{name: "ConcurrentAppends", f: concurrentAppends},
	{name: "Canceled", f: canceled},
	{name: "Closed", f: closed, whole: true},
	{name: "ClosedInTheMiddle", f: closedInTheMiddle, whole: true},
	{name: "Reopened", f: reopened, whole: true},
	{name: "Calibrations", f: calibrations},
	{name: "Windows", f: windows},
	{name: "Summaries", f: summaries},
	{name: "Ledger", f: ledger},
	{name: "BookedTogether", f: bookAll},
	{name: "SpentByAllOwners", f: spent},
	{name: "SumsOfTheLedger", f: sums},
	{name: "LikeTheModel", f: likeTheModel},
	{name: "Leases", f: leases},
	{name: "LeaseRace", f: leaseRace},
	{name: "ScopesAreApart", f: scopesApart, whole: true},
	{name: "ScopesAreListed", f: scopesListed, whole: true},
	{name: "ClosingAScope", f: scopeClosed, whole: true},
	{name: "ScopesTogether", f: scopesTogether, whole: true},
	{name: "Deepest", f: testDeepest},
	{name: "RecordKeepsItsFields", f: recordFields},
	{name: "RecordsAreCounted", f: testCount},
	{name: "RecordsAreSelected", f: recordsSelected},
	{name: "RecordsAreReplaced", f: recordsReplaced},
	{name: "Headed", f: headed},
	{name: "RecordsTogether", f: recordsTogether},
	{name: "CatalogReopened", f: catalogReopened, whole: true},
	{name: "SearchFinds", f: searchFinds},
	{name: "SearchTakesAnyQuery", f: searchAnything},
	{name: "SearchShowsAPart", f: searchSnippets},
	{name: "SearchOfSharedMessages", f: searchShared},
	{name: "SearchByRelatedWords", f: searchRelated},
	{name: "SearchOfMany", f: searchMany},
	{name: "PurgeByID", f: testPurgeByID},
	{name: "PurgeOfABranch", f: purgeBranch},
	{name: "PurgeByAge", f: purgeByAge},
	{name: "PurgeOfNothing", f: purgeNothing},
	{name: "PurgeAll", f: purgeAll},
	{name: "PurgeKeepsEarlierForms", f: purgeEarlier},
	{name: "PurgedComesBack", f: purgedComesBack},
	{name: "PurgeTogether", f: purgeTogether},
	{name: "RemoveAndWipe", f: removeAndWipe},
	{name: "PurgeLikeTheModel", f: purgeLikeTheModel},
}

// suite is one test with its store.
type suite struct {
	*testing.T
	Options
	precis.Store
	ctx  context.Context
	open func(*testing.T) precis.Store
}

// add appends messages and checks that the node has the fingerprint of a transcript.
func (s *suite) add(parent precis.Fingerprint, msgs ...precis.Message) precis.Fingerprint {
	s.Helper()
	f, err := s.Append(s.ctx, parent, msgs...)
	if err != nil {
		s.Fatalf("Append after %s: %v", parent.Short(), err)
	}
	return f
}

func (s *suite) load(node precis.Fingerprint) (*precis.Transcript, []precis.Edit) {
	s.Helper()
	t, edits, err := s.Load(s.ctx, node)
	if err != nil {
		s.Fatalf("Load %s: %v", node.Short(), err)
	}
	if got := t.Fingerprint(t.Len()); got != node {
		s.Fatalf("Load %s: the messages have the fingerprint %s", node.Short(), got.Short())
	}
	if l, ok := s.Store.(store.EditLog); ok {
		if alone, err := l.Edits(s.ctx, node); err != nil || form(alone) != form(edits) && len(alone)+len(edits) > 0 {
			s.Fatalf("Edits %s: %s, %v, want %s", node.Short(), form(alone), err, form(edits))
		}
	}
	return t, edits
}

// record adds a pin at a node and returns its ID.
func (s *suite) record(node precis.Fingerprint, after, id string) string {
	s.Helper()
	if err := s.AddEdit(s.ctx, after, pin(node, id)); err != nil {
		s.Fatalf("AddEdit %s after %q: %v", id, after, err)
	}
	return id
}

func (s *suite) wantEdits(node precis.Fingerprint, want ...string) {
	s.Helper()
	_, edits := s.load(node)
	if got := ids(edits); fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("edits at %s: %q, want %q", node.Short(), got, want)
	}
}

// wantCode checks that err is an error of precis with the code.
func (s *suite) wantCode(what string, err error, code precis.Code) {
	s.Helper()
	var e *precis.Error
	if !errors.As(err, &e) || e.Code != code || e.Op == "" {
		s.Errorf("%s: error %v (code %q), want one of precis with code %q", what, err, precis.CodeOf(err), code)
	}
}

// wantMessages compares messages in the form that a store can preserve.
func (s *suite) wantMessages(t *precis.Transcript, want ...precis.Message) {
	s.Helper()
	if t.Len() != len(want) {
		s.Fatalf("%d messages, want %d", t.Len(), len(want))
	}
	for i, w := range want {
		if g, w := form(t.At(i)), form(w); g != w {
			s.Errorf("message %d:\n got %s\nwant %s", i, g, w)
		}
	}
}

func form(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "no stored form: " + err.Error()
	}
	return string(data)
}

func ids(edits []precis.Edit) []string {
	var out []string
	for _, e := range edits {
		out = append(out, e.ID)
	}
	return out
}

func user(text string) precis.Message      { return precis.NewText(precis.RoleUser, text) }
func assistant(text string) precis.Message { return precis.NewText(precis.RoleAssistant, text) }

// talk returns n messages that differ from those of other names.
func talk(name string, n int) []precis.Message {
	msgs := make([]precis.Message, n)
	for i := range msgs {
		msgs[i] = user(fmt.Sprintf("%s: request %d", name, i))
		if i%2 == 1 {
			msgs[i] = assistant(fmt.Sprintf("%s: answer %d", name, i))
		}
	}
	return msgs
}

// pin returns a small edit at a node.
func pin(node precis.Fingerprint, id string) precis.Edit {
	return precis.Edit{ID: id, Kind: precis.KindPin, At: node, Seen: 1, Pins: []precis.Handle{precis.MessageHandle(0)}}
}

// nodes returns the fingerprints after each of the messages.
func nodes(msgs []precis.Message) []precis.Fingerprint {
	t := precis.NewTranscript(msgs...)
	out := make([]precis.Fingerprint, len(msgs))
	for i := range msgs {
		out[i] = t.Fingerprint(i + 1)
	}
	return out
}

// need returns the store as an optional interface, or skips the test.
func need[T any](s *suite) T {
	s.Helper()
	v, ok := s.Store.(T)
	if !ok {
		s.Skipf("is no %T", *new(T))
	}
	return v
}
