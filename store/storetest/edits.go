package storetest

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
)

func testEditsOfDescendants(s *suite) {
	trunk := talk("edits", 5)
	at := nodes(trunk)
	s.add(precis.Fingerprint{}, trunk...)
	side := s.add(at[2], talk("side", 2)...)
	s.record(at[1], "", "early")
	s.record(at[2], "early", "fork") // the node that both share
	s.record(at[4], "fork", "late")
	s.record(side, "fork", "aside")

	s.wantEdits(at[0])
	s.wantEdits(at[1], "early")
	s.wantEdits(at[2], "early", "fork")
	s.wantEdits(at[3], "early", "fork")
	s.wantEdits(at[4], "early", "fork", "late")
	s.wantEdits(side, "early", "fork", "aside")
	s.wantEdits(nodes(append(trunk[:3:3], talk("side", 2)...))[3], "early", "fork")
	s.wantEdits(s.add(at[4], user("later")), "early", "fork", "late")
	s.wantEdits(s.add(at[1], user("another way")), "early")
	s.wantEdits(s.add(precis.Fingerprint{}, user("another conversation")))
}

// recordingOrder checks that edits are in recording order even if a later one is at an earlier
// node, as the earlier edits were decided without it.
func recordingOrder(s *suite) {
	msgs := talk("order", 3)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	s.record(at[2], "", "1 at the end")
	s.record(at[0], "", "2 at the start") // sees no edit: the other one is at a later node
	s.wantEdits(at[2], "1 at the end", "2 at the start")
	s.wantEdits(at[1], "2 at the start")
	s.wantCode("AddEdit without the edit made earlier in the path",
		s.AddEdit(s.ctx, "1 at the end", pin(at[2], "3")), precis.CodeConflict)
	s.record(at[2], "2 at the start", "3")
	s.record(at[1], "2 at the start", "4")
	s.wantEdits(at[2], "1 at the end", "2 at the start", "3", "4")
}

func editBytes(s *suite) {
	msgs := everyKind()
	t := precis.NewTranscript(msgs...)
	s.add(precis.Fingerprint{}, msgs...)
	after := ""
	for i, b := range []precis.Block{
		nil, precis.Text{Text: "short <&>"},
		precis.Opaque{Type: "o", Raw: json.RawMessage("{ \"a\":1 }\xff")},
		precis.ToolUse{ID: "t1", Name: "read", Input: json.RawMessage(` {} `)},
	} {
		e := precis.Edit{
			Run: "run", Kind: precis.KindPruning, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
			Pins: []precis.Handle{precis.SpanHandle(1, 3), precis.BlockHandle(2, i)},
			Replace: []precis.Replacement{
				{From: 0, To: 2, With: msgs[:2]}, {From: 2, To: 4}, {From: 0, To: 2, Restore: true},
				precis.ReplaceBlock(t, 2, 2, b),
			},
			Undoes: []string{"x", "y"},
			Report: precis.EditReport{Rung: "prune", Trigger: "manual", Reason: "<why>", TokensBefore: 9,
				TokensAfter: 3, Messages: 1, Blocks: 1, CostUSD: 0.25, Notes: []string{"a", "b"},
				Steps: []precis.RungResult{
					{Rung: "condense", Outcome: precis.OutcomeFailed, Code: "rate_limited",
						Reason: "try <later> & again",
						Call:   &precis.CallReport{Model: "m", Calls: 2, CostUSD: 0.5}, Before: 9, After: 9,
						Took: time.Second},
					{Rung: "prune", Outcome: precis.OutcomeAccepted, Before: 9, After: 3},
				}},
		}
		if err := e.Identify(t); err != nil {
			s.Fatal(err)
		}
		if err := s.AddEdit(s.ctx, after, e); err != nil {
			s.Fatal(err)
		}
		_, edits := s.load(e.At)
		if got := edits[len(edits)-1]; len(edits) != i+1 || !reflect.DeepEqual(got, e) {
			s.Errorf("%d edits, the last\n got %#v\nwant %#v", len(edits), got, e)
		}
		after = e.ID
	}
}

func testEditConflicts(s *suite) {
	msgs := talk("cas", 4)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	side := s.add(at[0], user("side"))
	s.wantCode("the first after an unknown one", s.AddEdit(s.ctx, "never", pin(at[1], "a")),
		precis.CodeConflict)
	s.wantEdits(at[3])
	s.record(at[1], "", "a")
	for _, c := range []struct {
		name, after string
		node        precis.Fingerprint
	}{
		{"none seen, at the same node", "", at[1]},
		{"none seen, at a descendant", "", at[3]},
		{"an unknown one seen", "never", at[3]},
		{"one below seen", "a", at[0]},
		{"one of a sibling seen", "a", side},
	} {
		s.wantCode(c.name, s.AddEdit(s.ctx, c.after, pin(c.node, "b")), precis.CodeConflict)
	}
	s.wantEdits(at[3], "a")
	s.wantEdits(side)
	s.record(at[3], "a", "b")
	s.wantCode("an older one seen", s.AddEdit(s.ctx, "a", pin(at[3], "c")), precis.CodeConflict)
	s.record(at[2], "a", "d") // b is at a later node
	s.wantCode("one that was overtaken", s.AddEdit(s.ctx, "b", pin(at[3], "c")), precis.CodeConflict)
	s.record(side, "", "a") // an ID is taken on its path only
	s.wantEdits(at[3], "a", "b", "d")
	s.wantEdits(side, "a")
}

func recordedAgain(s *suite) {
	msgs := talk("again", 3)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	s.record(at[1], "", "a")
	s.record(at[1], "", "a")
	retry := pin(at[1], "a")
	retry.Time, retry.Run, retry.Report.Reason = time.Unix(1, 0), "r", "another replica decided the same"
	if err := s.AddEdit(s.ctx, "", retry); err != nil {
		s.Errorf("the same decision again: %v", err)
	}
	_, edits := s.load(at[2])
	if len(edits) != 1 || form(edits[0]) != form(pin(at[1], "a")) {
		s.Errorf("edits %s, want the first one alone", form(edits))
	}
	other := pin(at[1], "a")
	other.Pins[0] = precis.MessageHandle(1)
	s.wantCode("another edit with the ID", s.AddEdit(s.ctx, "", other), precis.CodeConflict)
	s.wantCode("the ID at another node", s.AddEdit(s.ctx, "", pin(at[2], "a")), precis.CodeConflict)
	s.wantCode("the edit after itself", s.AddEdit(s.ctx, "a", pin(at[1], "a")), precis.CodeConflict)
	s.wantCode("the ID after itself, at a descendant", s.AddEdit(s.ctx, "a", pin(at[2], "a")),
		precis.CodeConflict)
	s.record(at[2], "a", "b")
	s.record(at[1], "", "a") // b is not on its path
	s.wantCode("an older ID again", s.AddEdit(s.ctx, "b", pin(at[2], "a")), precis.CodeConflict)
	s.record(at[1], "a", "c")
	s.wantCode("one with a newer one behind it", s.AddEdit(s.ctx, "", pin(at[1], "a")), precis.CodeConflict)
	s.wantEdits(at[2], "a", "b", "c")
}

func badEdits(s *suite) {
	node := s.add(precis.Fingerprint{}, user("hello"))
	s.wantCode("no ID", s.AddEdit(s.ctx, "", pin(node, "")), precis.CodeInvalid)
	s.wantCode("the empty conversation", s.AddEdit(s.ctx, "", pin(precis.Fingerprint{}, "a")),
		precis.CodeInvalid)
	s.wantEdits(node)
}

func undo(s *suite) {
	msgs := talk("undo", 6)
	at := nodes(msgs)
	s.add(precis.Fingerprint{}, msgs...)
	hide := precis.Edit{ID: "hide", Kind: precis.KindTruncation, At: at[3], Seen: 4,
		Replace: []precis.Replacement{{From: 0, To: 2}}}
	if err := s.AddEdit(s.ctx, "", hide); err != nil {
		s.Fatal(err)
	}
	take := precis.Edit{ID: "take back", Kind: precis.KindUndo, At: at[5], Seen: 6, Undoes: []string{"hide"}}
	if err := s.AddEdit(s.ctx, "hide", take); err != nil {
		s.Fatal(err)
	}
	side := s.add(at[4], user("a branch that did not undo"))
	for _, c := range []struct {
		node  precis.Fingerprint
		shown int
	}{{at[3], 2}, {at[4], 3}, {at[5], 6}, {side, 4}} {
		t, edits := s.load(c.node)
		if got := len(precis.View(t, edits)); got != c.shown {
			s.Errorf("at %s: %d messages shown of %d, want %d", c.node.Short(), got, t.Len(), c.shown)
		}
	}
	s.wantEdits(at[5], "hide", "take back")
}

// manager checks that a Manager loads the edits that another one recorded.
func manager(s *suite) {
	msgs := talk("manager", 6)
	node := s.add(precis.Fingerprint{}, msgs...)
	t, edits := s.load(node)
	conv := &precis.Conversation{Transcript: t, Edits: edits}
	m, err := policy.NewManager(policy.Options{Counter: lengths{}, Store: s.Store})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := m.Pin(s.ctx, conv, precis.MessageHandle(1)); err != nil {
		s.Fatal(err)
	}
	if _, err := m.Rewind(s.ctx, conv, 4); err != nil {
		s.Fatal(err)
	}
	t, edits = s.load(node)
	stale := &precis.Conversation{Transcript: t, Edits: edits[:1]}
	_, err = m.Pin(s.ctx, stale, precis.MessageHandle(2))
	s.wantCode("a manager that has not seen the newest edit", err, precis.CodeConflict)
	if _, err := m.Undo(s.ctx, conv); err != nil {
		s.Fatal(err)
	}
	t, edits = s.load(node)
	if form(edits) != form(conv.Edits) {
		s.Errorf("edits\n got %s\nwant %s", form(edits), form(conv.Edits))
	}
	if n := len(precis.View(t, edits)); n != len(msgs) {
		s.Errorf("%d messages shown after the undo", n)
	}
}

// lengths counts bytes; no test depends on it.
type lengths struct{}

func (lengths) Name() string               { return "bytes" }
func (lengths) Count(m precis.Message) int { return len(form(m)) }
