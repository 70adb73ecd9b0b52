// Package conversationtest checks that a home of conversations keeps the contract of
// [conversation.Home]. Call [Test] from a test of the home.
//
//precis:testonly
package conversationtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/handoff"
	"github.com/precis-dev/precis/policy"
)

// Place is a home with one conversation in it.
type Place struct {
	Home conversation.Home
	ID   string // of the conversation
	// Rival is another process that edits the same conversation; nil if there can be none.
	Rival conversation.Home
	// Merges reports that edits of both processes are merged if they fit; else the later one
	// fails.
	Merges bool
}

// Window is the context window, in tokens, that a place must have. Its manager uses
// [preset.Frugal] and condenses only when a verb requests it.
const Window = 20_000

// Test checks a home. Open returns a new place with one conversation of the given messages,
// without edits.
func Test(t *testing.T, open func(t *testing.T, msgs []precis.Message) Place) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"looks", testReading},
		{"what does not exist", testUnknownIDs},
		{"undo after two runs", undoTwice},
		{"undo of each run", undoEachRun},
		{"restore of a block in a hidden span", restoreHiddenBlock},
		{"pin of hidden content", pinHidden},
		{"pin and unpin", unpin},
		{"rewind, then undo everything", rewindThenUndoAll},
		{"exclude", exclude},
		{"what would be lost altogether", guard},
		{"excluding a rule", guardExclude},
		{"reword", reword},
		{"a draft, edited and applied", draft},
		{"what an edit would do", testPreview},
		{"what fills the window", composition},
		{"pieces of a view, now and then", pieces},
		{"sizes over time", sizes},
		{"an edit that fails", failingEdit},
		{"a look while it is edited", lookWhileEdited},
		{"edits at once", editsAtOnce},
		{"a condensation that comes too late", testRewindDuringCondense},
		{"a rival was faster", testConcurrentEdit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.run(t, &suite{T: t, Place: open(t, messages())})
		})
	}
}

const (
	reads = 18
	files = 16 // the first ones are read again at the end
)

// messages returns the conversation of an agent that reads files.
func messages() []precis.Message {
	out := []precis.Message{precis.NewText(precis.RoleUser,
		"Read the files one by one. Never write to the disk.")}
	for n := range reads {
		id := fmt.Sprintf("t%d", n)
		var text strings.Builder
		for i := range 24 {
			fmt.Fprintf(&text, "line %d of file %d: the value of setting_%d is %d\n", i, n%files, i*(n%files),
				i*i+n%files)
		}
		out = append(out,
			precis.Message{Role: precis.RoleAssistant,
				Content: []precis.Block{precis.ToolUse{ID: id, Name: "read",
					Input: []byte(fmt.Sprintf(`{"path":"f%02d.txt"}`, n%files))}}},
			precis.Message{Role: precis.RoleUser,
				Content: []precis.Block{precis.ToolResult{ToolUseID: id,
					Content: []precis.Block{precis.Text{Text: text.String()}}}}})
	}
	return out
}

type suite struct {
	*testing.T
	Place
}

// must fails the test for an error.
func must[V any](s *suite) func(V, error) V {
	return func(v V, err error) V {
		s.Helper()
		if err != nil {
			s.Fatal(err)
		}
		return v
	}
}

// view returns the messages that the model sees.
func (s *suite) view() string {
	s.Helper()
	return string(must[conversation.DialectView](s)(conversation.ViewAs(s.Context(), s.Home, s.ID,
		"anthropic")).Messages)
}

func (s *suite) message(i int) conversation.MessageInfo {
	s.Helper()
	list := must[conversation.MessageList](s)(conversation.Messages(s.Context(), s.Home, s.ID,
		conversation.MessageQuery{From: i, Limit: 1}))
	return list.Items[0]
}

// condense reduces the view to a share of its current size.
func (s *suite) condense(share float64) conversation.Condensed {
	s.Helper()
	d := must[conversation.Details](s)(conversation.Status(s.Context(), s.Home, s.ID))
	c := must[conversation.Condensed](s)(conversation.Condense(s.Context(), s.Home, s.ID,
		conversation.CondenseOptions{Target: policy.Tokens(share * float64(d.Status.Tokens))}))
	if !c.Changed {
		s.Fatalf("nothing was condensed: %s", c.Report.Outcome)
	}
	return c
}

// hidden condenses the view and returns the first hidden message with a tool result.
func (s *suite) hidden() int {
	s.Helper()
	s.condense(0.3)
	list := must[conversation.MessageList](s)(conversation.Messages(s.Context(), s.Home, s.ID,
		conversation.MessageQuery{State: conversation.Hidden}))
	for _, m := range list.Items {
		if m.Blocks[0].Type == "tool_result" {
			return m.Handle.From
		}
	}
	s.Fatal("no result is hidden")
	return 0
}

func (s *suite) wants(code precis.Code, what string, err error) {
	s.Helper()
	if precis.CodeOf(err) != code {
		s.Errorf("%s: %v, want %s", what, err, code)
	}
}

// testReading calls the read-only verbs.
func testReading(t *testing.T, s *suite) {
	ctx := t.Context()
	list := must[conversation.Page[conversation.ListItem]](s)(conversation.List(ctx, s.Home,
		conversation.ListQuery{}))
	if len(list.Items) != 1 || list.Items[0].ID != s.ID || list.Items[0].Messages != 2*reads+1 {
		t.Errorf("listed: %+v", list.Items)
	}
	d := must[conversation.Details](s)(conversation.Status(ctx, s.Home, s.ID))
	if d.ID != s.ID || d.Status.Messages != 2*reads+1 || d.Window.Tokens != Window || d.Edits.Total != 0 {
		t.Errorf("status: %+v", d)
	}
	all := must[conversation.MessageList](s)(conversation.Messages(ctx, s.Home, s.ID,
		conversation.MessageQuery{From: -3, Limit: 2}))
	if all.Total != 2*reads+1 || len(all.Items) != 2 || all.Items[0].Handle.From != 2*reads-2 ||
		all.Next == "" {
		t.Errorf("messages: %+v", all)
	}
	shown := must[conversation.Originals](s)(conversation.ReadOriginals(ctx, s.Home, s.ID,
		precis.BlockHandle(2, 0)))
	if len(shown.Messages) != 1 || !strings.Contains(string(shown.Messages[0].Original), "line 3 of file 0") {
		t.Errorf("shown: %+v", shown)
	}
	if v := must[conversation.ViewInfo](s)(conversation.View(ctx, s.Home, s.ID)); len(v.Units) != 2*reads+1 ||
		v.Units[0].State != conversation.Shown {
		t.Errorf("view: %d units", len(v.Units))
	}
	preview := must[conversation.Condensed](s)(conversation.Preview(ctx, s.Home, s.ID,
		conversation.CondenseOptions{Target: 3000}))
	if !preview.Changed || len(preview.Diff) == 0 {
		t.Errorf("preview: %+v", preview)
	}
	if edits := must[conversation.EditList](s)(conversation.Edits(ctx, s.Home, s.ID)); len(edits.Items) > 0 {
		t.Errorf("a preview left %d edits", len(edits.Items))
	}
	found := must[conversation.SearchResults](s)(conversation.Search(ctx, s.Home,
		conversation.SearchOptions{Text: "write disk", Conversation: s.ID}))
	if len(found.Items) != 1 || found.Items[0].Handle != precis.MessageHandle(0) {
		t.Errorf("found: %+v", found)
	}
	if work := must[conversation.WorkState](s)(conversation.Work(ctx, s.Home,
		s.ID)); len(work.State.Requests) == 0 || len(work.State.Files) == 0 ||
		work.State.Files[0].State != "read" {
		t.Errorf("state: %+v", work)
	}
	if c := must[conversation.Composition](s)(conversation.CompositionOf(ctx, s.Home, s.ID)); c.Used == 0 ||
		len(c.Results) != 1 || c.Results[0].Tokens == 0 {
		t.Errorf("composition: %+v", c)
	}
	if r := d.Room; (r.TurnsLeft == nil) != (r.Limit == 0) || r.Growth < 100 || r.Turns != 10 ||
		r.Left != max(r.Limit-d.Status.Tokens, 0) {
		t.Errorf("room: %+v", r)
	}
	if g := must[conversation.Digested](s)(conversation.Digest(ctx, s.Home, s.ID,
		conversation.DigestOptions{Tokens: 500})); !strings.Contains(g.Text, "Never write to the disk") ||
		g.Tokens > 500 {
		t.Errorf("digest: %+v", g)
	}
	if b := must[handoff.Brief](s)(handoff.Write(ctx, s.Home, s.ID,
		handoff.Options{Goal: "write a report"})); !strings.Contains(b.Text, "write a report") ||
		!strings.Contains(b.Text, "Never write to the disk") {
		t.Errorf("brief: %s", b.Text)
	}
	if r := must[conversation.TextPiece](s)(conversation.Read(ctx, s.Home, s.ID, precis.BlockHandle(2, 0),
		conversation.ReadOptions{Lines: 2})); !strings.Contains(r.Text, "line 0 of file 0") ||
		strings.Contains(r.Text, "line 1 of") || r.Next == 0 {
		t.Errorf("read: %+v", r)
	}
	if lost := must[conversation.LossReport](s)(conversation.Loss(ctx, s.Home,
		s.ID)); lost.Messages != 2*reads+1 || lost.Hidden != 0 {
		t.Errorf("loss: %+v", lost)
	}
}

// testUnknownIDs calls verbs with IDs, handles and options that do not exist.
func testUnknownIDs(t *testing.T, s *suite) {
	ctx, none := t.Context(), "c0"
	_, err := conversation.Status(ctx, s.Home, none)
	s.wants(precis.CodeNotFound, "status", err)
	_, err = conversation.Pin(ctx, s.Home, none, precis.MessageHandle(0))
	s.wants(precis.CodeNotFound, "pin", err)
	_, err = conversation.Edit(ctx, s.Home, s.ID, "e0")
	s.wants(precis.CodeNotFound, "edit", err)
	_, err = conversation.ReadOriginals(ctx, s.Home, s.ID, precis.MessageHandle(1000))
	s.wants(precis.CodeNotFound, "show", err)
	_, err = conversation.Undo(ctx, s.Home, s.ID)
	s.wants(precis.CodeNotFound, "undo", err)
	_, err = conversation.UndoAll(ctx, s.Home, s.ID)
	s.wants(precis.CodeNotFound, "undo all", err)
	_, err = conversation.Restore(ctx, s.Home, s.ID, precis.MessageHandle(0))
	s.wants(precis.CodeNotFound, "restore", err)
	_, err = conversation.Rewind(ctx, s.Home, s.ID, 1000)
	s.wants(precis.CodeNotFound, "rewind", err)
	_, err = conversation.Messages(ctx, s.Home, s.ID, conversation.MessageQuery{State: "gone"})
	s.wants(precis.CodeInvalid, "messages", err)
	_, err = conversation.Search(ctx, s.Home, conversation.SearchOptions{Text: " "})
	s.wants(precis.CodeInvalid, "search", err)
	_, err = conversation.Condense(ctx, s.Home, s.ID, conversation.CondenseOptions{Summarizer: "poet"})
	s.wants(precis.CodeInvalid, "condense", err)
}

func undoTwice(t *testing.T, s *suite) {
	ctx := t.Context()
	whole := s.view()
	s.condense(0.6)
	once := s.view()
	s.condense(0.5)
	if s.view() == once || once == whole {
		t.Fatal("a run changed nothing")
	}
	if got := s.view(); len(got) >= len(once) {
		t.Errorf("the second view has %d bytes, the first %d", len(got), len(once))
	}
	c := must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != once || c.Edit.Kind != precis.KindUndo {
		t.Errorf("undoing the second run does not lead to the first: %+v", c.Edit)
	}
	must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
	if s.view() != whole {
		t.Error("undoing both runs does not lead to the transcript")
	}
	_, err := conversation.Undo(ctx, s.Home, s.ID)
	s.wants(precis.CodeNotFound, "a third undo", err)
}

// undoEachRun condenses in steps, some of which start again from the originals, and undoes them
// one by one.
func undoEachRun(t *testing.T, s *suite) {
	ctx := t.Context()
	views := []string{s.view()}
	for _, share := range []float64{0.6, 0.5, 0.8, 0.7, 0.7} {
		d := must[conversation.Details](s)(conversation.Status(ctx, s.Home, s.ID))
		o := conversation.CondenseOptions{Target: policy.Tokens(share * float64(d.Status.Tokens))}
		if c := must[conversation.Condensed](s)(conversation.Condense(ctx, s.Home, s.ID, o)); c.Changed {
			views = append(views, s.view())
		}
	}
	if len(views) < 4 {
		t.Fatalf("%d runs changed something", len(views)-1)
	}
	for n, want := range slices.Backward(views[:len(views)-1]) {
		c := must[conversation.Change](s)(conversation.Undo(ctx, s.Home, s.ID))
		if s.view() != want {
			t.Fatalf("undoing run %d of %d does not lead to what was there before: %+v", n+1, len(views)-1,
				c.Edit)
		}
	}
	_, err := conversation.Undo(ctx, s.Home, s.ID)
	s.wants(precis.CodeNotFound, "one undo more", err)
}

func restoreHiddenBlock(t *testing.T, s *suite) {
	i := s.hidden()
	h := precis.BlockHandle(i, 0)
	must[conversation.Change](s)(conversation.Restore(t.Context(), s.Home, s.ID, h))
	if m := s.message(i); m.State != conversation.Shown {
		t.Errorf("%s is %s", h, m.State)
	}
	text := fmt.Sprintf("line 3 of file %d:", (i/2-1)%files)
	if !strings.Contains(s.view(), text) {
		t.Errorf("the view lacks %q", text)
	}
	_, err := conversation.Restore(t.Context(), s.Home, s.ID, h)
	s.wants(precis.CodeNotFound, "restoring it again", err)
}

func pinHidden(t *testing.T, s *suite) {
	i := s.hidden()
	before := s.view()
	must[conversation.Change](s)(conversation.Pin(t.Context(), s.Home, s.ID, precis.MessageHandle(i)))
	if m := s.message(i); m.State != conversation.Hidden || !m.Pinned || s.view() != before {
		t.Errorf("a pin shows what is hidden: %+v", m)
	}
	must[conversation.Change](s)(conversation.Restore(t.Context(), s.Home, s.ID, precis.MessageHandle(i)))
	s.condense(0.7)
	if m := s.message(i); m.State == conversation.Hidden {
		t.Error("a run hides what is pinned")
	}
}

func unpin(t *testing.T, s *suite) {
	ctx := t.Context()
	must[conversation.Change](s)(conversation.Pin(ctx, s.Home, s.ID, precis.MessageHandle(2),
		precis.MessageHandle(4)))
	_, err := conversation.Unpin(ctx, s.Home, s.ID, precis.MessageHandle(2), precis.MessageHandle(6))
	s.wants(precis.CodeNotFound, "unpinning what is not pinned", err)
	for range 2 { // pinned again, it can be unpinned again
		must[conversation.Change](s)(conversation.Unpin(ctx, s.Home, s.ID, precis.MessageHandle(2)))
		if s.message(2).Pinned || !s.message(4).Pinned {
			t.Errorf("pinned: m2 %v, m4 %v", s.message(2).Pinned, s.message(4).Pinned)
		}
		must[conversation.Change](s)(conversation.Pin(ctx, s.Home, s.ID, precis.MessageHandle(2)))
	}
}

func rewindThenUndoAll(t *testing.T, s *suite) {
	ctx := t.Context()
	whole := s.view()
	s.condense(0.6)
	must[conversation.Change](s)(conversation.Pin(ctx, s.Home, s.ID, precis.MessageHandle(0)))
	must[conversation.Change](s)(conversation.Rewind(ctx, s.Home, s.ID, 9))
	if m := s.message(12); m.State != conversation.Hidden || m.Kind != precis.KindRewind {
		t.Errorf("after a rewind, message 12: %+v", m)
	}
	back := must[conversation.UndoResult](s)(conversation.UndoAll(ctx, s.Home, s.ID))
	if s.view() != whole {
		t.Error("undoing everything does not lead to the transcript")
	}
	kinds := func(k precis.EditKind) func(conversation.EditInfo) bool {
		return func(e conversation.EditInfo) bool { return e.Kind == k }
	}
	if !slices.ContainsFunc(back.Edits, kinds(precis.KindRewind)) ||
		!slices.ContainsFunc(back.Edits, kinds(precis.KindPin)) || len(back.Edits) < 3 {
		t.Errorf("taken back: %+v", back.Edits)
	}
	if d := must[conversation.Details](s)(conversation.Status(ctx, s.Home, s.ID)); d.Edits.InForce != 0 {
		t.Errorf("%d edits are in force", d.Edits.InForce)
	}
}

// failingEdit checks edits that fail before and after they have made a change.
func failingEdit(t *testing.T, s *suite) {
	ctx := t.Context()
	failure := errors.New("no")
	if err := s.Home.Edit(ctx, s.ID, func(*conversation.Subject) error { return failure }); !errors.Is(err,
		failure) {
		t.Errorf("the error is %v", err)
	}
	err := s.Home.Edit(ctx, s.ID, func(sub *conversation.Subject) error {
		if _, err := sub.Manager.Pin(ctx, sub.Conversation, precis.MessageHandle(0)); err != nil {
			t.Error(err)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
	if m := s.message(0); !m.Pinned {
		t.Error("the edit before the failure is not recorded")
	}
}

func lookWhileEdited(t *testing.T, s *suite) {
	ctx := t.Context()
	err := s.Home.Edit(ctx, s.ID, func(sub *conversation.Subject) error {
		if _, err := sub.Manager.Pin(ctx, sub.Conversation, precis.MessageHandle(0)); err != nil {
			return err
		}
		if s.message(0).Pinned {
			t.Error("an edit is seen before it is recorded")
		}
		return nil
	})
	if err != nil || !s.message(0).Pinned {
		t.Errorf("afterwards: %v", err)
	}
}

func editsAtOnce(t *testing.T, s *suite) {
	ctx := t.Context()
	const n = 8
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, errs[i] = conversation.Pin(ctx, s.Home, s.ID, precis.MessageHandle(i)) })
	}
	all.Wait()
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
		} else {
			s.wants(precis.CodeConflict, fmt.Sprintf("pin %d", i), err)
		}
		if s.message(i).Pinned != (err == nil) {
			t.Errorf("message %d is pinned: %v, the error was %v", i, s.message(i).Pinned, err)
		}
	}
	edits := must[conversation.EditList](s)(conversation.Edits(ctx, s.Home, s.ID))
	if made == 0 || len(edits.Items) != made {
		t.Errorf("%d of %d edits succeeded, %d are recorded", made, n, len(edits.Items))
	}
}

// interferingHome is a home that runs before ahead of each edit.
type interferingHome struct {
	conversation.Home
	before func()
}

// Edit runs before and then the edit.
func (l interferingHome) Edit(ctx context.Context, id string, f func(*conversation.Subject) error) error {
	l.before()
	return l.Home.Edit(ctx, id, f)
}

// testRewindDuringCondense rewinds the conversation during a condensation, so that some of its messages
// are hidden already. None of the condensation's edits may be in force afterwards.
func testRewindDuringCondense(t *testing.T, s *suite) {
	ctx := t.Context()
	home := interferingHome{s.Home,
		func() { must[conversation.Change](s)(conversation.Rewind(ctx, s.Home, s.ID, 9)) }}
	_, err := conversation.Condense(ctx, home, s.ID, conversation.CondenseOptions{Target: 2000})
	s.wants(precis.CodeConflict, "a condensation of what was rewound", err)
	edits := must[conversation.EditList](s)(conversation.Edits(ctx, s.Home, s.ID))
	for _, e := range edits.Items {
		if e.InForce && e.Kind != precis.KindRewind {
			t.Errorf("in force: %+v", e)
		}
	}
}

// testConcurrentEdit has another process edit the conversation during an edit.
func testConcurrentEdit(t *testing.T, s *suite) {
	if s.Rival == nil {
		t.Skip("nobody else works on these conversations")
	}
	ctx := t.Context()
	err := s.Home.Edit(ctx, s.ID, func(sub *conversation.Subject) error {
		if _, err := conversation.Pin(ctx, s.Rival, s.ID, precis.MessageHandle(2)); err != nil {
			t.Error("the rival:", err)
		}
		_, err := sub.Manager.Pin(ctx, sub.Conversation, precis.MessageHandle(0))
		return err
	})
	if !s.Merges {
		s.wants(precis.CodeConflict, "an edit that was overtaken", err)
	} else if err != nil {
		t.Error("an edit that was overtaken:", err)
	}
	if s.message(0).Pinned != s.Merges || !s.message(2).Pinned {
		t.Errorf("in force: ours %v, the rival's %v", s.message(0).Pinned, s.message(2).Pinned)
	}
	must[conversation.Change](s)(conversation.Pin(ctx, s.Home, s.ID, precis.MessageHandle(0)))
	if !s.message(0).Pinned || !s.message(2).Pinned {
		t.Error("the second try is lost, or the rival's edit is")
	}
	err = s.Home.Edit(ctx, s.ID, func(sub *conversation.Subject) error {
		must[conversation.Change](s)(conversation.Rewind(ctx, s.Rival, s.ID, 5))
		_, err := sub.Manager.Rewind(ctx, sub.Conversation, 7)
		return err
	})
	s.wants(precis.CodeConflict, "an edit that crosses the rival's", err)
}
