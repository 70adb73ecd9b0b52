package transfer

import (
	"bufio"
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

const opExport = "export store"

// Export writes all data that the store can list, and returns the counts. It holds one conversation
// at a time, and the edits of one scope. The error is [precis.CodeInvalid] for a store without a
// [store.Lister]. Data stored during the export may be missing.
func Export(ctx context.Context, from precis.Store, w io.Writer) (Counts, error) {
	out := bufio.NewWriter(w)
	x := &exporter{ctx: ctx, out: out}
	if err := x.run(from); err != nil {
		return x.counts, err
	}
	if err := out.Flush(); err != nil {
		return x.counts, precis.Errorf(precis.CodeInternal, opExport, "%w", err)
	}
	return x.counts, nil
}

type exporter struct {
	ctx    context.Context
	out    *bufio.Writer
	counts Counts
}

func (x *exporter) run(from precis.Store) error {
	if err := x.write(line{Format: formatName, Version: formatVersion}); err != nil {
		return err
	}
	if err := x.calibrations(from); err != nil {
		return err
	}
	owners, scoped := []string{""}, func(string) precis.Store { return from }
	if s, ok := from.(store.Scoper); ok {
		var err error
		if owners, err = s.Scopes(x.ctx); err != nil {
			return err
		}
		scoped = s.Scope
	}
	for _, owner := range owners {
		if err := x.scope(exact(owner), scoped(owner)); err != nil {
			return err
		}
	}
	return x.write(line{End: &x.counts})
}

func (x *exporter) write(l line) error {
	data, err := encode(l)
	if err != nil {
		return precis.Errorf(precis.CodeInternal, opExport, "%w", err)
	}
	if _, err := x.out.Write(data); err != nil {
		return precis.Errorf(precis.CodeInternal, opExport, "%w", err)
	}
	return nil
}

func (x *exporter) calibrations(from precis.Store) error {
	c, ok := from.(precis.CalibrationStore)
	if !ok {
		return nil
	}
	all, err := c.LoadCalibrations(x.ctx)
	if err != nil {
		return err
	}
	for _, model := range slices.Sorted(maps.Keys(all)) {
		if err := x.write(line{Calibration: &calibrationLine{Model: exact(model),
			State: all[model]}}); err != nil {
			return err
		}
		x.counts.Calibrations++
	}
	return nil
}

func (x *exporter) scope(owner exact, s precis.Store) error {
	catalog, ok := s.(store.Lister)
	if !ok {
		return precis.Errorf(precis.CodeInvalid, opExport, "the store cannot list its conversations")
	}
	records, err := catalog.Conversations(x.ctx, store.Query{})
	if err != nil {
		return err
	}
	if err := x.write(line{Scope: &owner}); err != nil {
		return err
	}
	x.counts.Scopes++
	if err := x.conversations(s, records); err != nil {
		return err
	}
	for _, r := range records {
		if err := x.write(line{Record: &recordLine{ID: exact(r.ID), Record: r}}); err != nil {
			return err
		}
		x.counts.Conversations++
	}
	return x.ledger(s)
}

// conversations writes the messages of all records and then the edits.
func (x *exporter) conversations(s precis.Store, records []store.Record) error {
	written := map[precis.Fingerprint]bool{}
	order := editOrder{known: map[editKey]*orderedEdit{}}
	for _, r := range records {
		for _, head := range append([]precis.Fingerprint{r.Head}, r.Earlier...) {
			t, edits, err := s.Load(x.ctx, head)
			if precis.CodeOf(err) == precis.CodeNotFound { // the record names messages that are missing
				continue
			}
			if err != nil {
				return err
			}
			if err := x.messages(t, written); err != nil {
				return err
			}
			order.addPath(t, edits)
		}
	}
	for _, e := range order.sorted() {
		if err := x.write(line{Edit: &e}); err != nil {
			return err
		}
		x.counts.Edits++
	}
	return nil
}

// messages writes the messages of a path that are not written yet.
func (x *exporter) messages(t *precis.Transcript, written map[precis.Fingerprint]bool) error {
	for i, m := range t.Messages() {
		node := t.Fingerprint(i + 1)
		if written[node] {
			continue
		}
		written[node] = true
		if err := x.write(line{Message: &messageLine{Parent: t.Fingerprint(i), Node: node,
			Body: m}}); err != nil {
			return err
		}
		x.counts.Messages++
	}
	return nil
}

func (x *exporter) ledger(s precis.Store) error {
	l, ok := s.(precis.Ledger)
	if !ok {
		return nil
	}
	entries, err := l.Entries(x.ctx, "", time.Time{})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := x.write(line{Entry: &e}); err != nil {
			return err
		}
		x.counts.Entries++
	}
	return nil
}
