package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation/find"
	"github.com/precis-dev/precis/policy"
)

// search finds messages by words.
type search struct {
	*command.Tools
	limit       int
	expressions bool
	exact       bool
}

func newSearch(t *command.Tools) *cobra.Command {
	c := &search{Tools: t}
	cmd := &cobra.Command{
		Use:   "search FILE WORD...",
		Short: "Find messages, hidden or not, by words",
		Long: `Find what was said, hidden from the model or not: the places that hold all the
words, in what anyone said or thought, in the input of tools, in their results
and in summaries. Upper and lower case are the same; a phrase is one word when
quoted. Places that hold all words on one line come first, and then the newest.
The same line found again is counted, not repeated. Behind them come places
with another form of a word, and with related words of code work, which are
marked.

  precis search run.precis connection refused
  precis search run.precis "exit status 2" make
  precis search run.precis --regexp 'func \w+Handler'
  precis show run.precis m42.b0      # read a place in full
  precis restore run.precis m42.b0   # show it to the model again`,
		Args: command.Takes("FILE", "WORD..."),
		RunE: c.run,
	}
	cmd.Flags().IntVar(&c.limit, "limit", 20, "print so many `PLACES` at most; 0 prints all")
	cmd.Flags().BoolVar(&c.expressions, "regexp", false, "the words are regular expressions (RE2)")
	cmd.Flags().BoolVar(&c.exact, "exact", false, "no other forms of the words, and no related words")
	return cmd
}

func (c *search) run(cmd *cobra.Command, args []string) error {
	if c.limit < 0 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--limit is %d, want 0 or more", c.limit)
	}
	q, err := find.NewQuery(args[1:], c.expressions)
	if err != nil {
		return err
	}
	if !c.exact {
		q = q.Widen()
	}
	return c.search(cmd.Context(), args[0], q)
}

func (c *search) search(ctx context.Context, path string, q *find.Query) error {
	f, err := c.Jobs.Read(ctx, path)
	if err != nil {
		return err
	}
	home := f.Home(nil, policy.Request{})
	places, err := find.In(ctx, home, home.ID(), q)
	if err != nil {
		return err
	}
	total := len(places)
	if c.limit > 0 {
		places = places[:min(c.limit, total)]
	}
	for i := range places {
		places[i].Line = term.Plain(places[i].Line)
	}
	if c.AsJSON {
		for i, p := range places {
			places[i].Line = term.Around(p.Line, reports.First(q, p.Line), 500)
		}
		return c.JSON(struct {
			Total int          `json:"total"`
			Hits  []find.Place `json:"hits"`
		}{total, places})
	}
	c.Report.Found(path, q, places, total)
	return nil
}
