package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"precis/cmd/internal/term"
	"precis/models"
)

func (a *app) modelsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "models [TEXT]",
		Short: "List models with their windows, limits and prices, and where each number is from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.opts.load()
			if err != nil {
				return err
			}
			c, err := loadCatalogue(cfg.ModelsFile)
			if err != nil {
				return err
			}
			list := c.List()
			if len(args) == 1 {
				list = c.Search(args[0])
			}
			if a.opts.json {
				return a.printJSON(list)
			}
			a.printModels(list)
			return nil
		},
	}
}

func (a *app) printModels(list []models.Model) {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{
			m.Provider, m.ID, term.Number(m.Window.Tokens), string(m.Window.Source), term.Number(m.MaxOutput.Tokens), prices(m.Prices),
		})
	}
	a.term.Title("%d models; prices in dollars for a million tokens: input, output, cache read, cache write", len(list))
	if len(rows) > 0 {
		a.term.Table([]string{"provider", "model", "window", "from", "output", "prices"}, []int{2, 4}, rows)
	}
}

func prices(p models.Prices) string {
	if !p.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%g, %g, %g, %g (%s)", p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Sources.Input)
}
