package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
	"precis/condense"
	"precis/retain"
)

func (a *app) gateCmd() *cobra.Command {
	var path string
	var size int
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
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("tokens") {
				if err := checkSize(size); err != nil {
					return err
				}
			}
			return a.gate(cmd.Context(), args[0], path, size)
		},
	}
	cmd.Flags().StringVar(&path, "summary", "", "the summary, a text `FILE`; - is standard input")
	cmd.Flags().IntVar(&size, "tokens", 0, "size of the result at most, in `TOKENS` (default 1500 more than the summary)")
	if err := cmd.MarkFlagRequired("summary"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func checkSize(tokens int) error {
	if tokens <= 0 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--tokens is %d, want 1 or more", tokens)
	}
	return nil
}

func (a *app) gate(ctx context.Context, path, summary string, size int) error {
	text, err := a.readSummary(ctx, summary, path)
	if err != nil {
		return err
	}
	j, err := a.open(ctx, path)
	if err != nil {
		return err
	}
	count, err := a.counter()
	if err != nil {
		return err
	}
	if n := count(text); size > 0 && n > size {
		return &precis.Error{Code: precis.CodeOverBudget, Op: "check summary", Place: summary,
			Err: fmt.Errorf("it has %s, more than --tokens %d", term.Count(n, "token"), size), Hint: "a summary is never cut; allow for it and for what it may lack"}
	}
	r := condense.Repair(precis.SummaryRequest{
		Conversation: j.conv, Messages: retain.Alive(j.conv.Transcript, j.conv.Edits), Previous: text, MaxTokens: size,
	}, count)
	if a.opts.json {
		return a.printJSON(r)
	}
	fmt.Fprintln(a.out, r.Text)
	a.reportGate(r)
	return nil
}

// readSummary reads a summary: words in a file, or on standard input when the
// recording does not come from there.
func (a *app) readSummary(ctx context.Context, path, recording string) (string, error) {
	fail := func(code precis.Code, hint string, err error) (string, error) {
		return "", &precis.Error{Code: code, Op: "read summary", Place: path, Err: err, Hint: hint}
	}
	var data []byte
	var err error
	if path == "-" {
		if recording == "-" {
			return fail(precis.CodeInvalid, "name a file for one of them", errors.New("standard input cannot hold the recording, too"))
		}
		data, err = a.readInput(ctx)
	} else if data, err = os.ReadFile(path); err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fail(precis.CodeInvalid, "--summary names a text file", err)
		}
		return fail(precis.CodeNotFound, "precis digest writes a summary without a model", err)
	}
	switch text := strings.TrimSpace(string(data)); {
	case err != nil:
		return "", err
	case text == "":
		return fail(precis.CodeInvalid, "precis digest writes a summary without a model", errors.New("the summary is empty"))
	case !utf8.Valid(data):
		return fail(precis.CodeInvalid, "--summary names a text file", errors.New("this is no UTF-8 text"))
	default:
		return text, nil
	}
}

// reportGate says on standard error what the gate did.
func (a *app) reportGate(r condense.Repaired) {
	if a.opts.quiet {
		return
	}
	w := term.New(a.errs, os.Getenv)
	say := func(format string, args ...any) { w.Printf("precis: %s\n", fmt.Sprintf(format, args...)) }
	for _, line := range r.Added {
		say("%s", line)
	}
	k := r.Kept
	say("names %s of %s likely to be needed again, %s of them added; %s of %s of the user word for word",
		term.Number(k.Kept), term.Count(k.Anchors, "fact"), term.Number(k.Repaired), term.Number(k.Rules-len(r.Rules)), term.Count(k.Rules, "rule"))
	lost := slices.Concat(r.Rules, r.Lost)
	for _, l := range lost[:min(len(lost), mostLost)] {
		say("did not fit: %-8s %s %s", l.Handle, l.Kind, oneLine(term.Plain(l.Text), w.Width()-40))
	}
	if n := len(r.Rules) + k.Anchors - k.Kept - mostLost; n > 0 {
		say("… and %s more", term.Number(n))
	}
}
