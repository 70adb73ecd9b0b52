package shelf

import (
	"strings"
	"testing"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/store"
)

func TestListsAreOrderedAndPaged(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0).UTC() }
	var sh Shelf
	for i, id := range []string{"c", "a", "b"} {
		sh.Open = append(sh.Open, OpenConversation{Record: store.Record{ID: id, Title: "Task " + id, Updated: at(i / 2)}})
	}
	names := func(q conversation.ListQuery) string {
		var out []string
		for {
			page, err := List(t.Context(), []Shelf{sh}, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page.Items {
				out = append(out, l.ID)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return strings.Join(out, "")
			}
		}
	}
	for want, q := range map[string]conversation.ListQuery{"bac": {Limit: 1}, "b": {Since: at(1)}, "ac": {Before: at(1), Limit: 1}, "c": {Text: "TASK C"}, "": {Text: "none"}} {
		if got := names(q); got != want {
			t.Errorf("%+v: %q, want %q", q, got, want)
		}
	}
	for _, cursor := range []string{"?", "bm90aGluZw"} {
		if _, err := List(t.Context(), nil, conversation.ListQuery{Cursor: cursor}); precis.CodeOf(err) != precis.CodeInvalid {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}
