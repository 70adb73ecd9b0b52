package roo_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
)

// TestTagsAreThoseOfTheEditor: a condensation is one message of the user behind what it stands
// for, a millisecond later, whose ID all before it have, once; a truncation is a message of the
// user a millisecond before the first one that is shown again, whose ID only the hidden have.
func TestTagsAreThoseOfTheEditor(t *testing.T) {
	type tagged struct {
		Role             string  `json:"role"`
		TS               float64 `json:"ts"`
		IsSummary        bool    `json:"isSummary"`
		CondenseID       string  `json:"condenseId"`
		CondenseParent   string  `json:"condenseParent"`
		IsMarker         bool    `json:"isTruncationMarker"`
		TruncationID     string  `json:"truncationId"`
		TruncationParent string  `json:"truncationParent"`
	}
	history := func(e precis.Edit) []tagged {
		t.Helper()
		dir := folder(t) // 12 messages, at 1000, 1100 and so on
		if err := open(t, dir).Record(t.Context(), []precis.Edit{e}, time.UnixMilli(9000)); err != nil {
			t.Fatal(err)
		}
		var out []tagged
		if err := json.Unmarshal(open(t, dir).History.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if len(out) != 13 {
			t.Fatalf("%d messages", len(out))
		}
		return out
	}
	summary := precis.Edit{ID: "C", Kind: precis.KindCondensation, Time: time.UnixMilli(5000), Replace: []precis.Replacement{
		{From: 0, To: 10, With: []precis.Message{precis.NewText(precis.RoleUser, "It was read.")}}}}
	for i, m := range history(summary) {
		var want tagged
		switch {
		case i < 10:
			want = tagged{TS: float64(1000 + 100*i), CondenseParent: "C"}
		case i == 10:
			want = tagged{TS: 1901, IsSummary: true, CondenseID: "C"}
		default:
			want = tagged{TS: float64(900 + 100*i)}
		}
		if want.Role = m.Role; m != want || i == 10 && m.Role != "user" {
			t.Errorf("condensed, message %d: %+v", i, m)
		}
	}
	for i, m := range history(truncation("T", 1, 5)) {
		var want tagged
		switch {
		case i == 0 || i > 5:
			want = tagged{TS: float64(1000 + 100*i)}
			if i > 5 {
				want.TS -= 100
			}
		case i == 5:
			want = tagged{TS: 1499, IsMarker: true, TruncationID: "T"}
		default:
			want = tagged{TS: float64(1000 + 100*i), TruncationParent: "T"}
		}
		if want.Role = m.Role; m != want || i == 5 && m.Role != "user" {
			t.Errorf("truncated, message %d: %+v", i, m)
		}
	}
	if tags, _ := open(t, folder(t)).Says(summary); !tags {
		t.Error("the task's files cannot say a condensation")
	}
	if roo.CanTag(precis.Edit{ID: "C", Kind: precis.KindCondensation, Replace: []precis.Replacement{{From: 1, To: 10, With: summary.Replace[0].With}}}) {
		t.Error("a condensation that leaves out the first message is said by tags")
	}
}
