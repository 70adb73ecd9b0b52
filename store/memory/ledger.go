package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"precis"
)

// SaveCalibration replaces the stored state of a model.
func (s *Store) SaveCalibration(ctx context.Context, model string, state []byte) error {
	done, err := s.begin(ctx, "save calibration")
	defer done()
	if err != nil {
		return err
	}
	s.calibrations[model] = bytes.Clone(state)
	return nil
}

// LoadCalibrations returns the stored state of all models.
func (s *Store) LoadCalibrations(ctx context.Context) (map[string][]byte, error) {
	done, err := s.begin(ctx, "load calibrations")
	defer done()
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.calibrations)
	for model, state := range all {
		all[model] = bytes.Clone(state)
	}
	return all, nil
}

// Book adds an entry to the ledger. The error is [precis.CodeInvalid] when it
// has no JSON form.
func (s *Store) Book(ctx context.Context, e precis.LedgerEntry) error {
	const op = "book entry"
	data, err := json.Marshal(e)
	if err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	var stored precis.LedgerEntry
	if err := json.Unmarshal(data, &stored); err != nil {
		return precis.Errorf(precis.CodeInvalid, op, "%w", err)
	}
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return err
	}
	d := s.own()
	i, _ := slices.BinarySearchFunc(d.ledger, e.Time, func(x precis.LedgerEntry, at time.Time) int {
		if x.Time.After(at) {
			return 1
		}
		return -1
	})
	d.ledger = slices.Insert(d.ledger, i, stored)
	return nil
}

// Entries returns the entries of a conversation, or of all for "", made at or
// after since, oldest first; entries of the same time in the order of booking.
func (s *Store) Entries(ctx context.Context, conversation string, since time.Time) ([]precis.LedgerEntry, error) {
	done, err := s.begin(ctx, "read ledger")
	defer done()
	if err != nil {
		return nil, err
	}
	var found []precis.LedgerEntry
	for _, e := range s.mine().ledger {
		if (conversation == "" || e.Conversation == conversation) && !e.Time.Before(since) {
			found = append(found, e)
		}
	}
	return found, nil
}
