package conversation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/precistest"
)

func TestHowMessagesAreShown(t *testing.T) {
	tr := precistest.Talk()
	short := precis.Text{Text: "short"}
	for _, tt := range []struct {
		name  string
		edits []precis.Edit
		i     int
		want  string // state, edit, and the edit of each block
	}{
		{"as said", nil, 0, "shown  []"},
		{"in a hidden span", []precis.Edit{precistest.Hide("a", 1, 4)}, 2, "hidden a []"},
		{"one block shortened", []precis.Edit{precistest.Shorten("a", tr, 9, 1, short)}, 9, "shortened a [ a]"},
		{"all blocks left out", []precis.Edit{precistest.Shorten("a", tr, 3, 0, nil)}, 3, "hidden a [a]"},
		{"shortened, then hidden", []precis.Edit{precistest.Shorten("a", tr, 3, 0, short), precistest.Hide("b", 2, 5)}, 3, "hidden b []"},
		{"the newer of two", []precis.Edit{precistest.Shorten("b", tr, 9, 0, short), precistest.Shorten("a", tr, 9, 1, short)}, 9, "shortened a [b a]"},
		{"restored from a span", []precis.Edit{precistest.Hide("a", 1, 8), precistest.Restore("b", 3, 4)}, 3, "shown  []"},
	} {
		m := messageInfo(tr, tt.i, precis.ShownBy(tr, tt.edits))
		var blocks []string
		for _, b := range m.Blocks {
			blocks = append(blocks, b.Edit)
		}
		by := fmt.Sprint(blocks)
		if strings.Trim(by, "[ ]") == "" {
			by = "[]"
		}
		if got := fmt.Sprintf("%s %s %s", m.State, m.Edit, by); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestViewUnits(t *testing.T) {
	tr := precistest.Talk()
	edits := []precis.Edit{precistest.Hide("a", 1, 4, precis.NewText("user", "[gone]")), precistest.Shorten("b", tr, 9, 0, nil)}
	var got []string
	for _, u := range viewUnits(precis.ShownBy(tr, edits)) {
		line := fmt.Sprintf("%s %s", u.Handle, u.State)
		for _, m := range u.Messages {
			for _, b := range m.Blocks {
				line += fmt.Sprintf(" %s=%.6s", b.Handle, b.Text)
			}
		}
		got = append(got, line)
	}
	want := "m0 shown m0.b0=0 word|m1-m3 hidden =[gone]|m4 shown m4.b0=4 word|m5 shown m5.b0=5 word|m6 shown m6.b0=6 word|m7 shown m7.b0=7 word|m8 shown m8.b0=8 word|m9 shortened m9.b1=and mo"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestHiddenParts(t *testing.T) {
	tr := precistest.Talk()
	shown := precis.ShownBy(tr, []precis.Edit{precistest.Hide("1", 1, 4), precistest.Shorten("2", tr, 9, 0, precis.Text{Text: "short"})})
	for handle, want := range map[string]string{
		"m0": "shown ", "m2": "hidden truncation", "m2.b0": "hidden truncation", "m0-m4": "hidden truncation", "m9": "shortened pruning", "m9.b0": "shortened pruning", "m9.b1": "shown ", "m4-m8": "shown ",
	} {
		h, err := precis.ParseHandle(handle)
		if err != nil {
			t.Fatal(err)
		}
		p := hiddenPart(shown, h)
		if got := string(p.State) + " " + string(p.By); got != want {
			t.Errorf("%s: %s, want %s", handle, got, want)
		}
	}
}

func TestEditInfos(t *testing.T) {
	tr := precistest.Talk()
	undo := func(id string, of ...string) precis.Edit {
		return precis.Edit{ID: id, Kind: precis.KindUndo, Undoes: of}
	}
	edits := []precis.Edit{precistest.Hide("a", 1, 4), precistest.Shorten("b", tr, 9, 0, nil), undo("u", "a"), undo("v", "u")}
	var got []string
	for _, e := range editInfos(edits, edits) {
		got = append(got, fmt.Sprintf("%s %v %s %d %d", e.ID, e.InForce, e.UndoneBy, e.Spans, e.Blocks))
	}
	if s := strings.Join(got, "|"); s != "a true  1 0|b true  0 1|u false v 0 0|v true  0 0" {
		t.Error(s)
	}
	info, err := editInfo(edits, "b")
	if err != nil || len(info.Changes) != 1 || info.Changes[0].Handle != precis.BlockHandle(9, 0) || info.Changes[0].Block != nil {
		t.Errorf("%+v %v", info, err)
	}
	if c := countEdits(edits); c.Total != 4 || c.InForce != 2 || c.Kinds[precis.KindTruncation] != 1 {
		t.Errorf("%+v", c)
	}
}

// A single edit is shown with the steps of its run, which the run's first edit keeps; edits
// that were stored before there were any have none.
func TestAnEditIsShownWithTheStepsOfItsRun(t *testing.T) {
	first, second, old := precistest.Hide("a", 1, 4), precistest.Hide("b", 4, 6), precistest.Hide("old", 6, 7)
	first.Run, second.Run, old.Run = "a", "a", "gone"
	first.Report.Steps = []precis.RungResult{{Rung: "condense", Outcome: precis.OutcomeFailed, Reason: "no model"}, {Rung: "truncate", Outcome: precis.OutcomeAccepted}}
	edits := []precis.Edit{old, first, second}
	for name, want := range map[string]int{"a": 2, "b": 2, "e3": 2, "old": 0} {
		e, err := editInfo(edits, name)
		if err != nil || len(e.Report.Steps) != want {
			t.Errorf("%s: %d steps, want %d: %v", name, len(e.Report.Steps), want, err)
		}
	}
	for i, e := range editInfos(edits, edits) {
		if want := []int{0, 2, 0}[i]; len(e.Report.Steps) != want {
			t.Errorf("%s in a list: %d steps, want %d", e.ID, len(e.Report.Steps), want)
		}
	}
	if edits[2].Report.Steps != nil {
		t.Error("looking changed an edit")
	}
}
