package precis

import "fmt"

// Cap bounds how often a conversation is reduced, on every route.
type Cap struct {
	Window     int // so many assistant turns are looked back on; 0: no cap
	Max        int // at most so many runs in them; 0: no cap
	NoProgress int // at most so many runs in a row that saved too little; 0: no cap
}

// Reached reports whether another automatic run would pass the cap, and why.
// Progress is a run that saved at least the share worth of what it found. The
// runs are read from all edits, undone ones too, so the cap holds across
// processes and undoing does not lift it. Only runs that users ask for are free.
func (c Cap) Reached(t *Transcript, edits []Edit, worth float64) (string, bool) {
	runs := runsOf(edits)
	if c.Window > 0 && c.Max > 0 {
		from := turnsBack(t, c.Window)
		n := 0
		for _, r := range runs {
			if r.seen > from {
				n++
			}
		}
		if n >= c.Max {
			return fmt.Sprintf("%d runs in the last %d turns, at most %d are made", n, c.Window, c.Max), true
		}
	}
	if idle := idleRuns(runs, worth); c.NoProgress > 0 && idle >= c.NoProgress {
		return fmt.Sprintf("the last %d runs saved less than %.0f %%", idle, 100*worth), true
	}
	return "", false
}

// run is what one decision did: the edits that share a run ID.
type run struct {
	id            string
	seen          int
	before, after int
}

// runsOf returns the runs that no user asked for, oldest first.
func runsOf(edits []Edit) []run {
	var runs []run
	for _, e := range edits {
		by := TriggeredBy(e.Report.Trigger)
		if !e.reduces() || by != TriggeredAutomatic && by != TriggeredForced && by != TriggeredBackground {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1].id == e.Run {
			runs[n-1].after = e.Report.TokensAfter
			continue
		}
		runs = append(runs, run{id: e.Run, seen: e.Seen, before: e.Report.TokensBefore, after: e.Report.TokensAfter})
	}
	return runs
}

// reduces reports whether the edit shows less than there was.
func (e Edit) reduces() bool {
	switch e.Kind {
	case KindRestore, KindPin, KindUndo, KindRewind:
		return false
	}
	return true
}

func idleRuns(runs []run, worth float64) int {
	n := 0
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		if float64(r.before-r.after) >= worth*float64(r.before) {
			break
		}
		n++
	}
	return n
}

// turnsBack returns the number of messages before the last n assistant turns.
func turnsBack(t *Transcript, n int) int {
	msgs := t.Messages()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == RoleAssistant {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}
