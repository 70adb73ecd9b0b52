package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/launch"
	"precis/cmd/internal/reports"
	"precis/conversation"
)

// verify says what a summary or a view of a conversation lacks, contradicts and invents.
type verify struct {
	*tools
	summary, view string // files
	now           bool
	least         int
}

func newVerify(t *tools) *cobra.Command {
	c := &verify{tools: t}
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Say what a compaction, or any summary, lost and invented",
		Long: `Compare a summary of a conversation with the conversation itself, whoever wrote
it, and say what it lacks, contradicts and invents: rules of the user, requests,
standing instructions, files, failures, decisions and numbers, each with the
handle by which precis show prints the original. No model is called.

Without --summary, --view and --now the newest compaction that the agent's own
program recorded in FILE is compared with what came before it.

The score goes from 0 to 100; precis explains it in docs/verify.md. The exit
code is 0 when nothing is contradicted or invented and the score is --min-score
or more, 1 when not, and 2 for bad input.`,
		Example: `  precis verify @last
  precis verify --summary summary.txt run.jsonl
  my-compactor < run.jsonl | precis verify --summary - --min-score 80 run.jsonl`,
		Args: takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.summary, "summary", "", "the summary, a text `FILE`; - is standard input")
	cmd.Flags().StringVar(&c.view, "view", "", "what the model is shown instead, a conversation `FILE`")
	cmd.Flags().BoolVar(&c.now, "now", false, "compare what the model sees now, by the edits that are in force")
	cmd.Flags().IntVar(&c.least, "min-score", 70, "`SCORE` from 0 to 100 below which the exit code is 1")
	cmd.MarkFlagsMutuallyExclusive("summary", "view", "now")
	return cmd
}

func (c *verify) run(cmd *cobra.Command, args []string) error {
	if c.least < 0 || c.least > 100 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--min-score is %d, want 0 to 100", c.least)
	}
	j, err := c.jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	var o conversation.VerifyOptions
	what := ""
	switch {
	case c.summary != "":
		g := gate{tools: c.tools, summary: c.summary}
		what = "the summary in " + c.summary
		o.Summary, err = g.readSummary(cmd.Context(), args[0])
	case c.view != "":
		what = "the view in " + c.view
		o.View, err = c.readView(cmd.Context())
	default:
		o.Now = c.now
	}
	if err != nil {
		return err
	}
	asked := reports.Verified{File: args[0], Least: c.least}
	asked.Verified, err = conversation.Verify(cmd.Context(), j.Home, j.Home.ID(), o)
	if e, ok := errors.AsType[*precis.Error](err); ok && e.Code == precis.CodeNotFound { // the recording is there
		e.Place, e.Hint = args[0], "name a summary with --summary, or a view with --view or --now"
	}
	if err != nil {
		return err
	}
	asked.What = cmp.Or(what, asked.What)
	if c.AsJSON {
		if err := c.JSON(asked); err != nil {
			return err
		}
	} else {
		c.report.Verified(asked)
	}
	if !asked.Good() {
		return launch.Exit(1)
	}
	return nil
}

// readView reads the messages that a view shows.
func (c *verify) readView(ctx context.Context) ([]precis.Message, error) {
	f, err := c.jobs.Read(ctx, c.view)
	if err != nil {
		return nil, err
	}
	return append([]precis.Message{}, precis.View(f.Conversation.Transcript, f.Conversation.Edits)...), nil
}
