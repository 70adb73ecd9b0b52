package postgres

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/schema"
)

// migrations hold the schema, see package schema.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the schema lacks, all or none. The table precis_migrations
// records the applied ones, and marks the schema as ours.
func (s *database) migrate(ctx context.Context) error {
	return s.update(ctx, opOpen, func(tx pgx.Tx) error {
		// One replica at a time; the others then see its result.
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('precis migrations ' || $1, 0))`, s.schema)
		if err != nil {
			return err
		}
		version, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		pending, err := schema.Pending(opOpen, s.place, migrations, version)
		if err != nil {
			return err
		}
		for _, m := range pending {
			if err := apply(ctx, tx, m); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		return nil
	})
}

// version returns the schema's version, 0 for an empty one. It creates a missing schema, but not
// with IF NOT EXISTS, which needs the right to create one even if it exists.
func (s *database) version(ctx context.Context, tx pgx.Tx) (int, error) {
	var there, ours bool
	var tables int
	err := tx.QueryRow(ctx, `SELECT count(n.oid) > 0, count(c.oid), coalesce(bool_or(c.relname = 'precis_migrations'), false)
		FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid WHERE n.nspname = $1`,
		s.schema).Scan(&there, &tables, &ours)
	switch {
	case err != nil:
		return 0, err
	case ours:
		var version int
		err := tx.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM precis_migrations`).Scan(&version)
		return version, err
	case tables > 0:
		return 0, &precis.Error{
			Code: precis.CodeInvalid, Op: opOpen, Place: s.place, Hint: "name another schema",
			Err: fmt.Errorf("the schema has %d tables and indexes of another program", tables),
		}
	case !there:
		if _, err := tx.Exec(ctx, `CREATE SCHEMA `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return 0, err
		}
	}
	_, err = tx.Exec(ctx, `CREATE TABLE precis_migrations (
		version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())`)
	return 0, err
}

func apply(ctx context.Context, tx pgx.Tx, m schema.Migration) error {
	if _, err := tx.Exec(ctx, m.SQL); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO precis_migrations (version, name) VALUES ($1, $2)`, m.Version, m.Name)
	return err
}
