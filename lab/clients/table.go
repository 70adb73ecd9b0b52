package clients

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Table writes results as a table.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "set-up\texit\tdone\tseconds\tfiles\twhole\toverflows\tcompactions\terrors\t| upstream\tinvalid\toverflows\tsummaries\tsplices\tcache\t")
	for _, r := range results {
		exit := fmt.Sprint(r.Exit)
		if r.Timeout {
			exit = "timeout"
		}
		share := "-"
		if r.Upstream.Again > 0 {
			share = fmt.Sprintf("%.1f %%", 100*r.Share)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%d\t%d\t%d\t%d\t%d\t| %d\t%d\t%d\t%d\t%d\t%s\t\n", r.Name, exit,
			yes(r.Done), r.Seconds, r.Begun, r.Whole,
			r.Overflows, r.Compactions, r.Errors, r.Upstream.Requests, len(r.Upstream.Refused),
			r.Upstream.Overflows, r.Upstream.Summaries, r.Upstream.Splices, share)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return notesOf(w, results)
}

// notesOf writes the reasons of failures, which do not fit into the table.
func notesOf(w io.Writer, results []Result) error {
	for _, r := range results {
		var why []string
		switch {
		case r.Error != "":
			why = append(why, r.Error)
		case !r.Sound():
			why = append(why, "its last line: "+r.Output)
		}
		if r.LastError != "" {
			why = append(why, "its last error: "+r.LastError)
		}
		times := counted(r.Upstream.Refused)
		for _, reason := range slices.Sorted(maps.Keys(times)) {
			why = append(why, fmt.Sprintf("refused %d times: %s", times[reason], reason))
		}
		for _, text := range why {
			if _, err := fmt.Fprintf(w, "%s: %s\n", r.Name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sound reports whether the client completed its task.
func (r Result) Sound() bool {
	return r.Error == "" && r.Exit == 0 && r.Done && !r.Timeout && len(r.Upstream.Refused) == 0
}

func counted(texts []string) map[string]int {
	out := map[string]int{}
	for _, text := range texts {
		out[text]++
	}
	return out
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
