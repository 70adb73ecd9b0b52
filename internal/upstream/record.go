package upstream

import "slices"

// Kind is the purpose of a request.
type Kind string

// The kinds of requests.
const (
	Main    Kind = "main"    // a turn of the agent
	Summary Kind = "summary" // requests a summary
	Side    Kind = "side"    // any other request without tools: a title, a probe
	Count   Kind = "count"   // requests a token count
	Compact Kind = "compact" // requests a compaction item
)

// Record is the server's record of a request to a model.
type Record struct {
	N       int    `json:"n"` // from 1, in order of arrival
	Dialect string `json:"dialect"`
	Path    string `json:"path"`
	Model   string `json:"model"`
	Kind    Kind   `json:"kind"`
	Run     string `json:"run"`  // "": a side request without one
	Step    int    `json:"step"` // files requested before
	// Tokens is the size of the input. Cached and Written are the tokens of it that were read from
	// and written to the prompt cache. First are the tokens sent for the first time in this run.
	Tokens  int `json:"tokens"`
	Cached  int `json:"cached"`
	Written int `json:"written"`
	First   int `json:"first"`
	// Splice: the messages of a main request do not begin with the messages of the previous one in
	// its run.
	Splice   bool   `json:"splice,omitempty"`
	Overflow bool   `json:"overflow,omitempty"`
	Refused  string `json:"refused,omitempty"` // the reason why it is malformed
	Dropped  int    `json:"dropped,omitempty"` // blocks of thinking dropped as the request allows
}

// Stats holds totals. A turn between splices is a valid main request that continues the previous
// one.
type Stats struct {
	Requests  int      `json:"requests"` // requests to a model, without token counts
	Main      int      `json:"main"`
	Side      int      `json:"side"`
	Summaries int      `json:"summaries"` // compactions included
	Runs      int      `json:"runs"`
	Overflows int      `json:"overflows"`
	Refused   []string `json:"refused"` // the reasons, in order
	Splices   int      `json:"splices"`
	Dropped   int      `json:"dropped"`
	Input     int      `json:"input"` // tokens of all answered requests
	// For turns between splices: tokens sent before, and the part of them read from the prompt
	// cache.
	Again  int `json:"again"`
	Cached int `json:"cached"`
	// Records are the requests in order.
	Records []Record `json:"records"`
}

// CacheShare is the share of repeated tokens that was read from the cache on turns between splices;
// 0 without repeated tokens.
func (s Stats) CacheShare() float64 {
	if s.Again == 0 {
		return 0
	}
	return float64(s.Cached) / float64(s.Again)
}

// Stats returns the totals so far.
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

// add counts an answered request.
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
