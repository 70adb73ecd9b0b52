package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// shrunk is the size of a request relative to the previous one at which it counts as following a
// compaction.
const shrunk = 0.75

// judge evaluates the main requests.
func (r *HostResult) judge(mains []mainRequest) {
	r.Requests = len(mains)
	r.First, r.Second = len(plants), len(plants)
	for i, m := range mains {
		if mark := []byte("by precis from the recording of this session"); bytes.Count(m.body, mark) > 3 {
			r.Twice++ // two parts of a digest, and the facts missing from the summary
		}
		if i == 0 || !m.splice && float64(m.tokens) > shrunk*float64(mains[i-1].tokens) {
			continue
		}
		r.Compactions++
		r.First = min(r.First, known(m.body))
		if i+1 < len(mains) {
			r.Second = min(r.Second, known(mains[i+1].body))
		}
	}
	if r.Compactions == 0 {
		r.First, r.Second = 0, 0
	}
}

// known counts the planted facts in a request.
func known(body []byte) (n int) {
	for _, plant := range plants {
		if bytes.Contains(body, []byte(plant)) {
			n++
		}
	}
	return n
}

// HostTable writes results of the lab as a table.
func HostTable(w io.Writer, results []HostResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "program\tprecis\tdone\tseconds\trequests\tcompactions\tsummaries\tinvalid\tplanted: 1st\t2nd request\ttwice\trestored\t")
	for _, r := range results {
		restored := "-"
		if r.Mode == Inside || r.Mode == Gated {
			restored = yes(r.Same)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%d\t%d\t%d\t%d\t%d of %d\t%d of %d\t%d\t%s\t\n", r.Name, r.Mode,
			yes(r.Done), r.Seconds, r.Requests, r.Compactions, r.Summaries, r.Refused,
			r.First, len(plants), r.Second, len(plants), r.Twice, restored)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if r.Error != "" {
			fmt.Fprintf(w, "%s %s: %s\n", r.Name, r.Mode, r.Error)
		}
		for _, line := range r.Said {
			fmt.Fprintf(w, "%s %s, said: %s\n", r.Name, r.Mode, line)
		}
		for _, line := range r.Noise {
			fmt.Fprintf(w, "%s %s, noise: %s\n", r.Name, r.Mode, line)
		}
		if r.Leaks {
			fmt.Fprintf(w, "%s %s: a session that was begun anew knows what was said before\n", r.Name,
				r.Mode)
		}
	}
	return nil
}

// InstallHosts fetches the packages of the lab.
func InstallHosts(ctx context.Context, cache string, all []HostSetUp, say func(string)) error {
	var setUps []SetUp
	for _, s := range all {
		setUps = append(setUps, SetUp{pkg: s.pkg})
	}
	return Install(ctx, cache, setUps, say)
}

// WriteHostResults writes results as JSON.
func WriteHostResults(w io.Writer, results []HostResult) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(results)
}
