package precis_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
)

func TestShownNamesTheEdit(t *testing.T) {
	two := func(role precis.Role, texts ...string) precis.Message {
		m := precis.Message{Role: role}
		for _, s := range texts {
			m.Content = append(m.Content, precis.Text{Text: s})
		}
		return m
	}
	tr := precis.NewTranscript(
		two("user", "a"), two("assistant", "b"), two("user", "c", "d"), two("assistant", "e"), two("user", "f"), two("assistant", "g"), two("user", "h"), two("assistant", "i"),
	)
	restore := precis.ReplaceBlock(tr, 4, 0, nil)
	restore.Restore = true
	edits := []precis.Edit{
		{ID: "1", Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: 0, To: 2, With: []precis.Message{two("user", "[hidden]")}}}},
		{ID: "2", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 0, precis.Text{Text: "…"})}},
		{ID: "3", Kind: precis.KindClip, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 2, 1, nil), precis.ReplaceBlock(tr, 3, 0, nil)}},
		{ID: "4", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 4, 0, precis.Text{Text: "…"})}},
		{ID: "5", Kind: precis.KindRestore, Replace: []precis.Replacement{restore}},
		{ID: "6", Kind: precis.KindDedupe, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 5, 0, precis.Text{Text: "g"})}},
		{ID: "7", Kind: precis.KindRewind, Replace: []precis.Replacement{{From: 6, To: 8}}},
		{ID: "8", Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 5, To: 8}}},
		{ID: "9", Kind: precis.KindPruning, Replace: []precis.Replacement{precis.ReplaceBlock(tr, 4, 0, nil)}},
		{ID: "10", Kind: precis.KindUndo, Undoes: []string{"9", "8"}},
	}
	s := precis.ShownBy(tr, edits)
	say := func(l precis.Appearance) string {
		return fmt.Sprintf("%v %v %s %s %d", l.Hidden, l.Changed, l.Edit, l.Kind, len(l.Unit.Messages))
	}
	for i, want := range []string{
		"true false 1 truncation 1", "true false 1 truncation 1", "false true 3 clip 1", "true false 3 clip 0", "false false   1", "false true 6 dedupe 1",
		"true false 7 rewind 0", "true false 7 rewind 0",
	} {
		if got := say(s.Message(i)); got != want {
			t.Errorf("message %d: %s, want %s", i, got, want)
		}
		if got := s.Rewound(i); got != (i >= 6) {
			t.Errorf("message %d rewound: %v", i, got)
		}
	}
	for at, want := range map[[2]int]string{
		{0, 0}: "true false 1 truncation 1", {2, 0}: "false true 2 pruning 1", {2, 1}: "true false 3 clip 1", {4, 0}: "false false   1", {5, 0}: "false false   1",
	} {
		if got := say(s.Block(at[0], at[1])); got != want {
			t.Errorf("block %v: %s, want %s", at, got, want)
		}
	}
	if b := s.Block(2, 0).Block; precis.HashBlock(b) != precis.HashBlock(precis.Text{Text: "…"}) {
		t.Errorf("shown for m2.b0: %v", b)
	}
	covered := precis.ShownBy(tr, edits[:8])
	if l := covered.Message(7); l.Kind != precis.KindCondensation || !covered.Rewound(7) || covered.Rewound(5) {
		t.Errorf("a condensation over a rewind: %+v", l)
	}
	gone := precis.Undone(edits)
	if len(gone) != 2 || gone["9"].ID != "10" || gone["8"].ID != "10" {
		t.Errorf("undone: %v", gone)
	}
}
