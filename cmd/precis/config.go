package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) configCmd() *cobra.Command {
	var recipes bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration and where each value came from",
		Long: `Print the effective configuration and where each value came from: a preset, a
YAML file over it (precis.yaml here, or the user's), environment variables over
that (PRECIS_THRESHOLD, PRECIS_KEEP_MESSAGES, …), flags on top.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if recipes {
				a.term.Printf("%s", configRecipes)
				return nil
			}
			c, err := a.opts.load()
			if err != nil {
				return err
			}
			for _, w := range c.Warnings {
				a.warn("%s", w)
			}
			if a.opts.json {
				return a.printJSON(c.Rows())
			}
			var rows [][]string
			for _, r := range c.Rows() {
				rows = append(rows, []string{r.Key, r.Value, r.Origin, r.Help})
			}
			file := c.File
			if file == "" {
				file = "none"
			}
			a.term.Title("%s", fmt.Sprintf("configuration file: %s", file))
			a.term.Table([]string{"key", "value", "from", "meaning"}, nil, rows)
			return nil
		},
	}
	cmd.Flags().BoolVar(&recipes, "recipes", false, "print example configurations")
	return cmd
}

// configRecipes are configurations to start from.
const configRecipes = `# precis.yaml: recipes. Every key is optional; precis config explains them.

# A large model that gets worse when full: act early. A small one: act late.
preset: balanced
threshold: 75
profiles:
  claude-opus-4-6: 50        # by model, or by any name given with --profile
  gpt-4o-mini: 90
  gemini-2.5-pro: -1         # -1 inherits the global threshold

# Keep more of what is recent.
keep:
  messages: 10
  share: 0.25

# Never call a model; come down further, so that it happens less often.
# preset: frugal
# target: 35

# Only observe: report what would be done.
# preset: off

# What Roo Code does.
# preset: roo
# estimate: roo
`
