package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"precis"
)

// migrations hold the schema, one file for each version, in order of their
// names. A file that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a SQLite file as ours ("prcs"), so that another
// program's is never written to.
const applicationID = 0x70726373

// migrate applies the migrations that the file lacks, all or none. PRAGMA
// user_version counts those it has.
func (s *Store) migrate(ctx context.Context) error {
	return s.update(ctx, opOpen, func(tx call) error {
		names, err := fs.Glob(migrations, "migrations/*.sql")
		if err != nil {
			return err
		}
		version, err := s.version(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(names) {
			return &precis.Error{
				Code: precis.CodeInvalid, Op: opOpen, Place: s.path, Hint: "install a newer precis",
				Err: fmt.Errorf("the file has schema version %d, this precis knows up to %d", version, len(names)),
			}
		}
		if version == len(names) {
			return nil
		}
		for _, name := range names[version:] {
			text, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, string(text)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(names)))
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
