package form

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/precis-dev/precis"
)

// Edit returns the stored form of an edit. The error is [precis.CodeInvalid] for an edit without an
// ID, a node or a JSON form.
func Edit(op string, e precis.Edit) ([]byte, error) {
	if e.ID == "" || e.At.IsZero() {
		return nil, precis.Errorf(precis.CodeInvalid, op, "an edit needs an ID and a node")
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "edit %s: %w", e.ID, err)
	}
	return data, nil
}

// SameEdit reports whether two edits are equal, ignoring Time, Run and Report.
func SameEdit(a, b precis.Edit) bool { return bytes.Equal(decision(a), decision(b)) }

func decision(e precis.Edit) []byte {
	e.Time, e.Run, e.Report = time.Time{}, "", precis.EditReport{}
	data, _ := json.Marshal(e) // not expected to fail: it was marshaled before
	return data
}

// CheckRepeat reports a conflict unless the edit found under e's ID at its node equals e. Found
// holds at most one edit.
func CheckRepeat(op string, found []precis.Edit, e precis.Edit) error {
	if len(found) == 0 || !SameEdit(found[0], e) {
		return precis.Errorf(precis.CodeConflict, op, "another edit has the ID %q", e.ID)
	}
	return nil
}

// NotNewest returns the conflict of an edit to be recorded after the edit named after, when newest
// is the ID of the newest edit on its path.
func NotNewest(op, newest, after string) error {
	return precis.Errorf(precis.CodeConflict, op, "%q is the newest edit, not %q", newest, after)
}

// ErrTaken returns the conflict of an edit with an ID that another edit on its path has.
func ErrTaken(op, id string) error {
	return precis.Errorf(precis.CodeConflict, op, "an edit on the path has the ID %q", id)
}
