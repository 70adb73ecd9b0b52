package reduce_test

import (
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/reduce"
)

// crowd is a conversation in which every rung finds work in every message: the
// same long read, long arguments, images, again and again.
func crowd() []precis.Message {
	long := strings.Repeat("line of the file\n", 100)
	msgs := []precis.Message{text("user", "the task")}
	for i := range 8 {
		id := string(rune('a' + i))
		msgs = append(msgs,
			precis.Message{Role: "assistant", Content: []precis.Block{precis.ToolUse{ID: id, Name: "write_file", Input: []byte(`{"path":"f.go","content":"` + strings.Repeat("x", 3000) + `"}`)}}},
			precis.Message{Role: "user", Content: []precis.Block{precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: long}, precis.Image{Data: id, Width: 9, Height: 9}}}}})
	}
	return append(msgs, text("user", long), text("assistant", long), text("user", "the last words"))
}

func TestNoRungTouchesWhatIsKept(t *testing.T) {
	for _, rung := range []policy.Strategy{reduce.Dedupe{}, reduce.Media{}, reduce.Prune{}, reduce.Truncate{}} {
		s := situation(0, 6, crowd()...)
		s.Settings.RungSettings.MediaKeep = 0
		pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(3), precis.BlockHandle(6, 0)}}
		s.Edits = []precis.Edit{pin}
		s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, 6, 0)
		e, err := rung.Propose(t.Context(), s)
		if err != nil || len(e.Replace) == 0 {
			t.Fatalf("%s proposes nothing (%v)", rung.Name(), err)
		}
		e.ID = "e"
		units := precis.Units(s.Transcript, append(s.Edits, e))
		changed := map[int]bool{}
		for _, u := range units {
			for i := u.From; i < u.To; i++ {
				changed[i] = !u.Original() || u.Changed
			}
		}
		last := s.Transcript.Len() - 1
		for _, i := range []int{3, 6, last, last - 1, last - 2, last - 3} {
			if changed[i] {
				t.Errorf("%s touches message %d, which is kept", rung.Name(), i)
			}
		}
		if !changed[1] && !changed[2] {
			t.Errorf("%s leaves what is old alone: the test shows nothing", rung.Name())
		}
	}
}

func TestClipReportsWhatItBreaks(t *testing.T) {
	big := strings.Repeat("0123456789", 400)
	s := situation(1500, 3, text("user", big), text("assistant", big), text("user", big), text("assistant", "ok"), text("user", big))
	pin := precis.Edit{ID: "p", Kind: precis.KindPin, Pins: []precis.Handle{precis.MessageHandle(1)}}
	s.Edits = []precis.Edit{pin}
	s.Kept = policy.Keep(s.Transcript, s.Edits, s.Meter, 3, 0)
	e, err := reduce.Clip{}.Propose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(e.Report.Notes, "; ")
	if !strings.Contains(notes, "pinned") || !strings.Contains(notes, "last user turn") {
		t.Errorf("notes %q", notes)
	}
}

func TestClipSparesUserTextUpToTheLimit(t *testing.T) {
	big := strings.Repeat("0123456789", 400)
	s := situation(2000, 3, text("user", "task"), text("assistant", big), text("user", big))
	s.Limit = 5000
	view := apply(t, reduce.Clip{}, s)
	if view[2].PlainText() != big || len(view[1].PlainText()) > 1000 {
		t.Errorf("user text %d, assistant text %d characters", len(view[2].PlainText()), len(view[1].PlainText()))
	}
}

func TestClipLeavesWholeBlocksOut(t *testing.T) {
	var blocks []precis.Block
	for range 3000 {
		blocks = append(blocks, precis.Text{Text: "a short remark"})
	}
	s := situation(3000, 1, text("user", "task"), text("assistant", "ok"), precis.Message{Role: "user", Content: blocks})
	if n := s.Meter.View(apply(t, reduce.Clip{}, s)); n > 3000 {
		t.Errorf("%d characters left of many small blocks", n)
	}
	var uses, results []precis.Block
	for i := range 600 {
		id := strings.Repeat("i", i+1)
		uses = append(uses, precis.ToolUse{ID: id, Name: "ls", Input: []byte(`{"path":"a"}`)})
		results = append(results, precis.ToolResult{ToolUseID: id, Content: []precis.Block{precis.Text{Text: "some files"}}})
	}
	s = situation(2000, 1, text("user", "task"), precis.Message{Role: "assistant", Content: uses}, precis.Message{Role: "user", Content: results})
	if n := s.Meter.View(apply(t, reduce.Clip{}, s)); n > 2000 {
		t.Errorf("%d characters left of many calls in one turn", n)
	}
}

func TestTruncateKeepsAToolFirstRecordingValid(t *testing.T) {
	msgs := join(call("0", "bash", `{"command":"x"}`, "first"))
	for range 12 {
		msgs = append(msgs, text("user", strings.Repeat("more ", 20)), text("assistant", "ok"))
	}
	s := situation(0, 1, msgs...)
	view := precis.View(s.Transcript, nil)
	e, err := reduce.Truncate{}.Propose(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	e.ID = "e"
	for _, b := range precis.Check(precis.View(s.Transcript, []precis.Edit{e})) {
		if b.Rule == "pairing" {
			t.Errorf("%v (before: %v)", b, precis.Check(view))
		}
	}
}

func TestTheNewestGroupStaysWhateverIsKept(t *testing.T) {
	msgs := []precis.Message{text("user", "the task")}
	for _, id := range []string{"a", "b", "c", "d"} {
		msgs = append(msgs, call(id, "bash", `{"command":"x"}`, strings.Repeat("out ", 500))...)
	}
	s := situation(0, 0, msgs...)
	view := apply(t, reduce.Truncate{}, s)
	if last := view[len(view)-1]; !last.HasToolResult() || result(view, len(view)-1) != strings.Repeat("out ", 500) {
		t.Errorf("what the model is to answer is gone: %v", last)
	}
}
