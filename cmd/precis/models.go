package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"precis/models"
)

// listModels lists what is known of models.
type listModels struct{ *tools }

func newModels(t *tools) *cobra.Command {
	c := &listModels{t}
	return &cobra.Command{
		Use:   "models [TEXT]",
		Short: "List models with their windows, limits and prices, and where each number is from",
		Example: `  precis models
  precis models sonnet`,
		Args: takes("[TEXT]"),
		RunE: c.run,
	}
}

func (c *listModels) run(_ *cobra.Command, args []string) error {
	cfg, err := c.jobs.Config()
	if err != nil {
		return err
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		return err
	}
	list := catalog.List()
	if len(args) == 1 {
		list = catalog.Search(args[0])
	}
	if c.AsJSON {
		return c.JSON(list)
	}
	c.print(list)
	return nil
}

func (c *listModels) print(list []models.Model) {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{
			m.Provider, m.ID, c.Words.Number(m.Window.Tokens), c.Words.Text(string(m.Window.Source)), c.Words.Number(m.MaxOutput.Tokens), prices(m.Prices),
		})
	}
	c.Text.Title("%s", c.Words.Text("%s; prices in dollars for a million tokens: input, output, cache read, cache write", c.Words.Count(len(list), "model")))
	if len(rows) > 0 {
		c.Text.Table(c.Words.Heads("provider", "model", "window", "from", "output", "prices"), []int{2, 4}, rows)
	}
}

func prices(p models.Prices) string {
	if !p.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%g, %g, %g, %g (%s)", p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Sources.Input)
}
