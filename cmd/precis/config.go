package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/internal/suggest"
)

// printConfig prints the effective configuration.
type printConfig struct {
	*command.Tools
	recipes, secrets bool
}

func newConfig(t *command.Tools) *cobra.Command {
	c := &printConfig{Tools: t}
	cmd := &cobra.Command{
		Use:   "config [TEXT]",
		Short: "Print the effective configuration and where each value came from",
		Long: `Print the effective configuration and where each value came from: a preset, the
user's YAML file over it, precis.yaml of the current folder over that, then
environment variables (PRECIS_THRESHOLD, PRECIS_KEEP_MESSAGES, …), flags on top.
A file that is named, by --config or PRECIS_CONFIG, is read in the place of
both.

A file of the current folder may come from anybody. It may set how early and how
far conversations are reduced. Hooks, addresses, keys, files, models and limits
are refused there.

With TEXT the keys that contain it are printed.

Passwords, webhooks and the arguments of hooks are not shown without
--show-secrets.`,
		Example: `  precis config
  precis config gateway
  precis config --set threshold=60
  precis config set threshold 60
  precis config --recipes`,
		Args: command.Takes("[TEXT]"),
		RunE: c.run,
	}
	cmd.Flags().BoolVar(&c.recipes, "recipes", false, "print example configurations")
	cmd.Flags().BoolVar(&c.secrets, "show-secrets", false,
		"print passwords, webhooks and the arguments of hooks")
	cmd.AddCommand(newConfigSet(t), newConfigUnset(t))
	return cmd
}

func (c *printConfig) run(_ *cobra.Command, args []string) error {
	if c.recipes {
		c.Text.Printf("%s", configRecipes)
		return nil
	}
	cfg, err := c.Jobs.Config()
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings {
		c.Warn("%s", w)
	}
	rows := cfg.Rows()
	if len(args) > 0 {
		rows = slices.DeleteFunc(rows, func(r config.Row) bool { return !strings.Contains(r.Key, args[0]) })
	}
	if len(rows) == 0 {
		return &precis.Error{Code: precis.CodeNotFound, Op: "list keys", Place: args[0],
			Err:  errors.New("no key contains this"),
			Hint: cmp.Or(suggest.DidYouMean(args[0], config.Keys()), "precis config lists the keys")}
	}
	if !c.secrets {
		for i, r := range rows {
			rows[i] = r.Masked()
		}
	}
	if c.AsJSON {
		return c.JSON(rows)
	}
	c.table(cfg, rows)
	return nil
}

const ofFolder = " (this folder)"

func (c *printConfig) table(cfg *config.Config, all []config.Row) {
	switch {
	case cfg.Folder == "":
		c.Text.Title("%s", c.Words.Text("configuration file: %s", cmp.Or(cfg.File, c.Words.Text("none"))))
	case cfg.File == "":
		c.Text.Title("%s", c.Words.Text("configuration file: %s", cfg.Folder+c.Words.Text(ofFolder)))
	default:
		c.Text.Title("%s", c.Words.Text("configuration files: %s, %s", cfg.File,
			cfg.Folder+c.Words.Text(ofFolder)))
	}
	const roomy = 140 // least columns to show the meanings
	var rows [][]string
	for _, r := range all {
		from := c.Words.Sentence(r.Origin)
		if r.Folder {
			from += c.Words.Text(ofFolder)
		}
		rows = append(rows, []string{r.Key, r.Brief().Value, from, c.Words.Sentence(r.Help)})
	}
	if !c.Text.Terminal() || c.Text.Width() >= roomy {
		c.Text.Table(c.Words.Heads("key", "value", "from", "meaning"), nil, rows)
		return
	}
	for _, r := range rows {
		c.Text.Paragraph("", fmt.Sprintf("%s: %s (%s)", r[0], cmp.Or(r[1], "–"), r[2]))
		c.Text.Paragraph("dim", "  "+r[3])
	}
}

// configRecipes are example configurations.
const configRecipes = `# Recipes, for your own file or a project's precis.yaml. Every key is optional; precis config explains them.

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

# Never call a model; come down further, so that it happens less often.
# preset: frugal
# target: 35

# Only observe: report what would be done.
# preset: off

# Compare settings on the conversations of a gateway (docs/experiments.md).
# experiments:
#   early:
#     arms:
#       control: {}            # as this file says
#       sixty: {threshold: 60}
#       alone: off             # precis only watches

# What Roo Code does.
# preset: roo
# estimate: roo
`
