package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/archive"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/console"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/retain"
)

// gate completes a summary with the facts it lacks.
type gate struct {
	*command.Tools
	summary string // path of a file
	size    int
}

func newGate(t *command.Tools) *cobra.Command {
	c := &gate{Tools: t}
	cmd := &cobra.Command{
		Use:   "gate --summary SUMMARY FILE",
		Short: "Check a summary of a conversation and add what it lacks",
		Long: `Check a summary that anyone wrote of the conversation in FILE, and print it with
what it lacks: the user's rules, the last request, files that were written, and
the facts most likely to be needed again, each with the handle by which precis
show prints the original. The summary itself is not changed. What was added and
what did not fit goes to standard error, or into the JSON.

  precis gate --summary summary.txt run.precis > better.txt

A token is counted as four characters unless --estimate says otherwise.`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.summary, "summary", "", "the summary, a text `FILE`; - is standard input")
	cmd.Flags().IntVar(&c.size, "tokens", 0,
		"size of the result at most, in `TOKENS` (default 1500 more than the summary)")
	if err := cmd.MarkFlagRequired("summary"); err != nil {
		panic(err) // cannot happen: the flag is defined above
	}
	return cmd
}

func checkSize(tokens int) error {
	if tokens <= 0 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--tokens is %d, want 1 or more", tokens)
	}
	return nil
}

func (c *gate) run(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("tokens") {
		if err := checkSize(c.size); err != nil {
			return err
		}
	}
	text, err := c.readSummary(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	j, err := c.Jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	count, err := counter(c.Tools)
	if err != nil {
		return err
	}
	if n := count(text); c.size > 0 && n > c.size {
		return &precis.Error{Code: precis.CodeOverBudget, Op: "check summary", Place: c.summary,
			Err:  fmt.Errorf("it has %s, more than --tokens %d", term.Count(n, "token"), c.size),
			Hint: "a summary is never cut; allow for it and for what it may lack"}
	}
	r := digest.Repair(policy.SummaryRequest{
		Conversation: j.Conversation,
		Messages:     retain.WithoutRewound(j.Conversation.Transcript, j.Conversation.Edits), Previous: text,
		MaxTokens: c.size,
	}, digest.RepairOptions{Count: count})
	if c.AsJSON {
		return c.JSON(r)
	}
	c.Text.Printf("%s\n", r.Text)
	c.Report.Gate(r)
	return nil
}

// readSummary reads a summary from a file, or from standard input unless the recording comes from
// there.
func (c *gate) readSummary(ctx context.Context, recording string) (string, error) {
	fail := func(code precis.Code, hint string, err error) (string, error) {
		return "", &precis.Error{Code: code, Op: "read summary", Place: c.summary, Err: err, Hint: hint}
	}
	var data []byte
	var err error
	if console.IsInput(c.summary) {
		if console.IsInput(recording) {
			return fail(precis.CodeInvalid, "name a file for one of them",
				errors.New("standard input cannot hold the recording, too"))
		}
		data, err = c.ReadInput(ctx)
	} else if data, err = archive.ReadFile(c.summary); err != nil {
		err = errors.Unwrap(err)
		if !errors.Is(err, fs.ErrNotExist) {
			return fail(precis.CodeInvalid, "--summary names a text file", err)
		}
		return fail(precis.CodeNotFound, "precis digest writes a summary without a model", err)
	}
	switch text := strings.TrimSpace(string(data)); {
	case err != nil:
		return "", err
	case text == "":
		return fail(precis.CodeInvalid, "precis digest writes a summary without a model",
			errors.New("the summary is empty"))
	case !utf8.Valid(data):
		return fail(precis.CodeInvalid, "--summary names a text file", errors.New("this is no UTF-8 text"))
	default:
		return text, nil
	}
}
