package upstream

import "slices"

// Kind says what a request is for.
type Kind string

// The kinds of requests.
const (
	Main    Kind = "main"    // a turn of the agent
	Summary Kind = "summary" // asks for a summary
	Side    Kind = "side"    // anything else without tools: a title, a probe
	Count   Kind = "count"   // asks how many tokens it has
	Compact Kind = "compact" // asks for a compaction item
)

// Record is what the server notes of a request to a model.
type Record struct {
	N       int    `json:"n"` // from 1, in order of arrival
	Dialect string `json:"dialect"`
	Path    string `json:"path"`
	Model   string `json:"model"`
	Kind    Kind   `json:"kind"`
	Run     string `json:"run"`  // "" when a side request names none
	Step    int    `json:"step"` // files that were asked for before
	// Tokens is the size of the input; Cached and Written of it were read from and
	// put into the prompt cache. First of it this run had never sent before.
	Tokens  int `json:"tokens"`
	Cached  int `json:"cached"`
	Written int `json:"written"`
	First   int `json:"first"`
	// Splice: the messages of a main request do not begin with those of the one
	// before it in its run.
	Splice   bool   `json:"splice,omitempty"`
	Overflow bool   `json:"overflow,omitempty"`
	Refused  string `json:"refused,omitempty"` // why it is malformed
	Dropped  int    `json:"dropped,omitempty"` // blocks of thinking that were dropped as asked
}

// Stats sums up what came. A turn between splices is a sound main request that
// goes on from the one before it.
type Stats struct {
	Requests  int      `json:"requests"` // those to a model, without counting
	Main      int      `json:"main"`
	Side      int      `json:"side"`
	Summaries int      `json:"summaries"` // compactions included
	Runs      int      `json:"runs"`
	Overflows int      `json:"overflows"`
	Refused   []string `json:"refused"` // the reasons, in order
	Splices   int      `json:"splices"`
	Dropped   int      `json:"dropped"`
	Input     int      `json:"input"` // tokens of all requests that were answered
	// Of turns between splices: tokens that had been sent before, and of them the
	// ones read from the prompt cache.
	Again  int `json:"again"`
	Cached int `json:"cached"`
	// Records are the requests in order.
	Records []Record `json:"records"`
}

// CacheShare is how much of what had been sent before was read from the cache on
// turns between splices; 0 when nothing was sent again.
func (s Stats) CacheShare() float64 {
	if s.Again == 0 {
		return 0
	}
	return float64(s.Cached) / float64(s.Again)
}

// Stats returns what came so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Records: slices.Clone(s.records), Refused: []string{}}
	runs := map[string]bool{}
	for _, r := range s.records {
		if r.Kind == Count {
			continue
		}
		out.Requests++
		switch {
		case r.Refused != "":
			out.Refused = append(out.Refused, r.Refused)
			continue
		case r.Overflow:
			out.Overflows++
			continue
		}
		out.add(r, runs)
	}
	out.Runs = len(runs)
	return out
}

// add counts a request that was answered.
func (s *Stats) add(r Record, runs map[string]bool) {
	s.Input += r.Tokens
	s.Dropped += r.Dropped
	switch r.Kind {
	case Main:
		s.Main++
		between := runs[r.Run] && !r.Splice
		runs[r.Run] = true
		if r.Splice {
			s.Splices++
		}
		if between {
			s.Again += r.Tokens - r.First
			s.Cached += min(r.Cached, r.Tokens-r.First)
		}
	case Summary, Compact:
		s.Summaries++
	default:
		s.Side++
	}
}
