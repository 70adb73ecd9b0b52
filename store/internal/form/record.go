package form

import (
	"encoding/json"
	"errors"
	"strings"

	"precis"
	"precis/internal/words"
	"precis/store"
)

// Record returns the stored form of a record. The error is [precis.CodeInvalid]
// for an empty ID and for what has no JSON form.
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

// ReadRecord reads the stored form of the record with the ID, which JSON does not
// keep when it is no UTF-8.
func ReadRecord(id, data []byte) (store.Record, error) {
	var r store.Record
	if json.Unmarshal(data, &r) != nil {
		return r, errors.New("a stored record is damaged")
	}
	r.ID = string(id)
	return r, nil
}

// RecordWords returns what the text of a query is looked for in. No query holds
// the byte between the fields.
func RecordWords(r store.Record) []byte {
	return []byte(strings.Join([]string{words.Fold(r.Title), words.Fold(r.Model), words.Fold(r.Client), words.Fold(r.ID)}, "\xff"))
}
