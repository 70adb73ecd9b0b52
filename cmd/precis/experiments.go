package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive/roo"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/conversation/shelf"
	"github.com/precis-dev/precis/internal/experiments"
)

// compare compares the results of condensations.
type compare struct {
	*command.Tools
	store string
}

func newExperiments(t *command.Tools) *cobra.Command {
	c := &compare{Tools: t}
	cmd := &cobra.Command{
		Use:   "experiments [FILE...]",
		Short: "Compare how condensations turned out",
		Long: `Compare how the condensations in recordings turned out: one table for each
experiment, with a column for each variant, and one for those of no experiment,
by rung and model. FILE is a recording, precis's own file, or a folder of them.
Without one it is what the gateway has stored of the conversations that belong
to experiments, and each arm of them is compared by whole conversations as well:
those that were left alone have no condensation.

Each number is the mean over conversations, ± half of its 95 % interval; one
conversation alone has none, nor have values that are all alike. "re-reads of
hidden" counts files read and commands run again in the 40 messages after a
condensation although their result was there and the condensation hid it;
"re-reads of shown" those whose result was left in the view. "undone" is the
share that users took back. A condensation that failed leaves nothing to count.

Variants are compared with the one named control, or else the first by name. A
difference is said to be larger than chance when 0 is not in its interval; of
twenty that are chance alone, one looks so. docs/experiments.md says how to set
an experiment up and how to read this.`,
		Example: `  precis experiments
  precis experiments runs/
  precis experiments --json run1.precis run2.precis`,
		Args: command.Takes("[FILE...]"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.store, "store", "",
		"`WHERE` the gateway keeps conversations: a file or a postgres:// URL")
	return cmd
}

func (c *compare) run(cmd *cobra.Command, args []string) error {
	done := c.Progress("reading recordings")
	r, err := c.gather(cmd.Context(), args)
	if len(args) == 0 {
		r, err = c.stored(cmd.Context())
	}
	done()
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.JSON(r)
	}
	c.Report.Experiments(r)
	return nil
}

// stored reads the conversations of experiments from the gateway's store.
func (c *compare) stored(ctx context.Context) (reports.Gathered, error) {
	r := reports.Gathered{Condensations: []experiments.Outcome{}, Stats: []experiments.Stats{},
		Arms: []experiments.Stats{}}
	st, err := (&stored{Tools: c.Tools, store: c.store}).open(ctx, true)
	if e, ok := errors.AsType[*precis.Error](err); ok && e.Hint == "" {
		e.Hint = "name recordings, or the gateway's store by --store"
	}
	if err != nil {
		return r, err
	}
	home := shelf.InStore(shelf.StoreOptions{Store: st, Owner: conversation.AllOwners})
	all, err := ledger.Arms(ctx, home)
	if err != nil {
		return r, err
	}
	var members []experiments.Member
	for _, m := range all {
		members = append(members, experiments.Member{
			Arm: m.Arm, Requests: m.Requests, Booked: m.Booked, Paid: m.CostUSD + m.Condensing,
			Condense: m.Condensing, Sent: m.Sent, NotSent: m.Saved, Edits: m.Edits,
		})
		if m.Edits == 0 && m.Booked {
			continue
		}
		err := home.Look(ctx, m.ID, func(s *conversation.Subject) error {
			r.Condensations = append(r.Condensations, experiments.Outcomes(s.Conversation)...)
			return nil
		})
		if err != nil {
			return r, err
		}
	}
	r.Recordings = len(all)
	r.Arms = append(r.Arms, experiments.CompareMembers(members)...)
	r.Condensations = sorted(withoutCopies(r.Condensations))
	r.Stats = append(r.Stats, experiments.Compare(r.Condensations)...)
	return r, nil
}

// gather reads recordings and collects their condensations. A named file must be readable;
// unreadable files in folders are skipped.
func (c *compare) gather(ctx context.Context, paths []string) (reports.Gathered, error) {
	r := reports.Gathered{Condensations: []experiments.Outcome{}, Stats: []experiments.Stats{}}
	for _, path := range paths {
		files, folder, err := filesIn(path)
		if err != nil {
			return r, err
		}
		for _, file := range files {
			if ctx.Err() != nil {
				return r, precis.Errorf(precis.CodeCanceled, "read recordings", "%w", context.Cause(ctx))
			}
			rec, err := c.Jobs.Read(ctx, file)
			switch {
			case err == nil:
				r.Recordings++
				r.Condensations = append(r.Condensations, experiments.Outcomes(rec.Conversation)...)
			case folder:
				r.Skipped = append(r.Skipped, reports.SkippedFile{Path: file, Why: err.Error()})
			default:
				return r, err
			}
		}
	}
	r.Condensations = sorted(withoutCopies(r.Condensations))
	r.Stats = append(r.Stats, experiments.Compare(r.Condensations)...)
	return r, nil
}

// filesIn returns the files of a folder. For other paths, and for a task folder, it returns the
// path itself.
func filesIn(path string) (files []string, folder bool, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, false, nil // the reader reports a missing file
	}
	for _, name := range roo.HistoryNames {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return []string{path}, false, nil
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, true, &precis.Error{Code: precis.CodeInternal, Op: "open", Place: path, Err: err}
	}
	for _, e := range entries {
		files = append(files, filepath.Join(path, e.Name()))
	}
	return files, true, nil
}

// withoutCopies removes duplicate condensations from copies of a conversation; the longest copy counts.
func withoutCopies(outcomes []experiments.Outcome) []experiments.Outcome {
	type key struct{ conversation, run, experiment, variant string }
	at := map[key]int{}
	out := outcomes[:0]
	for _, o := range outcomes {
		k := key{o.Conversation, o.Run, o.Experiment, o.Variant}
		i, again := at[k]
		switch {
		case !again:
			at[k] = len(out)
			out = append(out, o)
		case o.After > out[i].After:
			out[i] = o
		}
	}
	return out
}

// sorted orders by experiment, with controls first and outcomes without an experiment last.
func sorted(outcomes []experiments.Outcome) []experiments.Outcome {
	last := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(outcomes, func(a, b experiments.Outcome) int {
		return cmp.Or(
			last(a.Experiment == "")-last(b.Experiment == ""), cmp.Compare(a.Experiment, b.Experiment),
			last(a.Variant != experiments.Control)-last(b.Variant != experiments.Control),
			cmp.Compare(a.Variant, b.Variant),
			cmp.Compare(a.Model, b.Model), cmp.Compare(a.Conversation, b.Conversation),
		)
	})
	return outcomes
}
