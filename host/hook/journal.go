package hook

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// Outcomes of a call, see [Entry].
const (
	Gave     = "gave"     // text was added to the model's context
	Replaced = "replaced" // precis wrote the program's summary
	Gated    = "gated"    // the program's summary was checked
	Noted    = "noted"    // state was stored
	Nothing  = "nothing"  // see Why
	Failed   = "failed"   // see Why
)

// Entry is one call of a hook in the journal. It contains no words of a conversation.
type Entry struct {
	Time    time.Time     `json:"time"`
	Host    string        `json:"host"`
	Event   string        `json:"event"`
	Session string        `json:"session,omitempty"` // a hash of its name
	Took    time.Duration `json:"took_ns"`
	Did     string        `json:"did"`
	Why     string        `json:"why,omitempty"`

	Compaction bool `json:"compaction,omitempty"` // the call counts as one compaction
	Facts      int  `json:"facts,omitempty"`      // facts before the compaction likely to be needed again
	Held       int  `json:"held,omitempty"`       // number of these in the program's own summary
	GivenBack  int  `json:"back,omitempty"`       // number of the others that were given back
	Tokens     int  `json:"tokens,omitempty"`     // estimated tokens added to the model's context
}

// mostJournal is the size in bytes at which the journal is renamed. One older journal is kept.
const mostJournal = 1 << 20

// journal is the folder of the journal file, which has one line per call.
type journal string

func (j journal) path() string { return filepath.Join(string(j), "journal.jsonl") }

// add writes a line. Write errors are ignored, because a hook cannot report them.
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
	_, _ = f.Write(line(e)) // one write, so that concurrent lines stay whole
}

// Journal returns the recorded calls in a state folder, oldest first. It skips damaged lines; a
// missing folder has no calls.
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

// Sum is the total of the hook calls in one program.
type Sum struct {
	Host        string        `json:"host"`
	Compactions int           `json:"compactions"`
	Replaced    int           `json:"replaced"` // compactions with a summary by precis
	Measured    int           `json:"measured"` // compactions with a checked summary of the program
	Facts       int           `json:"facts"`    // facts that the checked summaries should contain
	Held        int           `json:"held"`     // facts that they contained
	Back        int           `json:"back"`     // given back
	Tokens      int           `json:"tokens"`   // tokens added to models' contexts
	Calls       int           `json:"calls"`
	Failed      int           `json:"failed"`
	Took        time.Duration `json:"took_ns"` // total of all calls
	Slowest     time.Duration `json:"slowest_ns"`
	Last        time.Time     `json:"last"`
	LastWhy     string        `json:"last_why,omitempty"` // of the newest failure
}

// Sums adds up the calls of each program, sorted by name. Calls without work are not in the journal
// and are not counted.
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
		s.Facts, s.Held, s.Back, s.Tokens = s.Facts+e.Facts, s.Held+e.Held, s.Back+e.GivenBack, s.Tokens+
			e.Tokens
	}
	var out []Sum
	for _, host := range Hosts() {
		if s := by[host]; s != nil {
			out = append(out, *s)
		}
	}
	return out
}
