package hits

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store/internal/cut"
)

func TestBest(t *testing.T) {
	l := List{Query: words.NewQuery("a", false)}
	l.Add("a b b b", Place{"y", 1}, Place{"x", 1}, Place{"x", 2})
	l.Add("a a", Place{"z", 7})
	l.Add("b", Place{"never", 1})
	l.Add("a")
	var got string
	for _, h := range l.Best(3) {
		got += fmt.Sprint(h.Conversation, h.Message, " ")
	}
	if want := "z7 x2 x1 "; got != want || l.Len() != 4 {
		t.Errorf("%s of %d, want %s", got, l.Len(), want)
	}
}

func TestPlaces(t *testing.T) {
	s := Shelf{
		Parents: map[int64]cut.Place{2: {Branch: 1, Depth: 3}},
		Heads:   map[string]cut.Place{"trunk": {Branch: 1, Depth: 5}, "fork": {Branch: 2, Depth: 4}},
	}
	nodes := []Node{{cut.Place{Branch: 1, Depth: 3}, 30}, {cut.Place{Branch: 1, Depth: 4}, 40}, {cut.Place{Branch: 2, Depth: 4}, 50}, {cut.Place{Branch: 2, Depth: 5}, 60}}
	got := s.Places(nodes)
	if len(got[30]) != 2 || fmt.Sprint(got[40], got[50], got[60]) != "[{trunk 3}] [{fork 3}] []" {
		t.Errorf("%v", got)
	}
}
