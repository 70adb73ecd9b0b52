package main

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/term"
	"precis/digest"
	"precis/retain"
	"precis/tokens"
)

// writeDigest prints a summary that no model wrote.
type writeDigest struct {
	*tools
	size int
}

func newDigest(t *tools) *cobra.Command {
	c := &writeDigest{tools: t}
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Print a summary of a conversation, written without a model",
		Long: `Print the digest of a conversation: the user's requests, refusals and rules, files
and what became of them, the newest result of each command, open work, and the
lines most likely to be needed again, each with the handle by which precis show
prints the original. No model is called. --json has the state of the work, too:
requests, files, commands and what is still waited for, for programs.

A token is counted as four characters unless --estimate says otherwise.`,
		Args: cobra.ExactArgs(1),
		RunE: c.run,
	}
	cmd.Flags().IntVar(&c.size, "tokens", digest.DefaultTokens, "size of the digest at most, in `TOKENS`")
	return cmd
}

// summary is a summary as JSON.
type summary struct {
	Summary string `json:"summary"`
}

// digestJSON is a digest as JSON, and the state it was written from.
type digestJSON struct {
	summary
	State digest.State `json:"state"`
}

func (c *writeDigest) run(cmd *cobra.Command, args []string) error {
	if err := checkSize(c.size); err != nil {
		return err
	}
	j, err := c.jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	count, err := c.counter()
	if err != nil {
		return err
	}
	s, err := digest.Writer{Count: count}.Summarize(cmd.Context(), precis.SummaryRequest{
		Conversation: j.Conversation, Messages: retain.Alive(j.Conversation.Transcript, j.Conversation.Edits), MaxTokens: c.size,
	})
	if err != nil {
		return err
	}
	if s.Text == "" {
		return &precis.Error{Code: precis.CodeOverBudget, Op: "write digest", Err: fmt.Errorf("nothing fits in %s", term.Count(c.size, "token")), Hint: "allow a few hundred with --tokens"}
	}
	if c.AsJSON {
		return c.JSON(digestJSON{summary{s.Text}, digest.StateOf(j.Conversation)})
	}
	c.Text.Printf("%s\n", s.Text)
	return nil
}

// counter counts a summary's tokens as --estimate says; without, four
// characters are one.
func (t *tools) counter() (func(string) int, error) {
	if t.jobs.Estimate() == "" {
		return func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }, nil
	}
	counter, err := tokens.New(tokens.Options{Name: t.jobs.Estimate()})
	if err != nil {
		return nil, err
	}
	m := precis.NewMeter(counter)
	return func(s string) int { return m.Block(precis.RoleUser, precis.Text{Text: s}) }, nil
}
