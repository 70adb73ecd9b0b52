package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/launch"
	"github.com/precis-dev/precis/cmd/internal/reports"
	"github.com/precis-dev/precis/conversation"
	sums "github.com/precis-dev/precis/verify"
)

// verify lists what a summary or a view of a conversation lacks, contradicts and invents.
type verify struct {
	*command.Tools
	summary, view string // paths of files
	now           bool
	failOn        []string
}

func newVerify(t *command.Tools) *cobra.Command {
	c := &verify{Tools: t}
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Say what a compaction, or any summary, lost and invented",
		Long: `Compare a summary of a conversation with the conversation itself, whoever wrote
it: how much of what you typed it holds word for word, which changed files,
failed runs, open steps and running jobs it lacks, and which of its statements
are false or stand nowhere, each with the handle by which precis show prints the
original. No model is called, and no sentence is interpreted.

Without --summary, --view and --now the newest compaction that the agent's own
program recorded in FILE is compared with what came before it.

The exit code is 1 when the summary fails on one of the classes of --fail-on:
it lacks something of words, files, failures, steps or jobs; calls show that
what it says of a file or a check is false (contradicts); or that, or it names
what stands nowhere (invents). It is 2 for bad input. docs/verify.md explains
the classes.`,
		Example: `  precis verify @last
  precis verify --summary summary.txt run.jsonl
  my-compactor < run.jsonl | precis verify --summary - --fail-on files,invents run.jsonl`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.summary, "summary", "", "the summary, a text `FILE`; - is standard input")
	cmd.Flags().StringVar(&c.view, "view", "", "what the model is shown instead, a conversation `FILE`")
	cmd.Flags().BoolVar(&c.now, "now", false,
		"compare what the model sees now, by the edits that are in force")
	cmd.Flags().StringSliceVar(&c.failOn, "fail-on", []string{sums.Contradicts},
		"`CLASSES` that make the exit code 1: words, files, failures, steps, jobs, contradicts, invents")
	cmd.MarkFlagsMutuallyExclusive("summary", "view", "now")
	return cmd
}

func (c *verify) run(cmd *cobra.Command, args []string) error {
	for _, class := range c.failOn {
		if !slices.Contains(sums.Classes, class) {
			return precis.Errorf(precis.CodeInvalid, "read flags", "--fail-on has %.40q, want some of %s",
				class, strings.Join(sums.Classes, ", "))
		}
	}
	j, err := c.Jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	var o conversation.VerifyOptions
	what := ""
	switch {
	case c.summary != "":
		g := gate{Tools: c.Tools, summary: c.summary}
		what = "the summary in " + c.summary
		o.Summary, err = g.readSummary(cmd.Context(), args[0])
	case c.view != "":
		what = "the view in " + c.view
		o.View, err = c.readView(cmd.Context())
	default:
		o.CurrentView = c.now
	}
	if err != nil {
		return err
	}
	asked := reports.Verified{File: args[0], FailOn: c.failOn}
	asked.Verified, err = conversation.Verify(cmd.Context(), j.Home, j.Home.ID(), o)
	if e, ok := errors.AsType[*precis.Error](err); ok && e.Code == precis.CodeNotFound {
		// there is no compaction, though the recording exists
		e.Place, e.Hint = args[0], "name a summary with --summary, or a view with --view or --now"
	}
	if err != nil {
		return err
	}
	asked.What = cmp.Or(what, asked.What)
	asked.Failed = asked.Fails(c.failOn)
	if c.AsJSON {
		if err := c.JSON(asked); err != nil {
			return err
		}
	} else {
		c.Report.Verified(asked)
	}
	if len(asked.Failed) > 0 {
		return launch.Exit(1)
	}
	return nil
}

// readView reads the messages of a view.
func (c *verify) readView(ctx context.Context) ([]precis.Message, error) {
	f, err := c.Jobs.Read(ctx, c.view)
	if err != nil {
		return nil, err
	}
	return append([]precis.Message{}, precis.View(f.Conversation.Transcript, f.Conversation.Edits)...), nil
}
