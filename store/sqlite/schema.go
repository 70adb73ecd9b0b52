package sqlite

import (
	"context"
	"embed"
	"fmt"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store/internal/schema"
)

// migrations hold the schema, see package schema.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as ours ("prcs"), so that we never write to another program's
// file.
const applicationID = 0x70726373

// migrate applies the migrations that the file lacks, all or none. PRAGMA user_version counts the
// applied ones.
func (s *Store) migrate(ctx context.Context) error {
	return s.update(ctx, opOpen, func(tx call) error {
		version, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		pending, err := schema.Pending(opOpen, s.path, migrations, version)
		if err != nil || len(pending) == 0 {
			return err
		}
		for _, m := range pending {
			if _, err := tx.ExecContext(ctx, m.SQL); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			version = m.Version
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d",
			applicationID, version))
		return err
	})
}

// version returns the schema version of the file, 0 for an empty one.
func (s *Store) version(ctx context.Context, tx call) (int, error) {
	var id, version, tables int
	err := tx.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &tables)
	if err != nil {
		return 0, err
	}
	empty := id == 0 && version == 0 && tables == 0
	if !empty && (id != applicationID || version < 1) {
		return 0, &precis.Error{
			Code: precis.CodeInvalid, Op: opOpen, Place: s.path,
			Err: fmt.Errorf("a SQLite file of another program (application id %#x)", id),
		}
	}
	return version, nil
}
