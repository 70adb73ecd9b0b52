package memory_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/memory"
	"github.com/precis-dev/precis/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) precis.Store {
		s := memory.New()
		t.Cleanup(func() { s.Close() })
		return s
	})
}

func Example() {
	ctx := context.Background()
	s := memory.New()
	defer s.Close()
	node, err := s.Append(ctx, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "hello"), precis.NewText(precis.RoleAssistant, "hi"))
	if err != nil {
		fmt.Println(err)
		return
	}
	t, edits, err := s.Load(ctx, node)
	fmt.Println(t.Len(), len(edits), err)
	// Output: 2 0 <nil>
}
