package form

import (
	"bytes"
	"encoding/json"
	"time"

	"precis"
)

// Edit returns the stored form of an edit. The error is [precis.CodeInvalid] for
// one without an ID or a node, and for one that has no JSON form.
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

// SameEdit reports whether two edits are the same: all but their Time, Run and
// Report is.
func SameEdit(a, b precis.Edit) bool { return bytes.Equal(decision(a), decision(b)) }

func decision(e precis.Edit) []byte {
	e.Time, e.Run, e.Report = time.Time{}, "", precis.EditReport{}
	data, _ := json.Marshal(e) // it was marshaled before
	return data
}

// CheckRepeat reports a conflict unless the edit found under e's ID at its node
// is e. Found holds one or none.
func CheckRepeat(op string, found []precis.Edit, e precis.Edit) error {
	if len(found) == 0 || !SameEdit(found[0], e) {
		return precis.Errorf(precis.CodeConflict, op, "another edit has the ID %q", e.ID)
	}
	return nil
}

// NotNewest is the conflict of an edit that was to follow after, when newest is
// the ID of the newest edit on its path.
func NotNewest(op, newest, after string) error {
	return precis.Errorf(precis.CodeConflict, op, "%q is the newest edit, not %q", newest, after)
}

// Taken is the conflict of an edit whose ID is another's on its path.
func Taken(op, id string) error {
	return precis.Errorf(precis.CodeConflict, op, "an edit on the path has the ID %q", id)
}
