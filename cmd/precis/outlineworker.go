package main

import (
	"github.com/spf13/cobra"

	"precis"
	"precis/cmd/internal/jobs"
	"precis/internal/outlineworker"
	"precis/internal/treesitter"
)

// parse is the process that parses source files for another one.
type parse struct{ *tools }

func newOutlineWorker(t *tools) *cobra.Command {
	c := &parse{t}
	return &cobra.Command{
		Use:    jobs.OutlineWorker,
		Short:  "Parse source files, for the process that started this one",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE:   c.run,
	}
}

func (c *parse) run(*cobra.Command, []string) error {
	if err := outlineworker.Limit(); err != nil {
		return precis.Errorf(precis.CodeInternal, "limit the process", "%w", err)
	}
	if err := outlineworker.Serve(c.In, c.Out, treesitter.Parser{}); err != nil {
		return precis.Errorf(precis.CodeInternal, "parse for another process", "%w", err)
	}
	return nil
}
