package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/sqlite"
	"github.com/precis-dev/precis/store/storetest"
)

func TestStore(t *testing.T) {
	paths := map[precis.Store]string{}
	openAt := func(t *testing.T, path string) precis.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		paths[s] = path
		return s
	}
	storetest.Run(t, func(t *testing.T) precis.Store {
		return openAt(t, filepath.Join(t.TempDir(), "precis.db"))
	}, storetest.Options{Reopen: func(t *testing.T, s precis.Store) precis.Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return openAt(t, paths[s])
	}})
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "precis")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := sqlite.Open(ctx, filepath.Join(dir, "precis.db"), sqlite.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	node, err := s.Append(ctx, precis.Fingerprint{}, precis.NewText(precis.RoleUser, "hello"))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.AddEdit(ctx, "", precis.Edit{ID: "pinned", Kind: precis.KindPin, At: node, Seen: 1, Pins: []precis.Handle{precis.MessageHandle(0)}})
	fmt.Println(err)
	t, edits, err := s.Load(ctx, node)
	fmt.Println(t.Len(), edits[0].ID, err)
	// Output:
	// <nil>
	// 1 pinned <nil>
}
