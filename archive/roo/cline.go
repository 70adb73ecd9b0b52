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

	"precis"
	"precis/archive"
	"precis/internal/filelock"
	"precis/internal/jsonspan"
)

// Cline keeps tasks in the files that Roo Code has from it, without Roo's tags: what it does
// not send any more is one range of stored messages. A task that is opened again takes the range
// from the task's item in [StateName]; older versions keep these items in the editor's own
// database, which precis leaves alone. The messages of the UI have the range of their time, which
// Cline goes back to when one of them is restored. So precis reads the item, the UI
// messages where there is none, and writes the item alone.
//
// A range is a truncation: it has no words. Cline keeps the first two messages, whatever the
// range says, and sends on from the first message behind it, which is to be the user's.
// What it mends itself where a range parts calls from results is not read.

// StateName is the file, in the folder "state" beside the one that holds the folders of tasks,
// in which Cline lists its tasks, with what it does not send of each.
const StateName = "taskHistory.json"

const (
	clineMember = "conversationHistoryDeletedRange"
	clineHead   = 2 // stored messages that Cline always sends
	clineEdit   = "cline-range"
)

// IsCline reports whether the task is one of Cline.
func (t *Task) IsCline() bool { return t.agent() == "cline" }

// StatePath returns the path of [StateName] for the task.
func (t *Task) StatePath() string {
	dir := t.dir()
	if abs, err := filepath.Abs(dir); err == nil && !filepath.IsAbs(dir) {
		dir = abs
	}
	return filepath.Join(dir, "..", "..", "state", StateName)
}

// taskID returns the name that the program knows the task by, that of its folder.
func (t *Task) taskID() string {
	dir := t.dir()
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// clineState is [StateName], as far as it says what is not sent of one task.
type clineState struct {
	path string // of the file itself, not of a link to it
	data []byte
	list *list
	item int     // of the list
	raw  *string // what its range is written as; nil: it has none
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
		return nil, &precis.Error{Code: precis.CodeNotFound, Op: "hide messages from Cline", Place: s.path, Hint: instead,
			Err: errors.New("the file in which Cline notes what it does not send is not there; older versions keep that in the editor's database")}
	case err != nil:
		return nil, err
	}
	if !bytes.Contains(s.data, quote(t.taskID())) && jsonspan.Valid(s.data) == nil {
		return nil, t.notNamed(s.path, instead)
	}
	if s.list, err = parseList(s.data); err != nil {
		return nil, &precis.Error{Code: precis.CodeInvalid, Op: "hide messages from Cline", Place: s.path, Hint: instead,
			Err: fmt.Errorf("it is not the list of tasks that Cline writes: %w", err)}
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
	return &precis.Error{Code: precis.CodeNotFound, Op: "hide messages from Cline", Place: path, Err: errNotNamed, Hint: hint}
}

// ts returns when Cline last changed the task's item.
func (s *clineState) ts() float64 {
	m, _ := findMember(s.list.items[s.item].raw, "ts")
	return number(m.Raw)
}

// with returns the content of the file with another range of the task; nil: without one. All other bytes stay.
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

// spanOf reads a range as it is written; nil: there is none.
func spanOf(raw *string) [2]int {
	if raw == nil {
		return [2]int{}
	}
	return rangeOf(json.RawMessage(*raw))
}

// ranged is what edits of precis have made of the range of a task of Cline.
type ranged struct {
	Was *string `json:"was"` // what was written there; nil: nothing
	Now string  `json:"now"`
}

// clineCut adds the truncation that Cline's own range stands for: what the range was before
// edits of precis were written there. Of these edits those go that Cline has since replaced.
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
			t.sidecar.unrange()
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

// clineRange adds the truncation that a range of Cline stands for. The newest range holds
// all older ones.
func (r *reading) clineRange(span [2]int, ts float64) {
	from, to := r.before(span[0]), min(r.before(span[1]+1), r.transcript.Len()-1)
	if len(r.edits) > 0 || from >= to {
		return
	}
	e := precis.Edit{
		ID: clineEdit, Kind: precis.KindTruncation, Time: time.UnixMilli(int64(ts)).UTC(),
		Replace: []precis.Replacement{{From: from, To: to}},
		Report:  precis.EditReport{Trigger: string(precis.TriggeredRecorded), Rung: "recorded", Reason: fmt.Sprintf("%d messages hidden by Cline", to-from)},
	}
	prefix := r.transcript.Prefix(to + 1)
	e.Seen, e.At = prefix.Len(), prefix.Fingerprint(prefix.Len())
	r.edits = append(r.edits, e)
}

// ClineRange returns what a range of Cline can hide: it begins at message from, and ends before one of ends,
// ascending. The error says why the task can be told none: [precis.CodeNotFound] when [StateName] is not
// there or does not name the task, [precis.CodeInvalid] when it is damaged or nothing can be hidden.
func (t *Task) ClineRange() (from int, ends []int, err error) {
	if _, err = t.readState(); err != nil {
		return 0, nil, err
	}
	r, err := t.History.read(t.UI)
	if err != nil {
		return 0, nil, err
	}
	if from, ends = t.History.rangesOf(r); len(ends) == 0 {
		return 0, nil, &precis.Error{Code: precis.CodeInvalid, Op: "hide messages from Cline", Place: t.Path, Hint: "use -o FILE, or --sidecar for precis alone",
			Err: errors.New("behind the first two messages, which Cline always sends, no message of the user follows an answer")}
	}
	return from, ends, nil
}

// rangesOf returns where ranges may begin and end: behind the first message of the user and
// its answer, and where the user's next message follows an answer.
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

// Ranged reports whether the range of a task of Cline says what an edit does.
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

// wantedRange returns the range that the edits of the sidecar ask for, as it is written; "": they ask for none.
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

// changeState returns the change of [StateName] that the edits of the sidecar ask for, nil: none, and notes in the
// sidecar what it replaces. It is made on the file as it is now, since other tasks may have gone on, and under the
// lock of that file.
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
	if _, err := os.Stat(path); err == nil { // else reading it says what to do
		if unlock, err = filelock.Lock(ctx, path); err != nil {
			return nil, nil, err
		}
	}
	now, err := t.readState()
	if err == nil && spanOf(now.raw) != t.stateRange {
		err = &precis.Error{Code: precis.CodeConflict, Op: "write", Place: now.path, Err: errors.New("the file has changed since it was read"), Hint: "try again"}
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
		t.sidecar.Range = &ranged{Was: now.raw, Now: want}
	default:
		t.sidecar.Range = &ranged{Was: own.Was, Now: want}
	}
	t.stateNext = spanOf(raw)
	data := now.with(raw)
	return &change{path: now.path, old: now.data, data: data, content: func() ([]byte, error) { return data, nil }, read: new([]byte)}, unlock, nil
}

// ranges reports whether the edits that were written as a range were made on these messages.
func (s *sidecar) ranges(t *precis.Transcript) bool {
	return !slices.ContainsFunc(s.Edits, func(e precis.Edit) bool {
		return slices.Contains(s.Ranged, e.ID) && (e.Seen > t.Len() || t.Fingerprint(e.Seen) != e.At)
	})
}

// unrange forgets the edits that were written as a range.
func (s *sidecar) unrange() {
	s.Edits = slices.DeleteFunc(s.Edits, func(e precis.Edit) bool { return slices.Contains(s.Ranged, e.ID) })
	s.Ranged, s.Range = nil, nil
}
