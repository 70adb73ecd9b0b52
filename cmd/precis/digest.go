package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
	"precis/condense"
	"precis/retain"
	"precis/tokens"
)

func (a *app) digestCmd() *cobra.Command {
	var size int
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Print a summary of a conversation, written without a model",
		Long: `Print the digest of a conversation: the user's requests, rules, files, commands,
errors, open work, and the lines most likely to be needed again, each with the
handle by which precis show prints the original. No model is called.

A token is counted as four characters unless --estimate says otherwise.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.digest(cmd.Context(), args[0], size)
		},
	}
	cmd.Flags().IntVar(&size, "tokens", condense.DefaultTokens, "size of the digest at most, in `TOKENS`")
	return cmd
}

// summary is a summary as JSON.
type summary struct {
	Summary string `json:"summary"`
}

func (a *app) digest(ctx context.Context, path string, size int) error {
	if err := checkSize(size); err != nil {
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
	s, err := condense.Digest{Count: count}.Summarize(ctx, precis.SummaryRequest{
		Conversation: j.conv, Messages: retain.Alive(j.conv.Transcript, j.conv.Edits), MaxTokens: size,
	})
	if err != nil {
		return err
	}
	if s.Text == "" {
		return &precis.Error{Code: precis.CodeOverBudget, Op: "write digest", Err: fmt.Errorf("nothing fits in %s", term.Count(size, "token")), Hint: "allow a few hundred with --tokens"}
	}
	if a.opts.json {
		return a.printJSON(summary{s.Text})
	}
	fmt.Fprintln(a.out, s.Text)
	return nil
}

// counter counts a summary's tokens as --estimate says; without, four
// characters are one.
func (a *app) counter() (func(string) int, error) {
	if a.opts.est == "" {
		return func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }, nil
	}
	c, err := tokens.New(tokens.Options{Name: a.opts.est})
	if err != nil {
		return nil, err
	}
	m := precis.NewMeter(c)
	return func(s string) int { return m.Block(precis.RoleUser, precis.Text{Text: s}) }, nil
}
