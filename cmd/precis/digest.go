package main

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/term"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/digest"
	"github.com/precis-dev/precis/measure"
	"github.com/precis-dev/precis/tokens"
)

// writeDigest prints a summary written without a model.
type writeDigest struct {
	*command.Tools
	size  int
	focus string
}

func newDigest(t *command.Tools) *cobra.Command {
	c := &writeDigest{Tools: t}
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Print a summary of a conversation, written without a model",
		Long: `Print the digest of a conversation: the user's requests, refusals and rules,
files and what became of them, the newest result of each command, open work, and
the lines most likely to be needed again, each with the handle by which precis
show prints the original. No model is called. --json has the state of the work,
too: requests, files, commands and what is still waited for, for programs.

A token is counted as four characters unless --estimate says otherwise.`,
		Example: `  precis digest run.jsonl
  precis digest --tokens 1000 @last`,
		Args: command.Takes("FILE"),
		RunE: c.run,
	}
	cmd.Flags().IntVar(&c.size, "tokens", digest.DefaultTokens, "size of the digest at most, in `TOKENS`")
	cmd.Flags().StringVar(&c.focus, "focus", "", "`WORDS` that a third of it may be about")
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
	const least = 100 // tokens; a smaller digest is a heading and a word
	if err := checkSize(c.size); err != nil {
		return err
	}
	if c.size < least {
		return &precis.Error{Code: precis.CodeInvalid, Op: "read flags",
			Err:  fmt.Errorf("--tokens is %d, want %d or more", c.size, least),
			Hint: "a smaller digest would say nothing; the default is " + term.Number(digest.DefaultTokens)}
	}
	j, err := c.Jobs.Open(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	count, err := counter(c.Tools)
	if err != nil {
		return err
	}
	d, err := conversation.Digest(cmd.Context(), j.Home, j.Home.ID(),
		conversation.DigestOptions{Tokens: c.size, Focus: c.focus, Count: count})
	if precis.CodeOf(err) == precis.CodeOverBudget {
		return &precis.Error{Code: precis.CodeOverBudget, Op: "write digest",
			Err:  fmt.Errorf("nothing fits in %s", term.Count(c.size, "token")),
			Hint: "allow a few hundred with --tokens"}
	}
	if err != nil {
		return err
	}
	if c.AsJSON {
		return c.JSON(digestJSON{summary{d.Text}, d.State})
	}
	c.Text.Printf("%s\n", d.Text)
	return nil
}

// counter returns the token counter that --estimate selects; by default four characters are one
// token.
func counter(t *command.Tools) (func(string) int, error) {
	if t.Jobs.Estimate() == "" {
		return func(s string) int { return (utf8.RuneCountInString(s) + 3) / 4 }, nil
	}
	counter, err := tokens.New(tokens.Options{Name: t.Jobs.Estimate()})
	if err != nil {
		return nil, err
	}
	m := measure.New(counter)
	return func(s string) int { return m.Block(precis.RoleUser, precis.Text{Text: s}) }, nil
}
