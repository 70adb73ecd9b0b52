package precis_test

import (
	"fmt"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/precis-dev/precis"
)

// A checker says of each edit what CheckEdit says of it after those before.
func TestCheckerIsCheckEditInARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var msgs []precis.Message
		n := rapid.IntRange(1, 8).Draw(t, "messages")
		for i := range n {
			msgs = append(msgs, precis.Message{Role: precis.RoleUser, Content: []precis.Block{precis.Text{Text: fmt.Sprint("a", i)}, precis.Text{Text: fmt.Sprint("b", i)}}})
		}
		tr := precis.NewTranscript(msgs...)
		c := precis.NewEditChecker(tr, nil)
		var edits []precis.Edit
		for i := range rapid.IntRange(1, 14).Draw(t, "edits") {
			e := drawEdit(t, tr, edits, i)
			want := precis.CheckEdit(tr, edits, e)
			if got := c.Add(e); precis.CodeOf(got) != precis.CodeOf(want) {
				t.Fatalf("edit %d, %+v: %v, want %v", i, e, got, want)
			}
			if want == nil {
				edits = append(edits, e)
			}
		}
	})
}

func drawEdit(t *rapid.T, tr *precis.Transcript, edits []precis.Edit, i int) precis.Edit {
	e := precis.Edit{ID: fmt.Sprint("e", rapid.SampledFrom([]int{i, i, i, i, i, i, i, 0}).Draw(t, "id")), Kind: precis.KindTruncation}
	known := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint("e", rapid.IntRange(0, len(edits)).Draw(t, "undone")) })
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		e.Kind, e.Undoes = precis.KindUndo, rapid.SliceOfN(known, 1, 3).Draw(t, "undoes")
		return e
	case 1:
		e.Kind, e.Undoes = precis.KindRewind, rapid.SliceOfN(known, 0, 3).Draw(t, "undoes")
	}
	for range rapid.IntRange(1, 3).Draw(t, "replacements") {
		from := rapid.IntRange(-1, tr.Len()).Draw(t, "from")
		r := precis.Replacement{From: from, To: from + rapid.IntRange(0, 4).Draw(t, "length"), Restore: rapid.Bool().Draw(t, "restore")}
		if rapid.Bool().Draw(t, "block") && from >= 0 && from < tr.Len() {
			r = precis.ReplaceBlock(tr, from, rapid.IntRange(0, 1).Draw(t, "index"), nil)
			if rapid.IntRange(0, 5).Draw(t, "wrong") == 0 {
				r.Block.Hash = precis.Fingerprint{}
			}
		}
		e.Replace = append(e.Replace, r)
	}
	return e
}

// Checking edits in a row costs in proportion to their number.
func TestManyEditsAreCheckedInLinearWork(t *testing.T) {
	work := func(n int) uint64 {
		var msgs []precis.Message
		for i := range n {
			msgs = append(msgs, precis.NewText(precis.RoleUser, fmt.Sprint(i)))
		}
		tr := precis.NewTranscript(msgs...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := precis.NewEditChecker(tr, nil)
		for i := range n {
			if err := c.Add(precis.Edit{ID: fmt.Sprint(i), Kind: precis.KindTruncation, Replace: []precis.Replacement{{From: i, To: i + 1}}}); err != nil {
				t.Fatal(err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := work(500), work(2000); many > 8*few {
		t.Errorf("500 edits take %d bytes of memory, 2000 take %d", few, many)
	}
}
