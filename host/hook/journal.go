package hook

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// What became of a call, see [Entry].
const (
	Gave     = "gave"     // text was added to what the model reads
	Replaced = "replaced" // the program's summary is precis's
	Gated    = "gated"    // the program's summary was looked at
	Noted    = "noted"    // something was remembered
	Nothing  = "nothing"  // see Why
	Failed   = "failed"   // see Why
)

// Entry is one call of a hook, as the journal keeps it. It holds no word of a
// conversation.
type Entry struct {
	Time    time.Time     `json:"time"`
	Host    string        `json:"host"`
	Event   string        `json:"event"`
	Session string        `json:"session,omitempty"` // a hash of its name
	Took    time.Duration `json:"took_ns"`
	Did     string        `json:"did"`
	Why     string        `json:"why,omitempty"`

	Compaction bool `json:"compaction,omitempty"` // the call stands for one compaction
	Facts      int  `json:"facts,omitempty"`      // likely to be needed again, of the conversation before it
	Held       int  `json:"held,omitempty"`       // of them, in the program's own summary
	Back       int  `json:"back,omitempty"`       // of the others, given back
	Tokens     int  `json:"tokens,omitempty"`     // that the model reads more, about
}

// mostJournal is the size at which the journal is put aside, in bytes. One older one is
// kept.
const mostJournal = 1 << 20

// journal is the file of the calls, a line each.
type journal string

func (j journal) path() string { return filepath.Join(string(j), "journal.jsonl") }

// add writes a line. What cannot be written is lost: a hook has nobody to tell.
func (j journal) add(e Entry) {
	if os.MkdirAll(string(j), 0o700) != nil {
		return
	}
	if info, err := os.Stat(j.path()); err == nil && info.Size() > mostJournal {
		_ = os.Rename(j.path(), j.path()+".1")
	}
	f, err := os.OpenFile(j.path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(line(e)) // one write, so that lines of others stay whole
}

// Journal returns the calls that a state folder remembers, the oldest first. Lines that
// are damaged are passed over; no folder is no calls.
func Journal(stateFolder string) []Entry {
	var out []Entry
	j := journal(stateFolder)
	for _, path := range []string{j.path() + ".1", j.path()} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		for s := bufio.NewScanner(f); s.Scan(); {
			var e Entry
			if json.Unmarshal(s.Bytes(), &e) == nil && e.Host != "" {
				out = append(out, e)
			}
		}
		f.Close()
	}
	return out
}

// Sum is what hooks did in one program.
type Sum struct {
	Host        string        `json:"host"`
	Compactions int           `json:"compactions"`
	Replaced    int           `json:"replaced"` // of them, with a summary of precis
	Measured    int           `json:"measured"` // of them, those whose own summary was looked at
	Facts       int           `json:"facts"`    // that their summaries should hold
	Held        int           `json:"held"`     // that they held
	Back        int           `json:"back"`     // given back
	Tokens      int           `json:"tokens"`   // that models read more
	Calls       int           `json:"calls"`
	Failed      int           `json:"failed"`
	Took        time.Duration `json:"took_ns"` // by all calls
	Slowest     time.Duration `json:"slowest_ns"`
	Last        time.Time     `json:"last"`
	LastWhy     string        `json:"last_why,omitempty"` // of the newest failure
}

// Sums adds up the calls of each program, in the order of their names. Calls with nothing
// to do leave no trace and are not counted.
func Sums(entries []Entry) []Sum {
	by := map[string]*Sum{}
	for _, e := range entries {
		s := by[e.Host]
		if s == nil {
			s = &Sum{Host: e.Host}
			by[e.Host] = s
		}
		s.Calls++
		s.Took += e.Took
		s.Slowest = max(s.Slowest, e.Took)
		if e.Time.After(s.Last) {
			s.Last = e.Time
		}
		if e.Compaction {
			s.Compactions++
		}
		switch e.Did {
		case Replaced:
			if e.Compaction {
				s.Replaced++
			}
		case Failed:
			s.Failed++
			s.LastWhy = e.Why
		}
		if e.Facts > 0 {
			s.Measured++
		}
		s.Facts, s.Held, s.Back, s.Tokens = s.Facts+e.Facts, s.Held+e.Held, s.Back+e.Back, s.Tokens+e.Tokens
	}
	var out []Sum
	for _, host := range Hosts() {
		if s := by[host]; s != nil {
			out = append(out, *s)
		}
	}
	return out
}
