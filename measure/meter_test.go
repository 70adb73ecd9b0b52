package measure

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/precis-dev/precis"
)

type countBlocks struct{ counted *int }

func (c countBlocks) Name() string { return "blocks" }
func (c countBlocks) Count(m precis.Message) int {
	*c.counted++
	return 4 + len(m.Content)
}

func TestMeterRendersOnlyWhatIsNew(t *testing.T) {
	counted := 0
	m := New(countBlocks{&counted})
	tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "a"), precis.NewText(precis.RoleAssistant, "b"), precis.NewText(precis.RoleUser, "c"))
	hide := precis.Edit{ID: "1", Replace: []precis.Replacement{{From: 0, To: 2, With: []precis.Message{precis.NewText(precis.RoleUser, "short")}}}}
	shorten := precis.Edit{ID: "2", Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.Text{Text: "c!"})}}
	far := precis.Edit{ID: "3", Replace: []precis.Replacement{{From: 4, To: 6}}}
	for k, edits := range [][]precis.Edit{nil, {hide}, {hide, shorten}, {hide, shorten, far}, {hide}, nil} {
		for range 4 {
			tr.Append(precis.NewText(precis.RoleAssistant, fmt.Sprint(k, tr.Len())))
			got, want := m.Units(tr, edits), precis.Units(tr, edits)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("step %d with %d messages:\n got %v\nwant %v", k, tr.Len(), got, want)
			}
			if m.View(tr.Render(got)) != New(countBlocks{new(int)}).View(tr.Render(want)) {
				t.Fatalf("step %d: counted otherwise", k)
			}
		}
	}
	m.View(tr.Render(m.Units(tr, nil)))
	before := counted
	tr.Append(precis.NewText(precis.RoleUser, "new"))
	m.View(tr.Render(m.Units(tr, nil)))
	if counted != before+1 {
		t.Errorf("%d messages were counted, want the new one", counted-before)
	}
	other := precis.NewTranscript(precis.NewText(precis.RoleUser, "z"))
	if got := m.Units(other, nil); len(got) != 1 || got[0].Messages[0].PlainText() != "z" {
		t.Errorf("another transcript shows %v", got)
	}
}

// TestAMeterCountsWhenItIsAsked: making one counts nothing, which may load tables; a block is counted without its message's framing.
func TestAMeterCountsWhenItIsAsked(t *testing.T) {
	counted := 0
	m := New(countBlocks{&counted})
	if counted != 0 {
		t.Errorf("%d messages were counted before anything was asked", counted)
	}
	for range 2 {
		if got := m.Block(precis.RoleUser, precis.Text{Text: "x"}); got != 1 {
			t.Errorf("a block counts %d, want 1", got)
		}
	}
	if counted != 4 { // the framing once, by two messages
		t.Errorf("%d messages were counted", counted)
	}
}

func TestMeterForgetsWhatWasOnlyTried(t *testing.T) {
	counted := 0
	m := New(countBlocks{&counted})
	conv := &precis.Conversation{Transcript: precis.NewTranscript(precis.NewText(precis.RoleUser, "a"), precis.NewText(precis.RoleAssistant, "b"))}
	for i := range 100 {
		m.Message(precis.NewText(precis.RoleUser, fmt.Sprint("tried ", i)))
	}
	m.View(conv.Transcript.Messages())
	m.AdoptView(conv, nil, precis.Units(conv.Transcript, nil))
	if len(m.memo) != 2 {
		t.Errorf("%d counts are kept, want 2", len(m.memo))
	}
	before := counted
	m.View(conv.Transcript.Render(m.Units(conv.Transcript, nil)))
	if counted != before {
		t.Errorf("%d messages were counted again", counted-before)
	}
}

func TestMeterKnowsTheMessagesThroughAnotherTranscript(t *testing.T) {
	counted := 0
	m := New(countBlocks{&counted})
	tr := precis.NewTranscript(precis.NewText(precis.RoleUser, "a"), precis.NewText(precis.RoleAssistant, "b"), precis.NewText(precis.RoleUser, "c"))
	edits := []precis.Edit{{ID: "1", Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.Text{Text: "c!"})}}}
	look := func(t *precis.Transcript) { m.View(t.Render(m.Units(t, edits))) }
	look(tr)
	before, kept := counted, len(m.memo)
	for range 50 {
		look(tr.Prefix(3))
	}
	if counted != before || len(m.memo) != kept {
		t.Errorf("%d messages were counted again, %d counts are kept, want %d", counted-before, len(m.memo), kept)
	}
	other := precis.NewTranscript(append([]precis.Message{precis.NewText(precis.RoleUser, "a")}, tr.Messages()[1:]...)...) // the same said, from other bytes
	for range 50 {
		look(other)
		look(tr)
	}
	if len(m.memo) > kept+1 {
		t.Errorf("%d counts are kept, want at most %d", len(m.memo), kept+1)
	}
	if got := m.Units(other, edits); &got[0].Messages[0].Content[0] != &other.Messages()[0].Content[0] {
		t.Error("a view has the bytes of another transcript")
	}
}
