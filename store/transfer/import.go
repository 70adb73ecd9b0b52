package transfer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/store"
)

const opImport = "import store"

// Import adds the data of an [Export] to a store and returns how much it read. Existing data is not
// added again. A more recently updated record stays, and so does an existing calibration of a
// model.
//
// An error names the line in its Place. It is [precis.CodeInvalid] for malformed or truncated data
// and for data that the store cannot keep, and [precis.CodeConflict] for an edit with the ID of
// another one. The data read before the error stays; importing again continues.
func Import(ctx context.Context, r io.Reader, to precis.Store) (Counts, error) {
	x := &importer{ctx: ctx, to: to, scope: to}
	err := x.run(bufio.NewReaderSize(r, 1<<16))
	if err == nil {
		return x.counts, nil
	}
	e := &precis.Error{Code: precis.CodeOf(err), Op: opImport, Place: fmt.Sprint("line ", x.line), Err: err}
	var own *precis.Error
	if errors.As(err, &own) {
		e.Hint = own.Hint
		if own.Op == opImport {
			e.Err = own.Err
		}
	}
	return x.counts, e
}

type importer struct {
	ctx    context.Context
	to     precis.Store
	scope  precis.Store
	line   int // number of the current line
	sums   sums
	counts Counts
	ended  bool

	batch  []precis.Message // to be appended after parent
	size   int
	parent precis.Fingerprint
	node   precis.Fingerprint // after the batch

	// existing entries of the scope, not yet matched by a line; nil: not read
	booked map[[sha256.Size]byte]int
}

func invalid(format string, args ...any) error {
	return precis.Errorf(precis.CodeInvalid, opImport, format, args...)
}

func (x *importer) run(in *bufio.Reader) error {
	for {
		data, err := in.ReadBytes('\n')
		if len(data) == 0 && err == io.EOF {
			break
		}
		x.line++
		if err != nil && err != io.EOF {
			code := precis.CodeInternal
			if x.ctx.Err() != nil {
				code = precis.CodeCanceled
			}
			return errors.Join(precis.Errorf(code, opImport, "%w", err), x.flush())
		}
		if err == io.EOF {
			return errors.Join(invalid("the line is cut off"), x.flush())
		}
		if err := x.read(data); err != nil {
			return errors.Join(err, x.flush())
		}
	}
	if !x.ended {
		return errors.Join(invalid("the last line is missing: the file is cut off"), x.flush())
	}
	return nil
}

// read processes one line.
func (x *importer) read(data []byte) error {
	if err := x.ctx.Err(); err != nil {
		return precis.Errorf(precis.CodeCanceled, opImport, "%w", err)
	}
	l, whole, err := x.sums.decode(x.line, data)
	switch {
	case err != nil:
		return invalid("not what is expected: %w", err)
	case !whole:
		return &precis.Error{Code: precis.CodeInvalid, Op: opImport,
			Hint: "precis repair keeps what is whole of the file",
			Err:  errors.New("the line is not what was written: its sum is another")}
	}
	switch {
	case x.line == 1:
		return checkFormat(l)
	case x.ended:
		return invalid("there is more after the end")
	}
	if l.Message != nil {
		return x.message(*l.Message, len(data))
	}
	if err := x.flush(); err != nil {
		return err
	}
	switch {
	case l.Calibration != nil:
		return x.calibration(*l.Calibration)
	case l.Scope != nil:
		return x.enter(string(*l.Scope))
	case l.Edit != nil:
		return x.edit(*l.Edit)
	case l.Record != nil:
		return x.record(*l.Record)
	case l.Entry != nil:
		return x.entry(*l.Entry)
	case l.End != nil:
		if x.ended = *l.End == x.counts; !x.ended {
			return invalid("the end says there were %+v, but there were %+v", *l.End, x.counts)
		}
		return nil
	}
	return invalid("a line of an unknown kind")
}

func checkFormat(l line) error {
	switch {
	case l.Format != formatName:
		return invalid("not an export of a store")
	case l.Version < 1 || l.Version > formatVersion:
		return &precis.Error{
			Code: precis.CodeInvalid, Op: opImport, Hint: "install a newer precis",
			Err: fmt.Errorf("the format has version %d, this precis knows up to %d", l.Version,
				formatVersion),
		}
	}
	return nil
}

const (
	batchMessages = 100
	batchBytes    = 4 << 20
)

func (x *importer) message(m messageLine, size int) error {
	if m.Parent.Next(m.Body) != m.Node {
		return invalid("the message does not make the node %s", m.Node.Short())
	}
	if len(x.batch) > 0 && (m.Parent != x.node || len(x.batch) == batchMessages || x.size+size > batchBytes) {
		if err := x.flush(); err != nil {
			return err
		}
	}
	if len(x.batch) == 0 {
		x.parent = m.Parent
	}
	x.batch, x.size, x.node = append(x.batch, m.Body), x.size+size, m.Node
	x.counts.Messages++
	return nil
}

// flush appends the messages read so far.
func (x *importer) flush() error {
	if len(x.batch) == 0 {
		return nil
	}
	batch := x.batch
	x.batch, x.size = nil, 0
	_, err := x.scope.Append(x.ctx, x.parent, batch...)
	if precis.CodeOf(err) == precis.CodeNotFound {
		return invalid("messages before this line follow a node that is not there: %w", err)
	}
	return err
}

func (x *importer) calibration(l calibrationLine) error {
	c, ok := x.to.(precis.CalibrationStore)
	if !ok {
		return invalid("the store keeps no calibrations")
	}
	x.counts.Calibrations++
	all, err := c.LoadCalibrations(x.ctx)
	if _, there := all[string(l.Model)]; err != nil || there {
		return err
	}
	return c.SaveCalibration(x.ctx, string(l.Model), l.State)
}

func (x *importer) enter(owner string) error {
	x.counts.Scopes++
	x.booked = nil
	if s, ok := x.to.(store.Scoper); ok {
		x.scope = s.Scope(owner)
	} else if owner != "" {
		return invalid("the store has no scopes")
	}
	return nil
}

// edit records an edit. If the store has others on its path, it is added after them.
func (x *importer) edit(l editLine) error {
	x.counts.Edits++
	err := x.scope.AddEdit(x.ctx, l.After, l.Edit)
	for precis.CodeOf(err) == precis.CodeConflict {
		_, edits, failed := x.scope.Load(x.ctx, l.Edit.At)
		if failed != nil {
			return failed
		}
		newest := ""
		for _, e := range edits {
			newest = e.ID
			if e.ID == l.Edit.ID {
				if sameDecision(e, l.Edit) {
					return nil
				}
				return err
			}
		}
		if newest == l.After {
			return err
		}
		l.After = newest
		err = x.scope.AddEdit(x.ctx, l.After, l.Edit)
	}
	return err
}

// sameDecision reports whether two edits are equal, ignoring the fields that stores ignore.
func sameDecision(a, b precis.Edit) bool {
	a.Time, a.Run, a.Report = b.Time, b.Run, b.Report
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

func (x *importer) record(l recordLine) error {
	c, ok := x.scope.(store.Lister)
	if !ok {
		return invalid("the store keeps no records")
	}
	x.counts.Conversations++
	l.Record.ID = string(l.ID)
	there, err := c.Conversation(x.ctx, l.Record.ID)
	switch {
	case err == nil && there.Updated.After(l.Record.Updated):
		return nil
	case err != nil && precis.CodeOf(err) != precis.CodeNotFound:
		return err
	}
	return c.PutConversation(x.ctx, l.Record)
}

// entry books an entry, unless the ledger had it before the import. An entry that occurs twice in
// the file is booked twice.
func (x *importer) entry(e precis.LedgerEntry) error {
	l, ok := x.scope.(precis.Ledger)
	if !ok {
		return invalid("the store keeps no ledger")
	}
	x.counts.Entries++
	if x.booked == nil {
		all, err := l.Entries(x.ctx, "", time.Time{})
		if err != nil {
			return err
		}
		x.booked = map[[sha256.Size]byte]int{}
		for _, e := range all {
			x.booked[entryKey(e)]++
		}
	}
	if key := entryKey(e); x.booked[key] > 0 {
		x.booked[key]--
		return nil
	}
	return l.Book(x.ctx, e)
}

func entryKey(e precis.LedgerEntry) [sha256.Size]byte {
	data, _ := json.Marshal(e) // not expected to fail: it was read from JSON
	return sha256.Sum256(data)
}
