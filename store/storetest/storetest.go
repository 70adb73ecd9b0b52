// Package storetest checks that a [precis.Store] keeps its promises. [Run] is
// called by the tests of every store. What a store need not have (calibrations,
// a ledger, a disk) is skipped when it does not have it.
//
// Beyond what the interfaces say, it settles:
//
//   - Append of nothing returns the parent, if that is known.
//   - A node keeps the message it was first appended with.
//   - A message that does not come back with its own fingerprint is refused with
//     CodeInvalid; nothing of that call is stored.
//   - Load gives edits in the order in which they were recorded, whichever node
//     they are at.
//   - Recording an edit again with the same after, when it is the newest on its
//     path, succeeds and stores nothing, whatever its Time, Run and Report. Any
//     other edit whose ID is taken on the path is a conflict.
//   - An edit without an ID, or at the empty conversation, is CodeInvalid.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"precis"
)

// Options say what else Run can test. The zero value tests what every store
// can.
type Options struct {
	// Reopen closes a store made by open and opens it again in the same place;
	// nil for a store that does not outlive Close.
	Reopen func(t *testing.T, s precis.Store) precis.Store
}

// Run tests the stores that open returns. Each one must be empty and is closed
// by whoever opened it, normally in a cleanup; closing one twice must be
// harmless. At most one Options is looked at.
func Run(t *testing.T, open func(t *testing.T) precis.Store, options ...Options) {
	var o Options
	if len(options) > 0 {
		o = options[0]
	}
	for _, test := range []struct {
		name string
		f    func(*suite)
	}{
		{"EveryBlockKeepsItsBytes", everyBlock},
		{"MessageThatCannotBeKeptIsRefused", refused},
		{"AppendAgainStoresNothing", appendAgain},
		{"AppendIsAllOrNothing", appendAllOrNothing},
		{"BranchesShareTheirBeginning", branches},
		{"FirstFormStays", firstForm},
		{"EmptyConversation", emptyConversation},
		{"UnknownIsNotFound", unknown},
		{"Body", body},
		{"LoadedValuesAreTheCallers", loadedValues},
		{"LargeConversation", large},
		{"EditsHoldForDescendants", descendants},
		{"EditsComeInTheOrderOfRecording", recordingOrder},
		{"EditKeepsItsBytes", editBytes},
		{"EditNeedsTheNewestSeen", compareAndSet},
		{"EditRecordedAgain", recordedAgain},
		{"EditNeedsAnIDAndANode", badEdits},
		{"UndoAndRestore", undo},
		{"ManagerRecords", manager},
		{"OneEditWins", oneWins},
		{"RetriedEditsAllArrive", allArrive},
		{"ConcurrentAppends", concurrentAppends},
		{"Canceled", canceled},
		{"Closed", closed},
		{"ClosedInTheMiddle", closedInTheMiddle},
		{"Reopened", reopened},
		{"Calibrations", calibrations},
		{"Summaries", summaries},
		{"Ledger", ledger},
		{"LikeTheModel", likeTheModel},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			test.f(&suite{T: t, Options: o, Store: s, ctx: t.Context(), open: open})
		})
	}
}

// suite is one test with its store.
type suite struct {
	*testing.T
	Options
	precis.Store
	ctx  context.Context
	open func(*testing.T) precis.Store
}

// add appends and checks that the node is the one a transcript would name.
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

// wantMessages compares stored forms: what a store can keep of a message.
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

// talk returns n messages that no other talk has.
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
