package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"precis"
	"precis/condense"
)

func (a *app) gateCmd() *cobra.Command {
	var path string
	var size int
	cmd := &cobra.Command{
		Use:   "gate --summary SUMMARY FILE",
		Short: "Check a summary of a conversation and add what it lacks",
		Long: `Check a summary that anyone wrote of the conversation in FILE, and print it with
what it lacks: the user's rules, the last request, files that were written, and
the facts most likely to be needed again. What was added and what did not fit
goes to standard error, or into the JSON.

A token is counted as four characters unless --estimate says otherwise.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.gate(cmd.Context(), args[0], path, size)
		},
	}
	cmd.Flags().StringVar(&path, "summary", "", "the summary, a text `FILE`")
	cmd.Flags().IntVar(&size, "tokens", 0, "size of the result at most, in `TOKENS` (default 1500 more than the summary)")
	if err := cmd.MarkFlagRequired("summary"); err != nil {
		panic(err) // the flag is defined above
	}
	return cmd
}

func (a *app) gate(ctx context.Context, path, summary string, size int) error {
	if size < 0 {
		return precis.Errorf(precis.CodeInvalid, "read flags", "--tokens is %d, want 1 or more", size)
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		return &precis.Error{Code: precis.CodeNotFound, Op: "read summary", Place: summary, Err: err}
	}
	j, err := a.open(ctx, path)
	if err != nil {
		return err
	}
	count, err := a.counter()
	if err != nil {
		return err
	}
	r := condense.Repair(precis.SummaryRequest{
		Conversation: j.conv, Messages: j.conv.Transcript.Messages(), Previous: string(text), MaxTokens: size,
	}, count)
	if a.opts.json {
		return a.printJSON(r)
	}
	fmt.Fprintln(a.out, r.Text)
	a.reportGate(r)
	return nil
}

// reportGate says on standard error what the gate did.
func (a *app) reportGate(r condense.Repaired) {
	if a.opts.quiet {
		return
	}
	for _, line := range r.Added {
		fmt.Fprintln(a.errs, "precis:", line)
	}
	k := r.Kept
	fmt.Fprintf(a.errs, "precis: %d of %d facts likely to be needed are named, %d of them added; %d of %d rules\n",
		k.Kept, k.Anchors, k.Repaired, k.Rules-len(r.Rules), k.Rules)
	for i, l := range append(r.Rules, r.Lost...) {
		if i == 10 {
			fmt.Fprintf(a.errs, "precis: … and %d more\n", len(r.Rules)+len(r.Lost)-i)
			break
		}
		fmt.Fprintf(a.errs, "precis: did not fit: %s %s (%s)\n", l.Kind, l.Text, l.Handle)
	}
}
