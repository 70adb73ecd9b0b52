package memory

import (
	"context"

	"precis"
)

// KeepSummary stores a text under key; one that is there already stays.
func (s *Store) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	done, err := s.begin(ctx, "keep summary")
	defer done()
	if _, ok := s.summaries[key]; err == nil && !ok {
		s.summaries[key] = text
	}
	return err
}

// Summary returns the text stored under key.
func (s *Store) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return "", err
	}
	text, ok := s.summaries[key]
	if !ok {
		return "", precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
	}
	return text, nil
}
