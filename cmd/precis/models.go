package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precis-dev/precis/cmd/internal/command"
	"github.com/precis-dev/precis/cmd/internal/config"
	"github.com/precis-dev/precis/models"
)

// listModels lists the known models and updates the list.
type listModels struct {
	*command.Tools
	update string
	undo   bool
}

func newModels(t *command.Tools) *cobra.Command {
	c := &listModels{Tools: t}
	cmd := &cobra.Command{
		Use:   "models [TEXT]",
		Short: "List models with their windows, limits and prices, and where each number is from",
		Long: `List models with their windows, limits and prices, and where each number is
from.

With --update the models of a newer catalog replace or join those that are built
in: the JSON of https://models.dev/api.json or of charm.land/catwalk. It is
checked first, and kept in your configuration folder. --undo takes the last
update back.`,
		Example: `  precis models
  precis models sonnet
  precis models --update https://models.dev/api.json`,
		Args: command.Takes("[TEXT]"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.update, "update", "", "replace your catalog of models by that of a `FILE|URL`")
	cmd.Flags().BoolVar(&c.undo, "undo", false, "take the last update of your catalog back")
	cmd.MarkFlagsMutuallyExclusive("update", "undo")
	return cmd
}

func (c *listModels) run(cmd *cobra.Command, args []string) error {
	switch {
	case c.undo:
		return config.UndoCatalog()
	case c.update != "":
		n, path, err := config.UpdateCatalog(cmd.Context(), c.update)
		if err != nil {
			return err
		}
		const done = "%s in %s; precis models --undo takes the update back"
		c.Notes.Printf("%s\n", c.Words.Text(done, c.Words.Count(n, "model"), path))
		return nil
	}
	cfg, err := c.Jobs.Config()
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
			m.Provider, m.ID, c.Words.Number(m.Window.Tokens), c.Words.Text(string(m.Window.Source)),
			c.Words.Number(m.MaxOutput.Tokens), prices(m.Prices),
		})
	}
	c.Text.Title("%s", c.Words.Text("%s; prices in dollars for a million tokens: input, output, cache read, cache write", c.Words.Count(len(list), "model")))
	if len(rows) > 0 {
		c.Text.Table(c.Words.Heads("provider", "model", "window", "from", "output", "prices"), []int{2, 4},
			rows)
	}
}

func prices(p models.Prices) string {
	if !p.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%g, %g, %g, %g (%s)", p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Sources.Input)
}
