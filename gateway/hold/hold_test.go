package hold

import (
	"fmt"
	"testing"
	"time"

	"github.com/precis-dev/precis"
)

// One owner cannot order so much that nobody else can.
func TestOrdersAreShared(t *testing.T) {
	t.Parallel()
	s := New(time.Now, func(string, string) {})
	n := 0
	var err error
	for ; err == nil; n++ {
		err = s.Hold("bob", fmt.Sprint("b", n), time.Minute)
	}
	if precis.CodeOf(err) != precis.CodeConflict || n < mostOrders/2 || n > mostOrders {
		t.Errorf("bob has %d orders, then %v", n, err)
	}
	if err := s.Hold("bob", "b0", time.Hour); err != nil {
		t.Errorf("an order that he has, changed: %v", err)
	}
	if err := s.Hold("alice", "a", time.Minute); err != nil {
		t.Errorf("alice: %v", err)
	}
}
