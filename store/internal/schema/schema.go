// Package schema reads the migrations of a store: SQL files, one for each version
// of its schema, in order of their names. A file that was released is never
// changed.
package schema

import (
	"fmt"
	"io/fs"
	"path"

	"precis"
)

// Migration makes the schema of a version out of that of the one before.
type Migration struct {
	Version int // counted from 1
	Name    string
	SQL     string
}

// Pending returns the migrations in files that a store of the version lacks; 0 is
// an empty one. The error is [precis.CodeInvalid], for the operation and the
// place, when the store is that of a newer precis.
func Pending(op, place string, files fs.FS, version int) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	if version > len(names) {
		return nil, &precis.Error{
			Code: precis.CodeInvalid, Op: op, Place: place, Hint: "install a newer precis",
			Err: fmt.Errorf("the store has schema version %d, this precis knows up to %d", version, len(names)),
		}
	}
	var out []Migration
	for i, name := range names[version:] {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		out = append(out, Migration{Version: version + i + 1, Name: path.Base(name), SQL: string(text)})
	}
	return out, nil
}
