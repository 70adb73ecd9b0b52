package roo

import (
	"fmt"
	"time"

	"precis"
)

// Cline keeps tasks in the files that Roo Code has from it, without Roo's tags: what it does
// not send any more is a range of stored messages, which it keeps in the state of the editor
// and notes with each message that it shows. So precis reads the range, as a truncation, and
// cannot write one: a tag would hide nothing from Cline, and a marker would be sent to its
// model.

// IsCline reports whether the task is one of Cline.
func (t *Task) IsCline() bool { return t.agent() == "cline" }

// clineRange adds the truncation that Cline's own record stands for. The newest range holds
// all older ones.
func (r *reading) clineRange(ui *UI) {
	span, ts, ok := ui.deleted()
	from, to := r.before(span[0]), min(r.before(span[1]+1), r.transcript.Len()-1)
	if !ok || len(r.edits) > 0 || from >= to {
		return
	}
	e := precis.Edit{
		ID: "cline-range", Kind: precis.KindTruncation, Time: time.UnixMilli(int64(ts)).UTC(),
		Replace: []precis.Replacement{{From: from, To: to}},
		Report:  precis.EditReport{Trigger: string(precis.TriggeredRecorded), Rung: "recorded", Reason: fmt.Sprintf("%d messages hidden by Cline", to-from)},
	}
	prefix := r.transcript.Prefix(to + 1)
	e.Seen, e.At = prefix.Len(), prefix.Fingerprint(prefix.Len())
	r.edits = append(r.edits, e)
}
