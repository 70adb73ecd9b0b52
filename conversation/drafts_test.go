package conversation

import (
	"fmt"
	"testing"
	"time"
)

// However many drafts one owner makes, drafts of other owners stay.
func TestDraftsOfOthersStay(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := Drafts{Now: func() time.Time { return now }}
	has := func(id string) bool {
		for _, k := range d.unexpired() {
			if k.ID == id {
				return true
			}
		}
		return false
	}
	d.keep(kept{Draft: Draft{ID: "hers"}, owner: "alice"})
	for n := range 2 * mostDrafts {
		d.keep(kept{Draft: Draft{ID: fmt.Sprint("his ", n)}, owner: "bob"})
	}
	if !has("hers") || has("his 0") || !has(fmt.Sprint("his ", 2*mostDrafts-1)) || len(d.all) != mostDrafts {
		t.Errorf("%d drafts are kept; alice's: %v, bob's first: %v", len(d.all), has("hers"), has("his 0"))
	}
	now = now.Add(2 * draftAge)
	if has("hers") {
		t.Error("a draft that is too old is kept")
	}
}
