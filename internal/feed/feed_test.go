package feed_test

import (
	"testing"

	"github.com/precis-dev/precis/internal/feed"
)

func all(int) bool { return true }

func TestMissedEventsAreReplayed(t *testing.T) {
	f := feed.New[int]()
	for i := range 600 {
		f.Publish("", i)
	}
	even := f.Listen("", 590, func(e int) bool { return e%2 == 0 })
	f.Publish("", 600)
	for _, want := range []uint64{591, 593, 595, 597, 599, 601} {
		if got := <-even.C; got.N != want || got.Event != int(want)-1 {
			t.Fatalf("got %+v, want number %d", got, want)
		}
	}
	if l := f.Listen("", 0, all); len(l.C) != 0 {
		t.Errorf("a new listener gets %d old events", len(l.C))
	}
	if l := f.Listen("", 9999, all); len(l.C) != 0 {
		t.Errorf("a listener of an earlier feed gets %d events", len(l.C))
	}
	if l := f.Listen("", 1, all); len(l.C) != cap(l.C) {
		t.Errorf("%d events wait, room is for %d", len(l.C), cap(l.C))
	}
}

func TestSlowListenersAreDropped(t *testing.T) {
	f := feed.New[int]()
	slow, gone := f.Listen("", 0, all), f.Listen("", 0, all)
	gone.Leave()
	gone.Leave()
	for i := range 300 {
		f.Publish("", i)
	}
	n := 0
	for range slow.C {
		n++
	}
	if n != 256 {
		t.Errorf("a slow listener got %d events", n)
	}
	f.Close()
	if f.Listen("", 0, all) != nil {
		t.Error("a closed feed takes listeners")
	}
}

// One owner takes neither all places of listeners nor all that is kept for those who
// come back.
func TestOwnersShareAFeed(t *testing.T) {
	f := feed.New[string]()
	f.Publish("alice", "hers")
	n := 0
	for ; f.Listen("bob", 0, func(string) bool { return false }) != nil; n++ {
	}
	if n == 0 || n >= 256 {
		t.Errorf("bob has %d listeners", n)
	}
	for range 600 {
		f.Publish("bob", "his")
	}
	f.Publish("alice", "hers, too")
	back := f.Listen("alice", 0, func(string) bool { return true })
	if back == nil {
		t.Fatal("alice is refused")
	}
	f.Publish("bob", "his")
	last := (<-back.C).N
	if later := f.Listen("alice", 1, func(e string) bool { return e != "his" }); len(later.C) != 1 || (<-later.C).Event != "hers, too" {
		t.Error("what alice missed was displaced by bob")
	}
	if all := f.Listen("carol", last-1, func(string) bool { return true }); all == nil || (<-all.C).N != last {
		t.Error("the newest event is not kept")
	}
}
