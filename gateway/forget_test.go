package gateway_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/provider/providertest"
	"github.com/precis-dev/precis/store/postgres"
)

// TestReplicasForgetOnce: of two replicas over one database, one removes what is
// old, and vacuums once for all owners and not at all when nothing is old. Both
// forget it in memory.
func TestReplicasForgetOnce(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	up := providertest.New(t, providertest.Options{})
	var gates []*gateway.Gateway
	for _, name := range []string{"a", "b"} {
		st, err := postgres.Open(t.Context(), database, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.Close() })
		base, g := start(t, up.URL, func(o *gateway.Options) { o.Store, o.Shared, o.Replica = st, true, name })
		a := newAgent("anthropic", "I ask "+name+".")
		a.read(1, words(5, 1))
		for _, key := range []string{"k1", "k2"} {
			post(t, base+a.path(), a.body(false), "X-Api-Key", key)
		}
		gates = append(gates, g)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	number := func(query string) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for start := time.Now(); number(`SELECT count(*) FROM precis.catalog`) < 4; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the conversations are not stored")
		}
	}
	forget := func(before time.Time, conversations []int, vacuums int) {
		t.Helper()
		for i, g := range gates {
			res, err := g.Homes().Forget(t.Context(), before, time.Hour)
			if err != nil || res.Conversations != conversations[i] {
				t.Errorf("replica %d: %+v, %v", i, res, err)
			}
		}
		if n := number(`SELECT vacuum_count FROM pg_stat_user_tables WHERE relname = 'nodes'`); n != vacuums {
			t.Errorf("the nodes were vacuumed %d times, want %d", n, vacuums)
		}
	}
	forget(time.Now().Add(-time.Hour), []int{0, 0}, 0)
	forget(time.Now().Add(time.Hour), []int{4, 0}, 1)
	for i, g := range gates {
		if n := g.Status(gateway.AllOwners).Conversations; n != 0 {
			t.Errorf("replica %d still has %d conversations in memory", i, n)
		}
	}
}
