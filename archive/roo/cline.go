package roo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/internal/filelock"
	"github.com/precis-dev/precis/internal/jsonspan"
)

// Cline stores tasks in the same files as Roo Code, but without Roo's tags. It keeps one range of
// stored messages that it does not send, and reads it from the task's item in [StateName] when
// the task is reopened. Older versions keep these items in the editor's database, which precis
// does not touch. Each UI message records the range at its time; Cline returns to it when the
// message is restored. precis reads the item, or the UI messages if there is no item, and writes
// only the item.
//
// A range is a truncation without a marker text. Cline always keeps the first two messages and
// resumes with the first message after the range, which must be the user's. Cline's own repair of
// calls separated from their results is not reproduced.

// StateName is Cline's list of tasks, with the unsent range of each. It is in the folder "state"
// beside the folder of the tasks.
const StateName = "taskHistory.json"

const (
	clineMember = "conversationHistoryDeletedRange"
	clineHead   = 2 // stored messages that Cline always sends
	clineEdit   = "cline-range"
)

// IsCline reports whether the task belongs to Cline.
func (t *Task) IsCline() bool { return t.agent() == "cline" }

// StatePath returns the path of [StateName] for the task.
func (t *Task) StatePath() string {
	dir := t.dir()
	if abs, err := filepath.Abs(dir); err == nil && !filepath.IsAbs(dir) {
		dir = abs
	}
	return filepath.Join(dir, "..", "..", "state", StateName)
}

// taskID returns the name of the task's folder, which Cline uses as the ID.
func (t *Task) taskID() string {
	dir := t.dir()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// clineState is the content of [StateName] with the position and range of one task.
type clineState struct {
	path string // with links resolved
	data []byte
	list *list
	item int     // index of the task in list
	raw  *string // the range as JSON; nil if the item has none
}

// errNotNamed is the cause of the error for a list that lacks the task.
var errNotNamed = errors.New("it does not name the task")

// readState reads [StateName]. The error is [precis.CodeNotFound] when the file is not there or
// does not name the task, and [precis.CodeInvalid] when it cannot be read.
func (t *Task) readState() (*clineState, error) {
	const instead = "use -o FILE, or --sidecar for precis alone"
	if !IsTask(t.Path) { // a history by itself
		return nil, t.notNamed(t.Path, instead)
	}
	s := &clineState{path: t.StatePath()}
	if path, err := filepath.EvalSymlinks(s.path); err == nil {
		s.path = path
	}
	var err error
	switch s.data, err = archive.ReadFile(s.path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: "hide messages from Cline", Place: s.path,
			Hint: instead,
			Err:  errors.New("the file in which Cline notes what it does not send is not there; older versions keep that in the editor's database")}
	case err != nil:
		return nil, err
	}
	if !bytes.Contains(s.data, quote(t.taskID())) && jsonspan.Valid(s.data) == nil {
		return nil, t.notNamed(s.path, instead)
	}
	if s.list, err = parseList(s.data); err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "hide messages from Cline", Place: s.path,
			Hint: instead,
			Err:  fmt.Errorf("it is not the list of tasks that Cline writes: %w", err)}
	}
	s.item = slices.IndexFunc(s.list.items, func(it listItem) bool { // Cline takes the first
		m, _ := findMember(it.raw, "id")
		id, _ := jsonspan.String(m.Raw)
		return id == t.taskID()
	})
	if s.item < 0 {
		return nil, t.notNamed(s.path, instead)
	}
	if m, ok := findMember(s.list.items[s.item].raw, clineMember); ok {
		raw := string(m.Raw)
		s.raw = &raw
	}
	return s, nil
}

func (t *Task) notNamed(path, hint string) error {
	return &precis.Error{Code: precis.CodeNotFound, Op: "hide messages from Cline", Place: path,
		Err: errNotNamed, Hint: hint}
}

// ts returns when Cline last changed the task's item.
func (s *clineState) ts() float64 {
	m, _ := findMember(s.list.items[s.item].raw, "ts")
	return number(m.Raw)
}

// with returns the file's content with the task's range replaced, or removed if raw is nil.
func (s *clineState) with(raw *string) []byte {
	l := *s.list
	l.items = slices.Clone(l.items)
	it := &l.items[s.item]
	if raw == nil {
		it.raw = dropMember(it.raw, clineMember)
	} else {
		it.raw = setMember(it.raw, clineMember, []byte(*raw))
	}
	return l.bytes()
}

// spanOf parses a range written as JSON; the zero value if raw is nil.
func spanOf(raw *string) [2]int {
	if raw == nil {
		return [2]int{}
	}
	return rangeOf(json.RawMessage(*raw))
}

// rangeChange records how precis changed the range of a Cline task.
type rangeChange struct {
	Was *string `json:"was"` // the range before; nil: there was no range
	Now string  `json:"now"`
}

// clineCut adds Cline's own range as a truncation: the range as it was before precis changed it.
// If Cline has set another range since, the sidecar's edits that made the change are dropped.
func (t *Task) clineCut(r *reading, rec *archive.Recording) {
	span, ts, ok := t.UI.deleted()
	switch state, err := t.readState(); {
	case err == nil:
		t.stateRange = spanOf(state.raw)
		now, own := t.stateRange, t.sidecar.Range
		switch {
		case own == nil:
		case now == spanOf(&own.Now) && t.sidecar.ranges(r.transcript):
			now = spanOf(own.Was)
		default:
			t.sidecar.removeRangeEdits()
			rec.Warn(StateName, "the range that precis wrote is Cline's now: Cline has set another one, or messages have changed")
		}
		if now != span {
			ts = state.ts()
		}
		span, ok = now, now != [2]int{}
	case precis.CodeOf(err) != precis.CodeNotFound:
		rec.Warn(StateName, "left out: %v", err)
	}
	if ok {
		r.clineRange(span, ts)
	}
}

// clineRange adds a truncation for a range of Cline. A newer range includes all older ones.
func (r *reading) clineRange(span [2]int, ts float64) {
	from, to := r.before(span[0]), min(r.before(span[1]+1), r.transcript.Len()-1)
	if len(r.edits) > 0 || from >= to {
		return
	}
	e := precis.Edit{
		ID: clineEdit, Kind: precis.KindTruncation, Time: time.UnixMilli(int64(ts)).UTC(),
		Replace: []precis.Replacement{{From: from, To: to}},
		Report: precis.EditReport{Trigger: string(precis.TriggeredRecorded), Rung: "recorded",
			Reason: fmt.Sprintf("%d messages hidden by Cline", to-from)},
	}
	prefix := r.transcript.Prefix(to + 1)
	e.Seen, e.At = prefix.Len(), prefix.Fingerprint(prefix.Len())
	r.edits = append(r.edits, e)
}

// ClineRange returns the messages that a range of Cline can hide: they begin at message from and
// end before one of ends, ascending. The error is [precis.CodeNotFound] when [StateName] is
// missing or does not name the task, [precis.CodeInvalid] when it is damaged or no message can be
// hidden.
func (t *Task) ClineRange() (from int, ends []int, err error) {
	if _, err = t.readState(); err != nil {
		return 0, nil, err
	}
	r, err := t.History.read(t.UI)
	if err != nil {
		return 0, nil, err
	}
	if from, ends = t.History.rangesOf(r); len(ends) == 0 {
		return 0, nil, &precis.Error{Code: precis.CodeInvalid, Op: "hide messages from Cline", Place: t.Path,
			Hint: "use -o FILE, or --sidecar for precis alone",
			Err:  errors.New("behind the first two messages, which Cline always sends, no message of the user follows an answer")}
	}
	return from, ends, nil
}

// rangesOf returns where a range may begin and end. It begins after the user's first message and
// its answer, and ends before a later user message that follows an answer.
func (h *History) rangesOf(r *reading) (from int, ends []int) {
	role := func(i int) string { return h.entries[i].role }
	if h.Len() <= clineHead || role(0) != "user" || role(1) != "assistant" {
		return 0, nil
	}
	for i := clineHead + 1; i < h.Len(); i++ {
		if role(i) == "user" && role(i-1) == "assistant" {
			ends = append(ends, r.before(i))
		}
	}
	return r.before(clineHead), ends
}

// Ranged reports whether an edit can be written as Cline's range: a truncation of one such span.
func (t *Task) Ranged(e precis.Edit) bool {
	if !t.IsCline() || e.Kind != precis.KindTruncation || len(e.Replace) != 1 {
		return false
	}
	p := e.Replace[0]
	if p.Block != nil || p.Restore || len(p.With) > 0 {
		return false
	}
	r, err := t.History.read(t.UI)
	if err != nil {
		return false
	}
	from, ends := t.History.rangesOf(r)
	return p.From == from && slices.Contains(ends, p.To)
}

// wantedRange returns the range that the sidecar's edits require, as JSON; "" if they require
// none.
func (t *Task) wantedRange() (string, error) {
	r, err := t.History.read(t.UI)
	if err != nil {
		return "", err
	}
	last := -1
	for _, e := range t.sidecar.Edits {
		if slices.Contains(t.sidecar.Ranged, e.ID) {
			last = max(last, t.History.entryAt(r, e.Replace[0].To)-1)
		}
	}
	if last < 0 {
		return "", nil
	}
	return "[" + strconv.Itoa(clineHead) + "," + strconv.Itoa(last) + "]", nil
}

// changeState returns the change of [StateName] that the sidecar's edits require, nil if none,
// and records the replaced range in the sidecar. It locks the file and reads it again, since
// other tasks may have changed it.
func (t *Task) changeState(ctx context.Context) (c *change, unlock func(), err error) {
	unlock = func() {}
	own := t.sidecar.Range
	if own == nil && len(t.sidecar.Ranged) == 0 {
		return nil, unlock, nil
	}
	want, err := t.wantedRange()
	if err != nil || own != nil && want == own.Now || own == nil && want == "" {
		return nil, unlock, err
	}
	path := t.StatePath()
	if _, err := os.Stat(path); err == nil { // if missing, readState returns the error
		if unlock, err = filelock.Lock(ctx, path); err != nil {
			return nil, nil, err
		}
	}
	now, err := t.readState()
	if err == nil && spanOf(now.raw) != t.stateRange {
		err = &precis.Error{Code: precis.CodeConflict, Op: "write", Place: now.path,
			Err: errors.New("the file has changed since it was read"), Hint: "try again"}
	}
	if e, ok := errors.AsType[*precis.Error](err); ok && own != nil && e.Code != precis.CodeConflict {
		e.Hint = "put the file back as Cline writes it, then try again"
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	raw := &want
	switch {
	case want == "":
		raw, t.sidecar.Range = own.Was, nil
	case own == nil:
		t.sidecar.Range = &rangeChange{Was: now.raw, Now: want}
	default:
		t.sidecar.Range = &rangeChange{Was: own.Was, Now: want}
	}
	t.stateNext = spanOf(raw)
	data := now.with(raw)
	return &change{path: now.path, old: now.data, data: data,
		content: func() ([]byte, error) { return data, nil }, read: new([]byte)}, unlock, nil
}

// ranges reports whether the edits written as a range were made on these messages.
func (s *sidecar) ranges(t *precis.Transcript) bool {
	return !slices.ContainsFunc(s.Edits, func(e precis.Edit) bool {
		return slices.Contains(s.Ranged, e.ID) && (e.Seen > t.Len() || t.Fingerprint(e.Seen) != e.At)
	})
}

// removeRangeEdits removes the edits that were written as a range.
func (s *sidecar) removeRangeEdits() {
	s.Edits = slices.DeleteFunc(s.Edits, func(e precis.Edit) bool { return slices.Contains(s.Ranged, e.ID) })
	s.Ranged, s.Range = nil, nil
}
