package form

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/internal/words"
	"github.com/precis-dev/precis/store"
)

// Record returns the stored form of a record. The error is [precis.CodeInvalid] for an empty ID and
// for a record without a JSON form.
func Record(op string, r store.Record) ([]byte, error) {
	if r.ID == "" {
		return nil, precis.Errorf(precis.CodeInvalid, op, "a record needs an ID")
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	return data, nil
}

// ReadRecord decodes the stored form of the record with the ID, which may be invalid UTF-8 and so
// is stored outside the JSON.
func ReadRecord(id, data []byte) (store.Record, error) {
	var r store.Record
	if json.Unmarshal(data, &r) != nil {
		return r, errors.New("a stored record is damaged")
	}
	r.ID = string(id)
	return r, nil
}

// RecordWords returns the searchable text of a record. The separator byte cannot occur in a query.
func RecordWords(r store.Record) []byte {
	return []byte(strings.Join([]string{words.Fold(r.Title), words.Fold(r.Model), words.Fold(r.Client),
		words.Fold(r.ID)}, "\xff"))
}
