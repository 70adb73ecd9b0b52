package memory

import (
	"context"
	"time"

	"github.com/precis-dev/precis"
)

// summary is a kept text.
type summary struct {
	text   string
	stored time.Time
}

// KeepSummary stores a text under key; one that is there already stays.
func (s *Store) KeepSummary(ctx context.Context, key precis.Fingerprint, text string) error {
	done, err := s.begin(ctx, "keep summary")
	defer done()
	if err != nil {
		return err
	}
	d := s.own()
	if _, ok := d.summaries[key]; !ok {
		d.summaries[key] = summary{text: text, stored: time.Now()}
	}
	return nil
}

// Summary returns the text stored under key.
func (s *Store) Summary(ctx context.Context, key precis.Fingerprint) (string, error) {
	const op = "load summary"
	done, err := s.begin(ctx, op)
	defer done()
	if err != nil {
		return "", err
	}
	kept, ok := s.mine().summaries[key]
	if !ok {
		return "", precis.Errorf(precis.CodeNotFound, op, "summary %s is unknown", key.Short())
	}
	return kept.text, nil
}
