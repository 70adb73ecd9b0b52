//go:build unix

package postgres_test

import (
	"fmt"
	"testing"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/postgres"
	"github.com/precis-dev/precis/store/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	url := database(t) // a schema is made much faster than a database
	schemas := map[precis.Store]string{}
	openAt := func(t *testing.T, schema string) precis.Store {
		t.Helper()
		s, err := postgres.Open(t.Context(), url, postgres.Options{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		schemas[s] = schema
		return s
	}
	storetest.Run(t, func(t *testing.T) precis.Store {
		return openAt(t, fmt.Sprint("store", len(schemas)))
	}, storetest.Options{Reopen: func(t *testing.T, s precis.Store) precis.Store {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return openAt(t, schemas[s])
	}})
}
