package agents

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/host/hook"
)

// stats summarizes the work of precis.
type stats struct{ *command.Tools }

// NewStats makes the command stats.
func NewStats(t *command.Tools) *cobra.Command {
	c := &stats{t}
	return &cobra.Command{
		Use:   "stats hosts",
		Short: "Say what precis did in agent programs: what their compactions lost and got back",
		Long: `Say what hooks and plugins did in agent programs: how many compactions there
were, how many of the facts likely to be needed again the programs' own
summaries held, what was given back, what that costs in tokens, and how long the
hooks took.

The journal behind it holds numbers only, and no word of a conversation. What
sessions cost is in precis sessions stats.`,
		Example: `  precis stats hosts
  precis stats hosts --json`,
		Args: command.Takes("hosts"),
		RunE: c.run,
	}
}

func (c *stats) run(_ *cobra.Command, args []string) error {
	if args[0] != "hosts" {
		return &precis.Error{Code: precis.CodeInvalid, Op: "read arguments", Place: args[0],
			Err: errors.New("there are no statistics of that"), Hint: "precis stats hosts"}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return precis.Errorf(precis.CodeInternal, "find home folder", "%w", err)
	}
	sums := hook.Sums(hook.Journal(stateFolder(home)))
	if c.AsJSON {
		return c.JSON(sums)
	}
	if len(sums) == 0 {
		c.Line("No hook of precis was called yet: precis install puts them into agents, and they act in sessions that begin afterwards.")
		return nil
	}
	for _, s := range sums {
		c.Text.Title("%s", s.Host)
		c.Text.Printf("  %s", c.Words.Count(s.Compactions, "compaction"))
		if s.Replaced > 0 {
			c.Text.Printf("%s", c.Words.Text(", %d with a summary of precis", s.Replaced))
		}
		c.Text.Printf("\n")
		if s.Facts > 0 {
			c.Text.Printf("  %s\n", c.Words.Text("its own summaries held %s of %s likely to be needed again (%s); %s given back",
				c.Words.Number(s.Held), c.Words.Count(s.Facts, "fact"), percent(s.Held, s.Facts),
				c.Words.Number(s.Back)))
		}
		c.Text.Printf("  %s\n", c.Words.Text("%s more to read, %s in %s, the slowest %s",
			c.Words.Count(s.Tokens, "token"), milliseconds(s.Took/time.Duration(s.Calls)),
			c.Words.Count(s.Calls, "call"), milliseconds(s.Slowest)))
		if s.Failed > 0 {
			c.Text.Printf("  %s\n", c.Words.Text("%s; the last: %s",
				c.Text.Style("warn", c.Words.Text("%d failed", s.Failed)), s.LastWhy))
		}
	}
	return nil
}

func percent(part, all int) string { return fmt.Sprintf("%d %%", 100*part/max(all, 1)) }

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
