// Package schema reads the migrations of a store: SQL files, one for each version of its schema, in
// order of their names. A released file is never changed.
package schema

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/precis-dev/precis"
)

// Migration migrates the schema from the previous version to Version.
type Migration struct {
	Version int // counted from 1
	Name    string
	SQL     string
}

// Pending returns the migrations that a store of the given version lacks; version 0 is an empty
// store. The error is [precis.CodeInvalid], with the operation and the place, when the store
// belongs to a newer precis.
func Pending(op, place string, files fs.FS, version int) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	if version > len(names) {
		return nil, &precis.Error{
			Code: precis.CodeInvalid, Op: op, Place: place, Hint: "install a newer precis",
			Err: fmt.Errorf("the store has schema version %d, this precis knows up to %d", version,
				len(names)),
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
