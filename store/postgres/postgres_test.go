//go:build unix

package postgres_test

import (
	"testing"

	"precis"
	"precis/store/postgres"
	"precis/store/storetest"
)

func TestStore(t *testing.T) {
	urls := map[precis.Store]string{}
	openAt := func(t *testing.T, url string) precis.Store {
		t.Helper()
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		urls[s] = url
		return s
	}
	storetest.Run(t, func(t *testing.T) precis.Store {
		return openAt(t, database(t))
	}, storetest.Options{Reopen: func(t *testing.T, s precis.Store) precis.Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return openAt(t, urls[s])
	}})
}
